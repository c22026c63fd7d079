// clip_grad_norm, which keeps one bad batch from moving the weights far.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "engine/autograd/op.h"
#include "engine/base/parallel.h"
#include "engine/base/storage.h"

namespace mote {
namespace detail {

using Gradients = std::vector<Array, CachedAllocator<Array>>;  // memory from mote's cache rather than from the system

/// The gradients of all trainable parameters that have one.
inline Gradients gradients_of(const std::vector<Parameter>& parameters) {
  Gradients list;
  for (const Parameter& p : parameters)
    if (p.trainable() && p.grad().defined()) list.push_back(p.grad().contiguous());
  return list;
}

/// The sum of the squares of all elements. Blocks of 4096 are summed in `real`, and the sums of the blocks in double.
inline double sum_of_squares(const Array& values) {
  constexpr Index block = 4096;
  const Index n = values.numel(), blocks = (n + block - 1) / block;
  Array sums = Array::empty({blocks});
  real* const sum = sums.mutate();
  const auto squares = kernels::table().sum_squared_difference;
  parallel_for(blocks, grain_for(0.1 * block), [&](Index lo, Index hi) {
    for (Index b = lo; b < hi; ++b) sum[b] = squares(values.data() + b * block, 0, std::min(block, n - b * block));
  });
  return std::accumulate(sum, sum + blocks, 0.0);
}
inline double sum_of_squares(const Gradients& list) {
  double all = 0;
  for (const Array& g : list) all += sum_of_squares(g);
  return all;
}

/// Returns sqrt(sum of squares) for gradients whose squares overflow or underflow `real`. All elements are first scaled
/// by a power of two, so that the largest is about 1.
inline double scaled_norm(Gradients list) {
  real largest = 0;
  for (const Array& g : list)
    if (g.numel() > 0) largest = std::max(largest, max(map(kernels::table().abs, g)).item());
  if (largest == 0 || std::isinf(largest)) return static_cast<double>(largest);
  const int exponent = std::min(-std::ilogb(largest), std::numeric_limits<real>::max_exponent - 2);
  for (Array& g : list) g = g * std::ldexp(real(1), exponent);
  return std::ldexp(std::sqrt(sum_of_squares(list)), -exponent);
}

/// Returns sqrt(sum of squares). It is NaN or infinite only if an element is, or if the norm is beyond the range of
/// double.
inline double norm_of(const Gradients& list) {
  const double squares = sum_of_squares(list);
  constexpr double vanishing = 1e8 * static_cast<double>(std::numeric_limits<real>::min());
  if (squares >= vanishing && std::isfinite(squares)) return std::sqrt(squares);
  return std::isnan(squares) ? squares : scaled_norm(list);
}

/// The norm of all gradients, as clip_grad_norm returns it.
inline double gradient_norm(const std::vector<Parameter>& parameters) { return norm_of(gradients_of(parameters)); }

/// The factor by which clip_grad_norm multiplies gradients of this norm. 1 means that the gradients stay as they are.
inline real clip_factor(double norm, double max_norm) {
  const double factor = max_norm / (norm + 1e-6);
  return std::isfinite(norm) && factor < 1 ? static_cast<real>(factor) : real(1);
}

/// Multiplies all gradients by a factor. If memory runs out, no gradient has changed.
inline void scale_gradients(const std::vector<Parameter>& parameters, real factor) {
  if (factor == 1) return;
  const auto changes = [](const Parameter& p) { return p.trainable() && p.grad().defined(); };
  for (const Parameter& p : parameters)
    if (changes(p)) p.mutate_grad();  // allocates first, so that the loop below cannot fail
  for (const Parameter& p : parameters) {
    if (!changes(p)) continue;
    real* const g = p.mutate_grad();
    parallel_for(p.numel(), grain_for(0.1),
                 [&](Index lo, Index hi) { kernels::table().mul(g + lo, 1, &factor, 0, g + lo, hi - lo); });
  }
}

}  // namespace detail

/// Clips the norm of all gradients together to max_norm, and returns the norm before clipping. norm = sqrt(sum of the
/// squares of all elements of all gradients). If max_norm / (norm + 1e-6) is below 1, all gradients are multiplied by
/// this factor. With max_norm 0 all gradients become 0. If max_norm is infinity, the norm is only measured. Parameters
/// that are frozen or have no gradient do not count. Without any parameter the norm is 0.
///
/// A norm that is NaN or infinite is returned, and the gradients stay unchanged, so that the caller can skip the step.
/// PyTorch would set such gradients to 0 or NaN.
///
/// Errors: max_norm below 0 or NaN; a parameter that is undefined or listed twice; no memory. After an error nothing
/// has changed.
/// Source: torch.nn.utils.clip_grad_norm_.
inline double clip_grad_norm(const std::vector<Parameter>& parameters, Real max_norm) {
  check_in("clip_grad_norm", max_norm >= 0, "max_norm ", max_norm, " must be at least 0");
  std::set<const Parameter::Cell*> cells;
  for (const Parameter& p : parameters) {
    const auto at = &p - parameters.data();
    check_in("clip_grad_norm", p.defined(), "parameters[", at, "] is an empty Parameter()");
    check_in("clip_grad_norm", cells.insert(p.id()).second, "parameters[", at,
             "] is listed twice: its gradient would be scaled twice");
  }
  const double norm = detail::gradient_norm(parameters);
  detail::scale_gradients(parameters, detail::clip_factor(norm, max_norm));
  return norm;
}

}  // namespace mote
