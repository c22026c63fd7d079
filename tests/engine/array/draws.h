// Draws of a Generator as vectors, for tests.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/array/random.h"

namespace mote::test {

inline std::vector<float> normals(const Generator& g, std::size_t n, double mean = 0, double std = 1) {
  std::vector<float> out(n);
  g.normal(std::span<float>(out), mean, std);
  return out;
}
/// What PyTorch's normal_ does to a tensor that is not contiguous: one number after the other.
template <class T>
void strided_normals(const Generator& g, std::span<T> out, double mean = 0, double std = 1) {
  for (std::size_t i = 0; i < out.size(); ++i) g.normal(out.subspan(i, 1), mean, std);
}
template <class T>
std::vector<T> exponentials(const Generator& g, std::size_t n, double lambda = 1) {
  std::vector<T> out(n);
  g.exponential(std::span<T>(out), lambda);
  return out;
}
inline std::vector<std::uint8_t> bits(const Generator& g, std::size_t n, double p) {
  std::vector<std::uint8_t> packed((n + 7) / 8), out(n);
  g.bernoulli_bits(packed, n, p);
  for (std::size_t i = 0; i < n; ++i) out[i] = packed[i / 8] >> i % 8 & 1;
  return out;
}
inline std::vector<std::int64_t> ints(const Generator& g, std::size_t n, std::int64_t low, std::int64_t high) {
  std::vector<std::int64_t> out(n);
  g.randint(out, low, high);
  return out;
}

}  // namespace mote::test
