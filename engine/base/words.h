// Finds entries of a list by name, and converts enums to words and back. One table of words per enum serves both
// text_of(value) and from_text<Enum>(word).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "engine/base/check.h"

namespace mote {

/// The names of a list's entries as one text, such as "red, green".
template <class List>
std::string all_names(const List& list, const char* separator = ", ") {
  std::string all;
  for (const auto& entry : list) all.append(all.empty() ? "" : separator).append(entry.name);
  return all;
}

/// The entry with the given name. Errors: no entry has that name. The message is "<what> 'blue' is none of red, green",
/// with `also` before the first of the names.
template <class List>
const auto& by_name(std::string_view what, const List& list, std::string_view name, std::string_view also = "") {
  for (const auto& entry : list)
    if (name == entry.name) return entry;
  std::string sentence(what);
  throw Error(sentence.append(" '").append(name).append("' is none of ").append(also).append(all_names(list)));
}

/// How different two names are, for finding the nearest one: the number of letters of the longer name that are in
/// neither the common prefix nor the common suffix.
inline std::size_t distance(std::string_view a, std::string_view b) {
  const auto front = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  const auto back = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first - a.rbegin();
  return std::max(a.size(), b.size()) - std::min(static_cast<std::size_t>(front + back), std::min(a.size(), b.size()));
}

/// One value of an enum and its name in files, on command lines and in output.
template <class Enum>
struct Word {
  Enum value;
  const char* name;
};

/// An enum with a table of words. The table is a function words() beside the enum, found by argument-dependent lookup:
///
///     enum class Color { red, green };
///     constexpr auto words(Color) {
///       return std::to_array<Word<Color>>({{Color::red, "red"}, {Color::green, "green"}});
///     }
template <class Enum>
concept HasWords = requires(Enum e) {
  words(e).size();
};

/// The word for a value of an enum.
template <HasWords Enum>
std::string text_of(Enum value) {
  for (const Word<Enum>& w : words(Enum{}))
    if (w.value == value) return w.name;
  return "?";
}

/// Returns the value of the enum whose word is `word`. Errors: no value has that word. The message is "<what> 'blue' is
/// none of red, green".
template <HasWords Enum>
Enum from_text(const char* what, std::string_view word) {
  return by_name(what, words(Enum{}), word).value;
}

}  // namespace mote
