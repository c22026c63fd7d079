// The words of an enum, in one table for both directions: text_of(value) and from_text<Enum>(word).
#pragma once

#include <string>
#include <string_view>

#include "engine/base/check.h"

namespace mote {

/// One value of an enum and its word in files, on command lines and in output.
template <class Enum>
struct Word {
  Enum value;
  const char* word;
};

/// An enum opts in with a table beside it, which argument-dependent lookup finds:
///
///     enum class Color { red, green };
///     constexpr auto words(Color) {
///       return std::to_array<Word<Color>>({{Color::red, "red"}, {Color::green, "green"}});
///     }
template <class Enum>
concept HasWords = requires(Enum e) {
  words(e).size();
};

template <HasWords Enum>
std::string text_of(Enum value) {
  for (const Word<Enum>& w : words(Enum{}))
    if (w.value == value) return w.word;
  return "?";
}

/// All words, "red, green".
template <HasWords Enum>
std::string all_words(const char* separator = ", ") {
  std::string list;
  for (const Word<Enum>& w : words(Enum{})) list.append(list.empty() ? "" : separator).append(w.word);
  return list;
}

/// The value that `word` names. Errors: "<what> 'blue' is none of red, green".
template <HasWords Enum>
Enum from_text(const char* what, std::string_view word) {
  for (const Word<Enum>& w : words(Enum{}))
    if (word == w.word) return w.value;
  throw Error(std::string(what) + " '" + std::string(word) + "' is none of " + all_words<Enum>());
}

}  // namespace mote
