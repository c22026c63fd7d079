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

/// A JSON value. Integers have 64 bits, -2^63 to 2^63 - 1, and are another kind than numbers with a fraction or an
/// exponent, which are doubles: 1 is no 1.0. An object keeps the order of its members. Arrays and objects lie at most
/// 64 deep in each other, whatever a value is made from: all that walks through them recurses.
///
///     const Json config = parse_json(text, "config.json");
///     const Index layers = JsonPlace(config, "config.json").at("n_layer").as_integer();
///     const std::string text = text_of(Json::object({{"n_layer", 12}, {"sizes", Json::array({2, 3})}}));
class Json {
 public:
  enum class Kind { null, boolean, integer, number, string, array, object };
  using Value = std::variant<std::monostate, bool, Index, double, std::string, std::vector<Json>,
                             std::vector<JsonMember>>;  // in the order of kinds
  static constexpr std::size_t most_depth = 64;

  Json();  ///< null
  Json(std::nullptr_t) : Json() {}
  template <class T>
  requires(std::is_arithmetic_v<T> && !std::is_same_v<T, char>) Json(T value);  ///< errors: above 2^63 - 1
  Json(std::string text);
  Json(std::string_view text) : Json(std::string(text)) {}
  Json(const char* text) : Json(std::string(text)) {}
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(Json other) noexcept;  ///< what is assigned may lie in this value
  ~Json();
  // Errors, of these and of push_back and add: nested deeper than most_depth.
  static Json array(std::vector<Json> items);
  static Json array();
  static Json object(std::vector<JsonMember> members);
  static Json object();

  Kind kind() const { return static_cast<Kind>(value_.index()); }
  bool is(Kind kind) const { return this->kind() == kind; }
  /// What it holds; a JsonPlace looks at it with errors that name it.
  const Value& value() const { return value_; }

  /// Appends to an array. Errors: this is none.
  Json& push_back(Json value);
  /// Appends a member to an object; the name must be a new one, which text_of checks. Errors: this is no object.
  Json& add(std::string name, Json value);

  /// Of one kind and equal; members in the same order.
  friend bool operator==(const Json& a, const Json& b);
  /// A value as text: without any spaces, or with one value per line and `indent` spaces per level, as Python's
  /// json.dumps indents. Members keep their order; only what must be escaped is; a double is written so that it reads
  /// back as itself and as a double. Errors, which name the value: text that is not UTF-8, NaN and infinity, names that
  /// parse_json refuses.
  friend std::string text_of(const Json& value, int indent = -1) { return value.text(indent); }

 private:
  std::string text(int indent) const;
  void holds(const Json& inner);

  Value value_;
  std::uint32_t depth_ = 0;  // of arrays and objects in each other
};

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

/// A value and its path in a document, so that errors say where: "config.json: rope.theta must be a number, not a
/// string". The value, and what `what` views, must outlive it.
class JsonPlace {
 public:
  explicit JsonPlace(const Json& value, std::string_view what = "JSON", std::string path = "")
      : value_(&value), what_(what), path_(std::move(path)) {}

  // What the value holds. Errors: it is of another kind.
  bool as_bool() const;
  Index as_integer() const;
  double as_number() const;  ///< of an integer: the nearest double
  const std::string& as_string() const;
  const std::vector<Json>& items() const;          ///< of an array
  const std::vector<JsonMember>& members() const;  ///< of an object
  /// The member of an object with this name, or null. Looks at one member after the other.
  const Json* find(std::string_view name) const;
  JsonPlace at(std::string_view name) const;  ///< errors: it is not there
  JsonPlace at(std::size_t position) const;   ///< errors: an array that is shorter
  /// One of members().
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

/// The value of a text: RFC 8259 to the letter, and one value. Time grows as n log n at most.
/// Errors: "<what>: line 2, column 5 (byte 17): <rule>", lines and columns (characters) counted from 1, bytes from 0,
/// for text that is not JSON or not UTF-8 (a byte order mark, comments, trailing commas and NaN included); a name that
/// occurs twice in an object or holds U+0000; half a surrogate pair; an integer outside [-2^63, 2^63), a number beyond
/// the range of a double, or one that would become 0; more than 100,000,000 bytes or 20,000,000 values, or values
/// nested deeper than Json::most_depth. Memory is bounded by 80 bytes for each byte of text.
Json parse_json(std::string_view text, std::string_view what = "JSON");

/// As parse_json of an object: see(name, value) for one member after the other, none of which is kept and none of which
/// has more than `most_values` values. Nor are names compared: who sees them must refuse one that occurs twice.
void parse_json_members(std::string_view text, std::string_view what, std::size_t most_values,
                        const std::function<void(const std::string& name, const Json& value)>& see);

namespace detail {
/// A text for an error: of a long one the beginning, without what cannot be shown.
std::string shortened(std::string_view text);
/// The same of a name: in quotes unless it is a word.
std::string shown_name(std::string_view name);
}  // namespace detail

}  // namespace mote
