// The functions that the programs behind train/tasks/RECORDS.md share: a loop over seeds, a clock, and a hash of the
// last weights of a run. The hash is the same on every machine.
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
#include "examples/programs/words.h"
#include "nn/module.h"

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The FNV-1a hash of the bytes of these weights, to be printed by %016llx.
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

/// Calls run(seed) for each seed in turn and returns the results. The output of earlier seeds is flushed before each
/// run.
inline std::vector<double> of_seeds(const mote::Seeds& seeds, const std::function<double(mote::Index)>& run) {
  std::vector<double> all;
  for (mote::Index seed = seeds.first; seed <= seeds.second; ++seed) {
    std::fflush(stdout);
    all.push_back(run(seed));
  }
  return all;
}
