// Doctest and the small tools tests share: arrays to test with, comparison by bits, error texts, leaks, hardware.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "engine/autograd/op.h"
#include "engine/base/parallel.h"
#include "engine/base/storage.h"

namespace mote::test {

constexpr bool f64 = sizeof(real) == 8;
constexpr real inf = std::numeric_limits<real>::infinity();
constexpr real nan = std::numeric_limits<real>::quiet_NaN();

/// Zeros, infinities, NaN, the smallest and largest numbers of both kinds, the neighbours of 1.
inline std::vector<real> special_values() {
  using Limits = std::numeric_limits<real>;
  std::vector<real> list{0, inf, 1, Limits::denorm_min(), Limits::min(), Limits::max(), 1 + Limits::epsilon()};
  for (const real x : std::vector<real>(list)) list.push_back(-x);
  list.insert(list.end(), {nan, 1 - Limits::epsilon() / 2, 2, real(0.5), -3});
  return list;
}

/// The message of the Error that f throws, or what it did instead.
template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "(no error)";
}

inline Array array(const Shape& shape, const std::vector<double>& values) {
  const std::vector<real> narrowed(values.begin(), values.end());
  return Array(shape, narrowed);
}

/// zeros_of(2, 3) has shape [2, 3].
template <class... Extents>
Tensor zeros_of(Extents... extents) {
  return Array::zeros({static_cast<Index>(extents)...});
}

/// Numbers in [low, high) that depend on the seed alone.
inline Array random_array(const Shape& shape, std::uint64_t seed, double low = -2, double high = 2) {
  Array a = Array::empty(shape);
  real* const out = a.mutate();
  std::uint64_t z = seed * 0x9E3779B97F4A7C15u + 12345;
  for (Index i = 0; i < a.numel(); ++i) {
    z = z * 6364136223846793005u + 1442695040888963407u;
    out[i] = static_cast<real>(low + (high - low) * static_cast<double>(z >> 11) * 0x1p-53);
  }
  return a;
}
/// The same kept at least 0.1 away from 0, where relu and abs bend.
inline Array random_off_zero(const Shape& shape, std::uint64_t seed) {
  Array a = random_array(shape, seed);
  real* const out = a.mutate();
  for (Index i = 0; i < a.numel(); ++i) out[i] += out[i] < 0 ? real(-0.1) : real(0.1);
  return a;
}
/// All numbers different by at least 0.1, in mixed order: for ops that compare.
inline Array distinct_array(const Shape& shape, std::uint64_t seed) {
  Array a = Array::empty(shape);
  real* const out = a.mutate();
  const Index n = a.numel();
  Index step = 7 + 2 * static_cast<Index>(seed);
  while (n > 0 && std::gcd(step, n) != 1) ++step;
  for (Index i = 0; i < n; ++i) {
    const Index place = (i + 2 * static_cast<Index>(seed)) * step % n - n / 2;
    out[i] = static_cast<real>(0.125 * static_cast<double>(place) + 0.0625);
  }
  return a;
}

/// Equal bit by bit, so 0 does not equal -0; NaN equals NaN, since which of its bits are set nothing decides.
inline bool same_bits(const Array& a, const Array& b) {
  if (a.defined() != b.defined() || !(a.shape() == b.shape())) return false;
  if (!a.defined()) return true;
  const std::vector<real> x = a.to_vector(), y = b.to_vector();
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::memcmp(&x[i], &y[i], sizeof(real)) != 0 && !(std::isnan(x[i]) && std::isnan(y[i]))) return false;
  return true;
}

/// The largest |a - b| / max(1, |b|); infinity where only one is NaN, or infinities differ.
inline double distance(const std::vector<real>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = static_cast<double>(a[i]), y = b[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double error = std::abs(x - y) / std::max(1.0, std::abs(y));
    worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
  }
  return worst;
}

// The same numbers laid out otherwise in memory.
inline Array transposed_layout(const Array& x) {
  if (x.rank() < 2) return x;
  return copy_of(x.transpose(0, -1)).transpose(0, -1);
}
/// Every second element of something larger, behind an offset.
inline Array strided_layout(const Array& x) {
  if (x.rank() == 0) return x;
  const Index n = x.shape()[-1];
  Array wide = Array::full(x.shape().with(-1, 2 * n + 3), nan);
  real* const out = wide.mutate();
  const std::vector<real> values = x.to_vector();
  for (Index i = 0; i < x.numel(); ++i)
    out[i / n * (2 * n + 3) + 2 + 2 * (i % n)] = values[static_cast<std::size_t>(i)];
  return wide.slice(-1, 2, 2 + 2 * n, 2);
}
/// The first row repeated along axis 0 with stride 0. Other numbers than x: compare with a copy of this.
inline Array expanded_layout(const Array& x) {
  return x.rank() == 0 || x.shape()[0] == 0 ? x : x.slice(0, 0, 1).expand(x.shape());
}

/// Uses a table, a number of threads, or both, for one scope.
class Hardware {
 public:
  explicit Hardware(const kernels::Table& t, int n = threads()) : table_(kernels::table()), threads_(threads()) {
    kernels::use_table(t);
    set_threads(n);
  }
  ~Hardware() {
    kernels::use_table(table_);
    set_threads(threads_);
  }
  Hardware(const Hardware&) = delete;

 private:
  const kernels::Table& table_;
  int threads_;
};

/// f() with every instruction set, on each of these numbers of threads.
template <class F>
void on_all_hardware(const std::vector<int>& numbers_of_threads, const F& f) {
  for (const kernels::Table* t : kernels::available_tables())
    for (const int n : numbers_of_threads) {
      const Hardware use(*t, n);
      INFO(std::string(t->name) << ", " << n << " threads");
      f();
    }
}

/// Nodes and bytes that came to life since and have not gone.
class Leaks {
 public:
  Index nodes() const { return live_nodes() - nodes_; }
  Index bytes() const { return memory_stats().live_bytes - bytes_; }

 private:
  Index nodes_ = live_nodes(), bytes_ = memory_stats().live_bytes;
};

}  // namespace mote::test
