// What records share: words of a command line, a loop over seeds, a clock, and the hash of the weights that a run ends
// with, which is the same on every machine.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "examples/programs/many_seeds.h"
#include "nn/module.h"

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// FNV-1a over the bytes of these weights; printed by %016llx.
template <class Parameters>
unsigned long long hash_of(const Parameters& weights) {
  unsigned long long hash = 14695981039346656037u;
  for (const mote::Parameter& p : weights)
    for (const mote::real number : p.value().to_vector()) {
      unsigned char bytes[sizeof number];
      std::memcpy(bytes, &number, sizeof number);
      for (const unsigned char b : bytes) hash = (hash ^ b) * 1099511628211u;
    }
  return hash;
}
inline double largest(const std::vector<double>& x) { return *std::max_element(x.begin(), x.end()); }
inline double smallest(const std::vector<double>& x) { return *std::min_element(x.begin(), x.end()); }

/// The first and the last of "1-10", or one seed, at most 4,000,000: a thousand times as many fit into 32 bits.
using Seeds = std::pair<mote::Index, mote::Index>;
/// Reads a command line's words in their order; what is not given keeps its value. Errors: a word that is not what it
/// is read into, or one too many, with `usage` behind them.
template <class... Values>
void read_words(int argc, char** argv, const std::string& usage, Values&... values) {
  int i = 0;
  [[maybe_unused]] const auto read = [&](auto& value) {
    if (++i >= argc) return;
    const std::string word = "word " + std::to_string(i);
    mote::check(argv[i][0] != '-', argv[i], " is no word");
    if constexpr (std::is_same_v<decltype(value), Seeds&>) {
      value = mote::read_seeds(argv[i], word);
      mote::check(value.second <= 4'000'000, "seed ", value.second, " is above 4000000");
    } else {
      mote::detail::read_field(word.c_str(), argv[i], value);
    }
  };
  try {
    (read(values), ...);
    mote::check(++i >= argc, "one word too many");
  } catch (const mote::Error& e) {
    throw mote::UsageError(e.what() + ("; its words are " + usage));
  }
}
/// What run(seed) returns for each, one after the other; what it prints is seen at once.
inline std::vector<double> of_seeds(const Seeds& seeds, const std::function<double(mote::Index)>& run) {
  std::vector<double> all;
  for (mote::Index seed = seeds.first; seed <= seeds.second; ++seed) {
    std::fflush(stdout);
    all.push_back(run(seed));
  }
  return all;
}
