// Activation functions: tanh, sigmoid, relu, gelu (two forms), silu.
#pragma once

#include "engine/autograd/op.h"

namespace mote {

namespace detail {
/// Records y = f(x) with a gradient that `backward` computes from dy and what is kept, x or y.
inline Tensor record_function(Op& op, const Array& y, const Array& kept, kernels::Binary* backward) {
  return op.record(y, save(kept, backward),
                   [](const Array& dy, Grads& dx, const Array& kept, kernels::Binary* backward) {
                     dx.add(0, zip(backward, dy, kept));
                   });
}
}  // namespace detail

/// Hyperbolic tangent, in [-1, 1].
inline Tensor tanh(const Tensor& x) {
  Op op("tanh", x);
  const Array y = map(kernels::table().tanh, x.array());
  return detail::record_function(op, y, y, kernels::table().tanh_backward);
}

/// 1 / (1 + e^-x), in [0, 1].
inline Tensor sigmoid(const Tensor& x) {
  Op op("sigmoid", x);
  const Array y = map(kernels::table().sigmoid, x.array());
  return detail::record_function(op, y, y, kernels::table().sigmoid_backward);
}

/// max(x, 0). The gradient at exactly 0 is 0; NaN stays NaN. Keeps the result, which the next op mostly keeps anyway.
inline Tensor relu(const Tensor& x) {
  Op op("relu", x);
  const Array y = map(kernels::table().relu, x.array());
  return detail::record_function(op, y, y, kernels::table().relu_backward);
}

/// Which GELU: the exact one, or the tanh approximation that GPT-2 was trained with.
enum class GeluForm { exact, tanh };

/// x Phi(x) with Phi the normal distribution function (1 + erf(x / sqrt 2)) / 2; or, with GeluForm::tanh,
/// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). They differ by less than 5e-4. Source: Hendrycks and Gimpel 2016.
inline Tensor gelu(const Tensor& x, GeluForm form = GeluForm::exact) {
  Op op("gelu", x);
  const kernels::Table& t = kernels::table();
  const bool exact = form == GeluForm::exact;
  const Array y = map(exact ? t.gelu : t.gelu_tanh, x.array());
  return detail::record_function(op, y, x.array(), exact ? t.gelu_backward : t.gelu_tanh_backward);
}

/// x sigmoid(x), also called swish.
inline Tensor silu(const Tensor& x) {
  Op op("silu", x);
  const Array y = map(kernels::table().silu, x.array());
  return detail::record_function(op, y, x.array(), kernels::table().silu_backward);
}

}  // namespace mote
