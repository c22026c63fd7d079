// Words of a command line without options: read_words, and the seeds that one of them may be.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "examples/programs/program.h"
#include "nn/fields.h"

namespace mote {

/// "1-10", or one seed. Errors: another text, which the message says is this word's.
inline std::pair<Index, Index> read_seeds(const std::string& text, const std::string& word = "--seeds") {
  const std::size_t dash = text.find('-');
  Index first = 0, last = 0;
  detail::read_field(word.c_str(), text.substr(0, dash), first);
  detail::read_field(word.c_str(), dash == text.npos ? text : text.substr(dash + 1), last);
  check(first >= 0 && first <= last, word, " ", text, " must be two seeds, the lower one first: 1-10");
  check(last <= 1'000'000'000'000'000'000, word, " ", text, " must end at 1000000000000000000");
  return {first, last};
}

/// The first and the last of "1-10", or one seed, at most 4,000,000: a thousand times as many fit into 32 bits.
using Seeds = std::pair<Index, Index>;

/// Reads a command line's words in their order. A word that is not given keeps its value. Errors: a word that is not
/// what it is read into, or one too many, with `usage` behind them.
template <class... Values>
void read_words(int argc, char** argv, const std::string& usage, Values&... values) {
  int i = 0;
  [[maybe_unused]] const auto read = [&](auto& value) {
    if (++i >= argc) return;
    const std::string word = "word " + std::to_string(i);
    check(argv[i][0] != '-', argv[i], " is an option, not a word");
    if constexpr (std::is_same_v<decltype(value), Seeds&>) {
      value = read_seeds(argv[i], word);
      check(value.second <= 4'000'000, "seed ", value.second, " is above 4000000");
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
