// Oracles of what works on rows, in double and as plain loops: for ops and for the layers over them.
#pragma once

#include <functional>

#include "tests/support.h"

namespace mote::test {

using Row = std::vector<double>;

/// x [n, in] by weight [out, in] and, if there is one, bias [out] -> [n, out]. Where `in` is 0, n must be given.
inline Row linear_rows(const Row& x, const Value& weight, const Value* bias = nullptr, Index n = -1) {
  const std::size_t out = static_cast<std::size_t>(weight.shape[0]), in = static_cast<std::size_t>(weight.shape[1]);
  const std::size_t rows = n < 0 ? x.size() / in : static_cast<std::size_t>(n);
  Row y;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t o = 0; o < out; ++o) {
      double total = bias ? bias->x[o] : 0;
      for (std::size_t i = 0; i < in; ++i) total += x[row * in + i] * weight.x[o * in + i];
      y.push_back(total);
    }
  return y;
}

/// Rows of n: LayerNorm's, or RMSNorm's if they are not centred.
inline Row norm_rows(const Row& x, std::size_t n, bool centred, const Value* weight = nullptr,
                     const Value* bias = nullptr, double eps = 1e-5) {
  Row y;
  for (std::size_t row = 0; row < x.size(); row += n) {
    double mean = 0, square = 0;
    for (std::size_t i = 0; centred && i < n; ++i) mean += x[row + i] / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) square += (x[row + i] - mean) * (x[row + i] - mean) / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i)
      y.push_back((x[row + i] - mean) / std::sqrt(square + eps) * (weight ? weight->x[i] : 1) +
                  (bias ? bias->x[i] : 0));
  }
  return y;
}

inline Row mapped(Row x, const std::function<double(double)>& f) {
  for (double& v : x) v = f(v);
  return x;
}
inline double gelu_oracle(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }
inline double gelu_tanh_oracle(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}
inline double silu_oracle(double x) { return x / (1 + std::exp(-x)); }

}  // namespace mote::test
