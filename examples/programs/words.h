// read_words, for command lines of words without options, and read_seeds, for a word that is a range of seeds.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "examples/programs/program.h"
#include "nn/fields.h"

namespace mote {

/// Reads a range of seeds such as "1-10", or one seed. Errors, whose messages begin with `word`: any other text.
inline std::pair<Index, Index> read_seeds(const std::string& text, const std::string& word = "--seeds") {
  const std::size_t dash = text.find('-');
  const std::string from = text.substr(0, dash), to = dash == text.npos ? text : text.substr(dash + 1);
  for (const std::string& seed : {from, to})
    check(!seed.empty() && seed.find_first_not_of("0123456789") == seed.npos, word, " '", text,
          "' must be a seed such as 3, or the first and the last seed with - between them: 1-10");
  Index first = 0, last = 0;
  detail::read_field(word.c_str(), from, first);
  detail::read_field(word.c_str(), to, last);
  check(first <= last, word, " ", text, " must be two seeds, the lower one first: 1-10");
  check(last <= 1'000'000'000'000'000'000, word, " ", text, " must end at 1000000000000000000 at most");
  return {first, last};
}

/// The first and the last seed of a word such as "1-10". read_words() takes seeds up to 4,000,000, because programs
/// multiply seeds by 1000, and the product must fit into 32 bits.
using Seeds = std::pair<Index, Index>;

/// Reads the words of a command line into `values`, in order. A value without a word stays as it is. Errors: a word
/// that cannot be read into its value, an option, one word too many; `usage` stands at the end of the message.
template <class... Values>
void read_words(int argc, char** argv, const std::string& usage, Values&... values) {
  int i = 0;
  [[maybe_unused]] const auto read = [&](auto& value) {
    if (++i >= argc) return;
    const std::string word = "word " + std::to_string(i);
    check(argv[i][0] != '-', argv[i], " is an option, not a word");
    if constexpr (std::is_same_v<decltype(value), Seeds&>) {
      value = read_seeds(argv[i], word);
      check(value.second <= 4'000'000, "seed ", value.second, " must be at most 4000000");
    } else {
      detail::read_field(word.c_str(), argv[i], value);
    }
  };
  try {
    (read(values), ...);
    check(++i >= argc, "one word too many");
  } catch (const Error& e) {
    throw UsageError(e.what() + ("; its words are " + usage));
  }
}

}  // namespace mote
