// The Fourier basis over the numbers 0 .. p - 1, the share of each frequency in a table, and a measure of sparsity.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "engine/base/math.h"
#include "engine/ops/matmul.h"
#include "engine/ops/reduce.h"
#include "engine/ops/view.h"

namespace mote {

/// The discrete Fourier basis over the numbers 0 to p - 1 for an odd p, [p, p], with orthonormal rows. Row 0 is
/// constant. Rows 2 k - 1 and 2 k belong to the frequency k = 1 .. (p - 1) / 2. Element j of row 2 k - 1 is sqrt(2/p)
/// cos(2 pi k j / p), and element j of row 2 k is sqrt(2/p) sin(2 pi k j / p). matmul(fourier_basis(p), x) gives the
/// coefficients of x [p, N]. The transpose of the basis turns the coefficients back into x. Errors: p even or below 3.
inline Tensor fourier_basis(Integer p) {
  check_in("fourier_basis", p >= 3 && p % 2 == 1, "p ", p, " must be odd and at least 3");
  Array basis = Array::full({p, p}, static_cast<real>(1 / std::sqrt(static_cast<double>(p))));
  real* const out = basis.mutate();
  const double size = std::sqrt(2 / static_cast<double>(p));
  for (Index k = 1; k <= p / 2; ++k)
    for (Index j = 0; j < p; ++j) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(k * j % p) / static_cast<double>(p);
      out[(2 * k - 1) * p + j] = static_cast<real>(size * math::cos(angle));
      out[2 * k * p + j] = static_cast<real>(size * math::sin(angle));
    }
  return basis;
}

/// The share of each frequency in the variance of x along its first axis, summed over all columns. x [p, N] ->
/// [(p - 1) / 2], of which element k - 1 is the share of frequency k. The shares add up to 1, because the constant row
/// of the basis is left out. If row j of x is a model's embedding of the number j, a few large shares are the model's
/// key frequencies. Source: Nanda et al. 2023. Errors: an x that is not [p, N], p even or below 3, columns that are all
/// constant.
inline Tensor frequency_shares(const Tensor& x) {
  check_in("frequency_shares", x.dim() == 2, "x ", x.shape(), " must be [p, N]");
  const Index p = x.size(0);
  check_in("frequency_shares", sum(max(x.array(), 0) - min(x.array(), 0)).item() > 0, "all columns of x ", x.shape(),
           " are constant: at least one must vary");
  // The mean of each column is subtracted first. Otherwise the rounding error of a large mean would count as a share.
  const Tensor waves = matmul(slice(fourier_basis(p), 0, 1, p), x.array() - sum(x.array(), 0, true) / p);
  const Tensor power = sum(Tensor(waves.array() * waves.array()), {1});
  return sum(Tensor(view(power, {p / 2, 2}).array() / sum(power.array())), {1});
}

/// The Gini coefficient of n numbers, a measure of sparsity that does not depend on their scale. No number may be
/// negative. The coefficient is the sum of |x_i - x_j| over all i and j, divided by 2 n times the sum of x. It is 0 if
/// all numbers are equal, and 1 - 1 / n if only one number is not 0. x has any shape. Errors: no numbers, a number
/// below 0 or not finite, nothing but zeros.
inline double gini(const Tensor& x) {
  std::vector<real> sorted = x.to_vector();
  double n = static_cast<double>(sorted.size()), rank = 1, total = 0, weighted = 0;
  for (const real value : sorted)
    check_in("gini", value >= 0 && std::isfinite(value), "the number ", value, " in x must be finite and at least 0");
  std::sort(sorted.begin(), sorted.end());
  for (const real value : sorted) {
    total += static_cast<double>(value);
    weighted += math::product(2 * rank++ - n - 1, static_cast<double>(value));
  }
  check_in("gini", total > 0, "x ", x.shape(), " must have at least one number above 0");
  return weighted / (n * total);
}

}  // namespace mote
