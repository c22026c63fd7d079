// What records share: a loop over seeds, a clock, and the hash of the weights that a run ends
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
#include "examples/programs/words.h"
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

/// What run(seed) returns for each, one after the other; what it prints is seen at once.
inline std::vector<double> of_seeds(const mote::Seeds& seeds, const std::function<double(mote::Index)>& run) {
  std::vector<double> all;
  for (mote::Index seed = seeds.first; seed <= seeds.second; ++seed) {
    std::fflush(stdout);
    all.push_back(run(seed));
  }
  return all;
}
