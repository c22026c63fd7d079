// JSON (RFC 8259): a value, the strict parser that makes one from text, and the writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/real.h"

namespace mote {

struct JsonMember;

/// A JSON value. An integer has 64 bits, -2^63 to 2^63 - 1. A number with a fraction or an exponent is a double and
/// of another kind, so 1 and 1.0 differ. An object keeps the order of its members. Arrays and objects are nested at
/// most 64 deep, in parsed text and in values built by code, because the functions that walk through a value recurse.
///
///     const Json config = parse_json(text, "config.json");
///     const Index layers = JsonPlace(config, "config.json").at("n_layer").as_integer();
///     const std::string text = text_of(Json::object({{"n_layer", 12}, {"sizes", Json::array({2, 3})}}));
class Json {
 public:
  enum class Kind { null, boolean, integer, number, string, array, object };
  using Value = std::variant<std::monostate, bool, Index, double, std::string, std::vector<Json>,
                             std::vector<JsonMember>>;  // in the order of Kind
  static constexpr std::size_t most_depth = 64;

  Json();  ///< null
  Json(std::nullptr_t) : Json() {}
  template <class T>
  requires(std::is_arithmetic_v<T> && !std::is_same_v<T, char>) Json(T value);  ///< errors: an integer above 2^63 - 1
  Json(std::string text);
  Json(std::string_view text) : Json(std::string(text)) {}
  Json(const char* text) : Json(std::string(text)) {}
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(Json other) noexcept;  ///< by value, because `other` may be a part of this value
  ~Json();
  // Errors of array(), object(), push_back() and add(): arrays and objects are nested deeper than most_depth.
  static Json array(std::vector<Json> items);
  static Json array();
  static Json object(std::vector<JsonMember> members);
  static Json object();

  Kind kind() const { return static_cast<Kind>(value_.index()); }
  bool is(Kind kind) const { return this->kind() == kind; }
  /// The content as a variant. A JsonPlace reads the content with errors that say where the value is.
  const Value& value() const { return value_; }

  /// Appends to an array. Errors: this is not an array.
  Json& push_back(Json value);
  /// Appends a member to an object. The name must be new in the object, but only text_of checks this. Errors: this is
  /// not an object.
  Json& add(std::string name, Json value);

  /// Whether a and b are of the same kind and equal. Members must be in the same order.
  friend bool operator==(const Json& a, const Json& b);
  /// A value as JSON text. If `indent` is negative, the text has no spaces or new lines between values. Otherwise
  /// each item and member has a line of its own, indented by `indent` spaces per level as in Python's json.dumps.
  /// Members keep their order. Only characters that must be escaped are escaped. A double is written so that it reads
  /// back as the same double. Errors, which name the value: text that is not UTF-8, NaN and infinity, names that
  /// parse_json refuses.
  friend std::string text_of(const Json& value, int indent = -1) { return value.text(indent); }

 private:
  std::string text(int indent) const;
  void holds(const Json& inner);

  Value value_;
  std::uint32_t depth_ = 0;  // levels of nested arrays and objects
};

/// A member of a JSON object.
struct JsonMember {
  std::string name;
  Json value;
  friend bool operator==(const JsonMember&, const JsonMember&) = default;
};

template <class T>
requires(std::is_arithmetic_v<T> && !std::is_same_v<T, char>) Json::Json(T value) : Json() {
  if constexpr (std::is_same_v<T, bool>) {
    value_ = value;
  } else if constexpr (std::is_floating_point_v<T>) {
    value_ = static_cast<double>(value);
  } else {
    check_in("JSON", std::in_range<Index>(value), value, " is above the largest integer, 2^63 - 1");
    value_ = static_cast<Index>(value);
  }
}

/// A value and its path in a document, so that errors can say where the value is: "config.json: rope.theta must be a
/// number, not a string". The value and the text of `what` must outlive the JsonPlace.
class JsonPlace {
 public:
  explicit JsonPlace(const Json& value, std::string_view what = "JSON", std::string path = "")
      : value_(&value), what_(what), path_(std::move(path)) {}

  // The content of the value. Errors: the value is of another kind.
  bool as_bool() const;
  Index as_integer() const;
  double as_number() const;  ///< an integer becomes the nearest double
  const std::string& as_string() const;
  const std::vector<Json>& items() const;          ///< of an array
  const std::vector<JsonMember>& members() const;  ///< of an object
  /// The value of the object's member with this name, or null if there is none. Takes linear time.
  const Json* find(std::string_view name) const;
  JsonPlace at(std::string_view name) const;  ///< errors: there is no such member
  JsonPlace at(std::size_t position) const;   ///< errors: the array is shorter
  /// The place of one of members().
  JsonPlace at(const JsonMember& member) const;

  const Json& value() const { return *value_; }
  /// Throws Error("<what>: <path> <rule>").
  [[noreturn]] void fail(std::string_view rule) const;

 private:
  template <class T>
  const T& held(const char* kind) const;
  JsonPlace below(std::string_view name, const Json& value) const;

  const Json* value_;
  std::string_view what_;
  std::string path_;
};

/// Parses a JSON text, which must be exactly one value by RFC 8259. The time for n bytes grows at most as n log n.
/// The memory is at most 80 bytes for each byte of text.
/// Errors: "<what>: line 2, column 5 (byte 17): <rule>". Lines and columns (in characters) count from 1, bytes from
/// 0. The rules forbid text that is not JSON or not UTF-8 (a byte order mark, comments, trailing commas and NaN
/// included); a name that occurs twice in an object or holds U+0000; half a surrogate pair; an integer outside
/// [-2^63, 2^63); a number that is beyond the range of a double, or is not 0 but would be rounded to 0; more than
/// 100,000,000 bytes or 20,000,000 values; values nested deeper than Json::most_depth.
Json parse_json(std::string_view text, std::string_view what = "JSON");

/// Parses an object as parse_json does, but passes each member to see(name, value) instead of keeping it. The names
/// of these members are not compared, so `see` must refuse a name that occurs twice. Errors: those of parse_json, but
/// with a limit of `most_values` values in each member; a text that is not an object.
void parse_json_members(std::string_view text, std::string_view what, std::size_t most_values,
                        const std::function<void(const std::string& name, const Json& value)>& see);

namespace detail {
/// A text to be quoted in an error, shortened to about 80 bytes. Control characters and invalid UTF-8 become "?".
std::string shortened(std::string_view text);
/// A name to be quoted in an error, shortened as by shortened(). The name is in quotes unless it is a word of letters,
/// digits, _ and -.
std::string shown_name(std::string_view name);
}  // namespace detail

}  // namespace mote
