// JSON's writer.
#include <cmath>
#include <set>

#include "engine/base/number_text.h"
#include "engine/io/text/json.h"
#include "engine/io/text/utf8.h"

namespace mote {
namespace {

class Writer {
 public:
  explicit Writer(int indent) : indent_(indent) {}

  std::string text(const Json& document) {
    write(JsonPlace(document), 0);
    return std::move(text_);
  }

 private:
  void write(const JsonPlace& place, std::size_t depth) {
    using enum Json::Kind;
    const Json::Kind kind = place.value().kind();
    if (kind == null) text_ += "null";
    if (kind == boolean) text_ += place.as_bool() ? "true" : "false";
    if (kind == integer) text_ += std::to_string(place.as_integer());
    if (kind == number) write_number(place);
    if (kind == string) write_string(place.as_string(), place);
    if (kind == array) write_array(place, depth + 1);
    if (kind == object) write_object(place, depth + 1);
  }

  /// A whole number without an exponent gets ".0", because digits alone would be read as an integer.
  void write_number(const JsonPlace& place) {
    const double x = place.as_number();
    if (!std::isfinite(x)) place.fail("is " + exact_text(x) + ", which JSON cannot express");
    const std::string digits = exact_text(x);
    text_ += digits;
    if (digits.find_first_of(".e") == std::string::npos) text_ += ".0";
  }

  void write_string(const std::string& string, const JsonPlace& owner) {
    static constexpr std::string_view short_ones = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt";
    text_ += '"';
    for (std::size_t i = 0; i < string.size();) {
      const auto byte = static_cast<unsigned char>(string[i]);
      const std::size_t which = short_ones.find(string[i]);
      std::size_t length = 1;
      if (which != std::string_view::npos) {
        (text_ += '\\') += letters[which];
      } else if (byte < 0x20) {
        (text_ += "\\u") += detail::hex_text(byte, 4);
      } else {
        const auto [bytes, code] = detail::character_at(string, i);
        if (!code) owner.fail("holds text that is not UTF-8: " + detail::shown_name(string));
        length = bytes;
        text_.append(string, i, length);
      }
      i += length;
    }
    text_ += '"';
  }

  void write_array(const JsonPlace& place, std::size_t depth) {
    text_ += '[';
    for (std::size_t i = 0; i < place.items().size(); ++i) {
      next(depth);
      write(place.at(i), depth);
    }
    close(']', depth);
  }

  void write_object(const JsonPlace& place, std::size_t depth) {
    std::set<std::string_view> names;
    text_ += '{';
    for (const JsonMember& m : place.members()) {
      if (!names.insert(m.name).second) place.fail("has two members with the name '" + detail::shortened(m.name) + "'");
      if (m.name.find('\0') != std::string::npos) place.fail("has a name that holds U+0000");
      next(depth);
      write_string(m.name, place);
      text_ += indent_ < 0 ? ":" : ": ";
      write(place.at(m), depth);
    }
    close('}', depth);
  }

  /// Writes the comma after a previous item, and the new line.
  void next(std::size_t depth) {
    if (text_.back() != '[' && text_.back() != '{') text_ += ',';
    new_line(depth);
  }
  void close(char bracket, std::size_t depth) {
    if (text_.back() != '[' && text_.back() != '{') new_line(depth - 1);
    text_ += bracket;
  }
  void new_line(std::size_t depth) {
    if (indent_ < 0) return;
    text_ += '\n';
    text_.append(depth * static_cast<std::size_t>(indent_), ' ');
  }

  int indent_;
  std::string text_;
};

}  // namespace

std::string Json::text(int indent) const { return Writer(indent).text(*this); }

}  // namespace mote
