// Fields of configs. A config lists its fields once. With this list, a config can be written as text and compared, and
// a field can be set by name.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/real.h"
#include "engine/base/words.h"

namespace mote {

/// Names and values of a config's fields as text, in the form that set_field() takes.
using FieldValues = std::vector<std::pair<std::string, std::string>>;

/// How a field of a config is used. A config lists its fields once in visit(), as a module does, each with its
/// meaning:
///
///     struct Sizes {
///       Index width = 64;
///       double dropout = 0;
///       template <class V>
///       void visit(V& v) {
///         v("width", width, "columns of the residual stream");
///         v("dropout", dropout, "probability of dropping");
///       }
///     };
///
/// A nested config is visited in turn: inner.visit(v). A field is a bool, an Index, a double, a std::string, an enum
/// with words, or a std::optional of one of these. The text of an optional without a value is "default". Names are
/// unique across all levels. A FieldUse may be the fourth argument of v().
struct FieldUse {
  bool may_change = false;  ///< whether the field may change when a run is resumed
  std::string needs = "";   ///< what the field needs to have an effect, such as "--position rotary"; empty: nothing
};

namespace detail {
std::string field_text(bool value);
std::string field_text(Index value);
std::string field_text(double value);  ///< the shortest text that reads back as the same number
inline std::string field_text(const std::string& value) { return value; }
template <HasWords Enum>
std::string field_text(Enum value) {
  return text_of(value);
}
template <class T>
std::string field_text(const std::optional<T>& value) {
  return value ? field_text(*value) : "default";
}

void read_field(const char* name, const std::string& text, bool& value);
void read_field(const char* name, const std::string& text, Index& value);
void read_field(const char* name, const std::string& text, double& value);
inline void read_field(const char*, const std::string& text, std::string& value) { value = text; }
template <HasWords Enum>
void read_field(const char* name, const std::string& text, Enum& value) {
  value = from_text<Enum>(name, text);
}
template <class T>
void read_field(const char* name, const std::string& text, std::optional<T>& value) {
  if (text == "default") return value.reset();
  T given{};
  read_field(name, text, given);
  value = given;
}

/// The words that a field accepts, for a help text.
template <class T>
std::string field_kind(const T&) {
  if constexpr (HasWords<T>)
    return all_names(words(T{}), "|");
  else
    return std::is_same_v<T, bool> ? "true|false" : "";
}
template <class T>
std::string field_kind(const std::optional<T>&) {
  return field_kind(T{});
}
}  // namespace detail

/// One field of a config as text.
struct Field {
  std::string name, value, help;
  std::string words;  ///< the words that the field accepts, "learned|rotary|none"; "" for numbers and free text
  FieldUse use = {};
  friend bool operator==(const Field& a, const Field& b) { return a.name == b.name && a.value == b.value; }
};

/// Every field of a config, in the order of visit().
template <class C>
std::vector<Field> fields(C config) {
  std::vector<Field> list;
  const auto see = [&](const char* name, const auto& value, const char* help, const FieldUse& use = {}) {
    list.push_back({name, detail::field_text(value), help, detail::field_kind(value), use});
  };
  config.visit(see);
  return list;
}

/// Sets one field of a config from text. Returns false if no field has that name. Errors: text that is not a value of
/// the field's type.
template <class C>
bool set_field(C& config, const std::string& name, const std::string& text) {
  bool found = false;
  const auto see = [&](const char* field, auto& value, const char*, const FieldUse& = {}) {
    if (name != field) return;
    detail::read_field(field, text, value);
    found = true;
  };
  config.visit(see);
  return found;
}

/// A config as text, with one line per field, such as "n_layer = 12".
template <class C>
std::string fields_text(const C& config) {
  std::string text;
  for (const Field& f : fields(config)) text += f.name + " = " + f.value + "\n";
  return text;
}

}  // namespace mote
