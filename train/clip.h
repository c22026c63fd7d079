// clip_grad_norm, which keeps one bad batch from moving the weights far.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/autograd/op.h"
#include "engine/base/parallel.h"

namespace mote {
namespace detail {

/// The sum of x[i]^2: blocks of 4096 in `real`, their sums in double, in an order that depends only on the count.
inline double sum_of_squares(const Array& x) {
  constexpr Index block = 4096;
  const Array in = x.contiguous();
  const Index n = in.numel(), blocks = (n + block - 1) / block;
  Array parts = Array::empty({blocks});
  real* const part = parts.mutate();
  const auto squares = kernels::table().sum_squared_difference;
  parallel_for(blocks, 4, [&](Index lo, Index hi) {
    for (Index i = lo; i < hi; ++i) part[i] = squares(in.data() + i * block, 0, std::min(block, n - i * block));
  });
  double total = 0;
  for (Index i = 0; i < blocks; ++i) total += static_cast<double>(part[i]);
  return total;
}

inline void scale_gradient(const Parameter& p, real factor) {
  real* const g = p.mutate_grad();
  const auto times = kernels::table().mul;
  parallel_for(p.numel(), 16 * 1024, [&](Index lo, Index hi) { times(g + lo, 1, &factor, 0, g + lo, hi - lo); });
}

/// sqrt(sum of squares) of gradients whose squares vanish in `real`: with the largest element scaled to 1..2 first.
inline double norm_of_small(const std::vector<const Array*>& gradients) {
  real largest = 0;
  for (const Array* g : gradients)
    if (g->numel() > 0) largest = std::max(largest, max(map(kernels::table().abs, *g)).item());
  if (largest == 0) return 0;
  const int exponent = std::min(-std::ilogb(largest), std::numeric_limits<real>::max_exponent - 2);
  double squares = 0;
  for (const Array* g : gradients) squares += sum_of_squares(*g * std::ldexp(real(1), exponent));
  return std::ldexp(std::sqrt(squares), -exponent);
}

}  // namespace detail

/// Multiplies all gradients by max_norm / (norm + 1e-6) if that is below 1, where norm = sqrt(sum of the squares of all
/// gradients), and returns norm. The new norm is then at most max_norm; max_norm 0 zeroes gradients, infinity only
/// measures. Parameters that are frozen or have no gradient do not count; of no parameters the norm is 0.
///
/// If the norm is NaN or infinite, returns it and leaves the gradients unchanged (PyTorch would make them 0 or NaN), so
/// that the caller can skip the step. It is also infinite if a finite gradient's square overflows `real`.
///
/// Errors: max_norm below 0 or NaN; a parameter that is undefined or listed twice; no memory; then nothing has changed.
/// Source: torch.nn.utils.clip_grad_norm_.
inline double clip_grad_norm(const std::vector<Parameter>& parameters, double max_norm) {
  check_in("clip_grad_norm", max_norm >= 0, "max_norm ", max_norm, " must be at least 0");
  std::vector<const Parameter::Cell*> cells;
  std::vector<const Array*> gradients;
  double squares = 0;
  for (const Parameter& p : parameters) {
    check_in("clip_grad_norm", p.defined(), "a parameter is not defined");
    cells.push_back(p.id());
    if (!p.trainable() || !p.grad().defined()) continue;
    squares += detail::sum_of_squares(p.grad());
    gradients.push_back(&p.grad());
  }
  std::sort(cells.begin(), cells.end());
  check_in("clip_grad_norm", std::adjacent_find(cells.begin(), cells.end()) == cells.end(),
           "a parameter is listed twice; its gradient would be scaled twice");
  constexpr double vanishing = 1e8 * static_cast<double>(std::numeric_limits<real>::min());
  const double norm = squares < vanishing ? detail::norm_of_small(gradients) : std::sqrt(squares);
  const double factor = max_norm / (norm + 1e-6);
  if (!std::isfinite(norm) || factor >= 1) return norm;
  const auto each = [&](const auto& act) {
    for (const Parameter& p : parameters)
      if (p.trainable() && p.grad().defined()) act(p);
  };
  each([](const Parameter& p) { p.mutate_grad(); });  // all the memory first, so that all are scaled or none
  each([&](const Parameter& p) { detail::scale_gradient(p, static_cast<real>(factor)); });
  return norm;
}

}  // namespace mote
