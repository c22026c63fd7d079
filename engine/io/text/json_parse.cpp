// JSON's parser: values of tokens.
#include <charconv>
#include <functional>

#include "engine/base/check.h"
#include "engine/base/number_text.h"
#include "engine/io/text/json.h"
#include "engine/io/text/json_scanner.h"

namespace mote {
namespace {

constexpr std::size_t longest_number = 1024;  // characters; an integer of one has at most 20
class Parser : detail::JsonScanner {
 public:
  Parser(std::string_view text, const JsonLimits& limits, std::string_view what)
      : JsonScanner(text, what), limits_(limits) {}

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
    if (text_.size() > limits_.bytes)
      throw Error(std::string(what_) + ": " + std::to_string(text_.size()) + " bytes are above the limit of " +
                  std::to_string(limits_.bytes));
    if (text_.starts_with("\xef\xbb\xbf")) fail("a byte order mark is not JSON");
    skip_space();
  }
  void end() {
    skip_space();
    if (at_ < text_.size()) fail("after the value there is " + here());
  }

  Json value(std::size_t depth) {
    skip_space();
    if (values_++ == limits_.values) fail("there are more than " + std::to_string(limits_.values) + " values");
    const char c = peek();
    if (c == '"') return string();
    if (c == '-' || is_digit(c)) return number();
    if (literal("true")) return true;
    if (literal("false")) return false;
    if (literal("null")) return nullptr;
    if (c != '[' && c != '{') fail("a value must stand here, not " + here());
    if (depth == limits_.depth) fail("arrays and objects are nested deeper than " + std::to_string(depth));
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
    const std::size_t outer = starts_.size();
    std::size_t next_look = 16;
    const auto look = [&] {  // whenever the members have doubled, so that a flood of equal names soon ends
      if (const std::size_t i = detail::repeated_name(members); i < members.size())
        fail("the name " + detail::shown_name(members[i].name) + " occurs twice in an object", starts_[outer + i]);
    };
    each_member(depth, [&](std::size_t start, std::string& name, Json& held) {
      starts_.push_back(start);
      members.push_back({std::move(name), std::move(held)});
      if (members.size() < next_look) return;
      look();
      next_look *= 2;
    });
    look();
    starts_.resize(outer);
    return Json::object(std::move(members));
  }

  /// see(start, name, value) for every member of an object whose brace is behind us.
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
    const bool negative = take('-');
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
    return whole ? integer(digits, negative, start) : fraction(digits, mantissa, start);
  }

  Json integer(std::string_view digits, bool negative, std::size_t start) const {
    const char* const end = digits.data() + digits.size();
    std::uint64_t natural = 0;
    std::int64_t below = 0;
    const auto result =
        negative ? std::from_chars(digits.data(), end, below) : std::from_chars(digits.data(), end, natural);
    if (result.ec != std::errc()) fail("an integer must be at least -2^63 and below 2^64", start);
    return negative ? Json(below) : Json(natural);
  }

  Json fraction(std::string_view digits, std::string_view mantissa, std::size_t start) const {
    if (digits.size() > longest_number)
      fail("a number must have at most " + std::to_string(longest_number) + " characters", start);
    const std::optional<double> x = number_from_text(digits);
    if (!x || (*x == 0 && mantissa.find_first_of("123456789") != std::string_view::npos))
      fail("the number is beyond the range of a double", start);
    return *x;
  }

  const JsonLimits& limits_;
  std::size_t values_ = 0;
  std::vector<std::size_t> starts_;  // of the names in the objects that are open
};

}  // namespace

Json parse_json(std::string_view text, const JsonLimits& limits, std::string_view what) {
  check_in("parse_json", limits.depth <= detail::json_depth, "a depth of ", limits.depth, " is above the limit of ",
           detail::json_depth);
  return Parser(text, limits, what).document();
}

void parse_json_members(std::string_view text, std::string_view what,
                        const std::function<void(const std::string&, const Json&)>& see, std::size_t values) {
  JsonLimits limits;
  limits.values = values;
  Parser(text, limits, what).document_members(see);
}

}  // namespace mote
