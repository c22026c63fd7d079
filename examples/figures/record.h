// What records share: a clock, and the hash of the weights that a run ends with, which is the same on every machine.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "nn/module.h"

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// FNV-1a over the bytes of these weights, as 16 hexadecimal digits.
template <class Parameters>
std::string hash_of(const Parameters& weights) {
  std::uint64_t hash = 14695981039346656037u;
  for (const mote::Parameter& p : weights)
    for (const mote::real number : p.value().to_vector()) {
      unsigned char bytes[sizeof number];
      std::memcpy(bytes, &number, sizeof number);
      for (const unsigned char b : bytes) hash = (hash ^ b) * 1099511628211u;
    }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}
/// The value in the middle; of an even number, the mean of the two.
inline double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return (x[(x.size() - 1) / 2] + x[x.size() / 2]) / 2;
}
inline double largest(const std::vector<double>& x) { return *std::max_element(x.begin(), x.end()); }
inline double smallest(const std::vector<double>& x) { return *std::min_element(x.begin(), x.end()); }
