// The layers once more, in double and as plain loops, for oracles; and what initialisers are compared with.
#pragma once

#include <functional>

#include "tests/check_module.h"

namespace mote::test {

using Row = std::vector<double>;
constexpr std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// `prefix` + "weight" [out, in] and, if there is one, "bias": x [n, in] -> [n, out].
inline Row linear_oracle(const Weights& w, const std::string& prefix, const Row& x) {
  const Value& weight = w.at(prefix + "weight");
  const auto bias = w.find(prefix + "bias");
  const std::size_t out = at(weight.shape[0]), in = at(weight.shape[1]);
  Row y;
  for (std::size_t row = 0; row < x.size(); row += in)
    for (std::size_t o = 0; o < out; ++o) {
      double total = bias == w.end() ? 0 : bias->second.x[o];
      for (std::size_t i = 0; i < in; ++i) total += x[row + i] * weight.x[o * in + i];
      y.push_back(total);
    }
  return y;
}

/// `prefix` + "weight" [C] and maybe "bias": rows of C.
inline Row layer_norm_oracle(const Weights& w, const std::string& prefix, const Row& x, double eps = 1e-5) {
  const Row& weight = w.at(prefix + "weight").x;
  const auto bias = w.find(prefix + "bias");
  const std::size_t n = weight.size();
  Row y;
  for (std::size_t row = 0; row < x.size(); row += n) {
    double mean = 0, var = 0;
    for (std::size_t i = 0; i < n; ++i) mean += x[row + i] / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) var += (x[row + i] - mean) * (x[row + i] - mean) / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i)
      y.push_back((x[row + i] - mean) / std::sqrt(var + eps) * weight[i] + (bias == w.end() ? 0 : bias->second.x[i]));
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

/// FeedForward with GELU: x [n, C] -> [n, C].
inline Row feed_forward_oracle(const Weights& w, const std::string& prefix, const Row& x,
                               const std::function<double(double)>& f = gelu_oracle) {
  return linear_oracle(w, prefix + "c_proj.", mapped(linear_oracle(w, prefix + "c_fc.", x), f));
}

/// Initial numbers are float32 in both builds: equal to PyTorch's in every bit.
inline void check_float32(const Array& a, const std::vector<float>& expected) {
  const std::vector<real> values = a.to_vector();
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    CHECK_MESSAGE(static_cast<float>(values[i]) == expected[i], "number ", i);
  for (const real v : values) CHECK(static_cast<real>(static_cast<float>(v)) == v);
}

/// sin(a i + b) for i = 0, 1, ...: numbers that are easily made again elsewhere.
inline Array wave(const Shape& shape, double a, double b) {
  Array x = Array::empty(shape);
  real* const out = x.mutate();
  for (Index i = 0; i < x.numel(); ++i) out[i] = static_cast<real>(std::sin(a * static_cast<double>(i) + b));
  return x;
}

}  // namespace mote::test
