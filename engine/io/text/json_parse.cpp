// JSON's parser.
#include <charconv>
#include <functional>
#include <set>

#include "engine/base/check.h"
#include "engine/base/number_text.h"
#include "engine/io/text/json.h"
#include "engine/io/text/utf8.h"

namespace mote {
namespace {

constexpr std::size_t longest_number = 1024;  // characters; integers of 64 bits are never longer than 20
constexpr std::size_t most_bytes = 100'000'000;

class JsonParser {
 public:
  JsonParser(std::string_view text, std::string_view what, std::size_t most_values)
      : text_(text), what_(what), most_values_(most_values) {}

  Json document() {
    begin();
    Json found = value(0);
    end();
    return found;
  }

  void document_members(const std::function<void(const std::string&, const Json&)>& see) {
    begin();
    if (!take('{')) fail("an object must stand here, not " + here());
    each_member(1, [&](std::size_t, const std::string& name, const Json& held) {
      see(name, held);
      values_ = 0;
    });
    end();
  }

 private:
  void begin() {
    if (text_.size() > most_bytes)
      throw Error(std::string(what_) + ": " + std::to_string(text_.size()) + " bytes are above the limit of " +
                  std::to_string(most_bytes));
    if (text_.starts_with("\xef\xbb\xbf")) fail("a byte order mark is not JSON");
    skip_space();
  }
  void end() {
    skip_space();
    if (at_ < text_.size())
      fail("unexpected " + here() + ": the document has ended here, and only white space may follow");
  }

  Json value(std::size_t depth) {
    skip_space();
    if (values_++ == most_values_) fail("there are more than " + std::to_string(most_values_) + " values");
    const char c = peek();
    if (c == '"') return string();
    if (c == '-' || is_digit(c)) return number();
    if (literal("true")) return true;
    if (literal("false")) return false;
    if (literal("null")) return nullptr;
    if (c != '[' && c != '{') fail("a value must stand here, not " + here());
    if (depth == Json::most_depth) fail("arrays and objects are nested deeper than " + std::to_string(depth));
    ++at_;
    return c == '[' ? array(depth + 1) : object(depth + 1);
  }

  Json array(std::size_t depth) {
    std::vector<Json> items;
    skip_space();
    if (take(']')) return Json::array();
    do {
      items.push_back(value(depth));
      skip_space();
    } while (take(','));
    if (!take(']')) fail("after an item of an array ',' or ']' must follow, not " + here());
    return Json::array(std::move(items));
  }

  Json object(std::size_t depth) {
    std::vector<JsonMember> members;
    std::set<std::string> names;
    each_member(depth, [&](std::size_t start, std::string& name, Json& held) {
      if (!names.insert(name).second)
        fail("the name '" + detail::shortened(name) + "' occurs twice in an object", start);
      members.push_back({std::move(name), std::move(held)});
    });
    return Json::object(std::move(members));
  }

  /// Calls see(start, name, value) for every member of an object whose opening brace has been read. `start` is the
  /// byte at which the member begins.
  template <class See>
  void each_member(std::size_t depth, const See& see) {
    skip_space();
    if (take('}')) return;
    do {
      skip_space();
      const std::size_t start = at_;
      if (peek() != '"') fail("a name in double quotes must stand here, not " + here());
      std::string name = string();
      if (name.find('\0') != std::string::npos) fail("a name must not hold U+0000", start);
      skip_space();
      if (!take(':')) fail("after a name ':' must follow, not " + here());
      Json held = value(depth);
      see(start, name, held);
      skip_space();
    } while (take(','));
    if (!take('}')) fail("after a member of an object ',' or '}' must follow, not " + here());
  }

  Json number() {
    const std::size_t start = at_;
    take('-');
    if (take('0')) {
      if (is_digit(peek())) fail("a number must not start with a needless 0", start);
    } else {
      digits("the sign");
    }
    bool whole = true;
    if (take('.')) {
      whole = false;
      digits("the point");
    }
    const std::string_view mantissa = text_.substr(start, at_ - start);
    if (take('e') || take('E')) {
      whole = false;
      if (!take('+')) take('-');
      digits("the exponent's letter or sign");
    }
    const std::string_view digits = text_.substr(start, at_ - start);
    if (digits == "-0") return -0.0;
    return whole ? integer(digits, start) : fraction(digits, mantissa, start);
  }

  Json integer(std::string_view digits, std::size_t start) const {
    Index value = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc())
      fail("an integer must be at least -2^63 and below 2^63", start);
    return value;
  }

  Json fraction(std::string_view digits, std::string_view mantissa, std::size_t start) const {
    if (digits.size() > longest_number)
      fail("a number must have at most " + std::to_string(longest_number) + " characters", start);
    const std::optional<double> x = number_from_text(digits);
    if (!x || (*x == 0 && mantissa.find_first_of("123456789") != std::string_view::npos))
      fail("the number is beyond the range of a double", start);
    return *x;
  }

  // Tokens, and the place of an error.

  [[noreturn]] void fail(const std::string& rule) const { fail(rule, at_); }
  [[noreturn]] void fail(const std::string& rule, std::size_t at) const {
    std::size_t line = 1, column = 1;
    for (std::size_t i = 0; i < at; ++i)
      if (text_[i] == '\n') {
        ++line;
        column = 1;
      } else if ((static_cast<unsigned char>(text_[i]) & 0xc0u) != 0x80u) {
        ++column;
      }
    throw Error(std::string(what_) + ": line " + std::to_string(line) + ", column " + std::to_string(column) +
                " (byte " + std::to_string(at) + "): " + rule);
  }

  /// The character at the current byte, to be quoted in an error.
  std::string here() const {
    if (at_ == text_.size()) return "the end of the text";
    const auto byte = static_cast<unsigned char>(text_[at_]);
    if (byte > 0x20 && byte < 0x7f) return {'\'', text_[at_], '\''};
    const auto [length, code] = detail::character_at(text_, at_);
    if (code >= 0xa0) return std::string(1, '\'').append(text_.substr(at_, length)) + '\'';
    return "byte 0x" + detail::hex_text(byte, 2);
  }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
      ++at_;
  }

  bool literal(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::string string() {
    const std::size_t start = at_++;
    std::string read;
    for (;;) {
      const std::size_t run = at_;
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\') {
        const auto byte = static_cast<unsigned char>(text_[at_]);
        if (byte < 0x20) fail("a control character in a string must be escaped, unlike " + here());
        const auto [length, whole] = byte < 0x80 ? detail::Utf8Beginning{1, true} : detail::utf8_beginning(text_, at_);
        if (!whole) fail("the text is not UTF-8");
        at_ += length;
      }
      read.append(text_.substr(run, at_ - run));
      if (at_ == text_.size()) fail("this string has no end", start);
      if (take('"')) return read;
      escape(read);
    }
  }

  /// Appends the character that the escape at the current byte stands for.
  void escape(std::string& to) {
    static constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    const std::size_t start = at_++;
    const std::size_t which = at_ < text_.size() ? letters.find(text_[at_]) : std::string_view::npos;
    if (which != std::string_view::npos) {
      ++at_;
      to += meanings[which];
      return;
    }
    unsigned code = code_unit(start);
    if (code >= 0xdc00 && code <= 0xdfff) fail("the second half of a surrogate pair has no first", start);
    if (code >= 0xd800 && code <= 0xdbff) {
      const unsigned low = text_.substr(at_, 2) == "\\u" ? (++at_, code_unit(at_ - 1)) : 0;
      if (low < 0xdc00 || low > 0xdfff) fail("the first half of a surrogate pair has no second", start);
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    to += detail::utf8_text(code);
  }

  /// Reads 'u' and the four hexadecimal digits of an escape, and returns their 16 bits. The escape's backslash is at
  /// byte `start`.
  unsigned code_unit(std::size_t start) {
    if (!take('u')) fail("a backslash must be followed by one of \"\\/bfnrtu, not " + here(), start);
    unsigned code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = peek();
      const bool lower = c >= 'a' && c <= 'f', upper = c >= 'A' && c <= 'F';
      if (!is_digit(c) && !lower && !upper) fail("\\u must be followed by four hexadecimal digits", start);
      code = code * 16 + static_cast<unsigned>(lower ? c - 'a' + 10 : upper ? c - 'A' + 10 : c - '0');
    }
    return code;
  }

  void digits(const char* after) {
    if (!is_digit(peek())) fail(std::string("a digit must follow ") + after + ", not " + here());
    while (is_digit(peek())) ++at_;
  }

  std::string_view text_, what_;
  std::size_t most_values_;
  std::size_t at_ = 0;  // the position of the next byte to read
  std::size_t values_ = 0;
};

}  // namespace

Json parse_json(std::string_view text, std::string_view what) { return JsonParser(text, what, 20'000'000).document(); }

void parse_json_members(std::string_view text, std::string_view what, std::size_t most_values,
                        const std::function<void(const std::string&, const Json&)>& see) {
  JsonParser(text, what, most_values).document_members(see);
}

}  // namespace mote
