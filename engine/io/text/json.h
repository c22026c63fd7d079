// JSON (RFC 8259): a value, the strict parser that makes one from text, and the writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/real.h"

namespace mote {

class Json;
class JsonPlace;
struct JsonMember;

namespace detail {
/// A copyable value on the heap, so that a Json takes 16 bytes whatever it holds. Null stands for T{}.
template <class T>
class JsonBox {
 public:
  JsonBox() = default;
  JsonBox(T value) : value_(std::make_unique<T>(std::move(value))) {}
  JsonBox(const JsonBox& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  JsonBox(JsonBox&&) noexcept = default;
  JsonBox& operator=(JsonBox other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }
  const T* get() const { return value_.get(); }
  T& write() {
    if (!value_) value_ = std::make_unique<T>();
    return *value_;
  }

 private:
  std::unique_ptr<T> value_;
};
}  // namespace detail

/// A JSON value. Integers are exact, from -2^63 to 2^64 - 1, and another kind than numbers with a fraction or an
/// exponent, which are doubles: 1 is no 1.0. An object keeps the order of its members.
///
///     const Json config = parse_json(text, {}, "config.json");
///     const Index layers = JsonPlace(config, "config.json").at("n_layer").as_integer();
///     const std::string text = text_of(Json::object({{"n_layer", 12}, {"sizes", Json::array({2, 3})}}));
class Json {
 public:
  enum class Kind { null, boolean, integer, number, string, array, object };

  Json();  ///< null
  Json(std::nullptr_t) : Json() {}
  template <class T>
  requires(std::is_arithmetic_v<T> && !std::is_same_v<T, char>) Json(T value) : value_(held(Wide<T>(value))) {}
  Json(std::string text);
  Json(std::string_view text) : Json(std::string(text)) {}
  Json(const char* text) : Json(std::string(text)) {}
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();
  static Json array();
  static Json array(std::vector<Json> items);
  static Json object();
  static Json object(std::vector<JsonMember> members);

  Kind kind() const;
  bool is(Kind kind) const { return this->kind() == kind; }

  // What a value holds. Errors: it is of another kind. A JsonPlace offers the same and names the value in its errors.
  bool as_bool() const;
  Index as_integer() const;           ///< errors also: above 2^63 - 1
  std::uint64_t as_unsigned() const;  ///< errors also: below 0
  double as_number() const;           ///< of an integer: the nearest double
  const std::string& as_string() const;
  std::span<const Json> items() const;          ///< of an array
  std::span<const JsonMember> members() const;  ///< of an object
  /// The member of an object with this name, or null. Looks at one member after the other.
  const Json* find(std::string_view name) const;
  JsonPlace at(std::string_view name) const;  ///< errors: it is not there
  JsonPlace at(std::size_t position) const;   ///< errors: an array that is shorter

  /// Appends to an array. Errors: this is none.
  Json& push_back(Json value);
  /// Appends a member to an object; the name must be a new one, which text_of checks. Errors: this is no object.
  Json& add(std::string name, Json value);

  /// Of one kind and equal; members in the same order.
  friend bool operator==(const Json& a, const Json& b) { return a.equals(b); }
  /// A value as text: without any spaces, or with one value per line and `indent` spaces per level, as Python's
  /// json.dumps indents. Members keep their order; only what must be escaped is; a double is written so that it reads
  /// back as itself and as a double. Errors, which name the value: text that is not UTF-8, NaN and infinity, names that
  /// parse_json refuses, values nested deeper than 1000.
  friend std::string text_of(const Json& value, int indent = -1) { return value.text(indent); }

 private:
  friend class JsonPlace;
  template <class T>
  using Box = detail::JsonBox<T>;
  // An integer is an int64 wherever it fits.
  using Value = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, Box<std::string>,
                             Box<std::vector<Json>>, Box<std::vector<JsonMember>>>;
  template <class T>
  using Wide =
      std::conditional_t<std::is_same_v<T, bool>, bool,
                         std::conditional_t<std::is_floating_point_v<T>, double,
                                            std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>>;
  static Value held(bool value);
  static Value held(std::int64_t value);
  static Value held(std::uint64_t value);
  static Value held(double value);
  bool equals(const Json& other) const;
  std::string text(int indent) const;

  Value value_;
};

struct JsonMember {
  std::string name;
  Json value;
  friend bool operator==(const JsonMember&, const JsonMember&) = default;
};

/// A value and the document it stands in, so that errors say where: "config.json: rope.theta must be a number, not a
/// string". Cheap to copy; the document, and what `what` views, must outlive it.
class JsonPlace {
 public:
  explicit JsonPlace(const Json& document, std::string_view what = "JSON") : JsonPlace(document, document, what) {}
  /// `value` lies anywhere in `document`.
  JsonPlace(const Json& document, const Json& value, std::string_view what)
      : document_(&document), value_(&value), what_(what) {}

  // As those of Json.
  bool as_bool() const;
  Index as_integer() const;
  std::uint64_t as_unsigned() const;
  double as_number() const;
  const std::string& as_string() const;
  std::span<const Json> items() const;
  std::span<const JsonMember> members() const;
  const Json* find(std::string_view name) const;
  JsonPlace at(std::string_view name) const;
  JsonPlace at(std::size_t position) const;

  const Json& value() const { return *value_; }
  operator const Json&() const { return *value_; }
  std::string path() const;  ///< "layers[3].name"; "" for the document itself
  /// Throws Error("<what>: <path> <rule>").
  [[noreturn]] void fail(std::string_view rule) const;

 private:
  template <class T>
  const T& held(const char* kind) const;
  JsonPlace to(const Json& value) const { return JsonPlace(*document_, value, what_); }

  const Json* document_;
  const Json* value_;
  std::string_view what_;
};

/// What parse_json() accepts at most. Its memory is bounded by 32 bytes for each byte of text, and by `values`.
struct JsonLimits {
  std::size_t depth = 64;  ///< of arrays and objects in each other, at most 1000
  std::size_t bytes = 100'000'000;
  std::size_t values = 20'000'000;
};

/// The value of a text: RFC 8259 to the letter, and one value. Time grows as n log n at most.
/// Errors: "<what>: line 2, column 5 (byte 17): <rule>", lines and columns (characters) counted from 1, bytes from 0,
/// for text that is not JSON or not UTF-8 (a byte order mark, comments, trailing commas and NaN included); a name that
/// occurs twice in an object or holds U+0000; half a surrogate pair; an integer outside [-2^63, 2^64), a number beyond
/// the range of a double, or one that would become 0; anything above a limit.
Json parse_json(std::string_view text, const JsonLimits& limits = {}, std::string_view what = "JSON");

/// As parse_json of an object, with JsonLimits{}: see(name, value) for one member after the other, none of which is
/// kept and none of which has more than `values` values. Nor are names compared: who sees them must refuse one that
/// occurs twice.
void parse_json_members(std::string_view text, std::string_view what,
                        const std::function<void(const std::string& name, const Json& value)>& see,
                        std::size_t values = JsonLimits{}.values);

namespace detail {
constexpr std::size_t json_depth = 1000;  ///< deeper values neither parse nor write: both recurse
/// The position of the first member whose name an earlier one has; the number of members if there is none.
std::size_t repeated_name(std::span<const JsonMember> members);
/// A name for an error: as it is if it is a word, else in quotes, and of a long one the beginning.
std::string shown_name(std::string_view name);
}  // namespace detail

}  // namespace mote
