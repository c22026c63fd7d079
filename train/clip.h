// clip_grad_norm, which keeps one wild batch from throwing the weights far away.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/autograd/op.h"
#include "engine/base/parallel.h"

namespace mote {
namespace detail {

/// The sum of x[i]^2: blocks of 4096 in `real`, their sums in double, in an order that only the count decides.
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
  Array grad = p.grad();
  p.zero_grad();  // so that `grad` is the only handle, and mutate() need not copy
  real* const g = grad.mutate();
  const auto times = kernels::table().mul;
  parallel_for(grad.numel(), 16 * 1024, [&](Index lo, Index hi) { times(g + lo, 1, &factor, 0, g + lo, hi - lo); });
  p.set_grad(std::move(grad));
}

}  // namespace detail

/// Multiplies all gradients by max_norm / (norm + 1e-6) if that is below 1, where norm = sqrt(sum of all gradients'
/// squares), and returns the norm before. So the new norm is at most max_norm; max_norm 0 makes gradients 0, infinity
/// only measures. Parameters that are frozen or have no gradient do not count; of none at all the norm is 0.
///
/// A norm that is NaN or infinite is returned and the gradients stay as they are (PyTorch would make them 0 or NaN):
/// the caller looks at it and does not take the step. It is infinite, too, when a finite gradient's square overflows
/// `real`.
///
/// Errors: max_norm below 0 or NaN; a parameter that is undefined or listed twice; nothing has changed then.
/// Source: torch.nn.utils.clip_grad_norm_.
inline double clip_grad_norm(const std::vector<Parameter>& parameters, double max_norm) {
  check_in("clip_grad_norm", max_norm >= 0, "max_norm is ", max_norm, "; it must be 0 or above");
  std::vector<const Parameter::Cell*> cells;
  double squares = 0;
  for (const Parameter& p : parameters) {
    check_in("clip_grad_norm", p.defined(), "a parameter is not defined");
    cells.push_back(p.id());
    if (p.trainable() && p.grad().defined()) squares += detail::sum_of_squares(p.grad());
  }
  std::sort(cells.begin(), cells.end());
  check_in("clip_grad_norm", std::adjacent_find(cells.begin(), cells.end()) == cells.end(),
           "a parameter is listed twice, and its gradient would be scaled twice");
  const double norm = std::sqrt(squares), factor = max_norm / (norm + 1e-6);
  if (!std::isfinite(norm) || factor >= 1) return norm;
  for (const Parameter& p : parameters)
    if (p.trainable() && p.grad().defined()) detail::scale_gradient(p, static_cast<real>(factor));
  return norm;
}

}  // namespace mote
