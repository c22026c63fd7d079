// Activation functions: tanh, sigmoid, relu, gelu (two forms), silu.
#pragma once

#include "engine/autograd/op.h"

namespace mote {

namespace detail {
/// What the gradient of a function needs: x, or y.
enum class Saved { input, result };

/// The op y = f(x), whose gradient `backward` computes from dy and what is kept.
inline Tensor function(OpName name, const Tensor& x, kernels::Unary* f, kernels::Binary* backward, Saved saved) {
  Op op(name, x);
  const Array y = map(f, x.array());
  return op.record(y, save(saved == Saved::result ? y : x.array(), backward),
                   [](const Array& dy, Grads& dx, const Array& kept, kernels::Binary* backward) {
                     dx.add(0, zip(backward, dy, kept));
                   });
}
}  // namespace detail

/// Hyperbolic tangent, in [-1, 1].
inline Tensor tanh(const Tensor& x) {
  return detail::function("tanh", x, kernels::table().tanh, kernels::table().tanh_backward, detail::Saved::result);
}

/// 1 / (1 + e^-x), in [0, 1].
inline Tensor sigmoid(const Tensor& x) {
  const kernels::Table& t = kernels::table();
  return detail::function("sigmoid", x, t.sigmoid, t.sigmoid_backward, detail::Saved::result);
}

/// max(x, 0). The gradient at exactly 0 is 0; NaN stays NaN. Keeps the result, which the next op mostly keeps anyway.
inline Tensor relu(const Tensor& x) {
  return detail::function("relu", x, kernels::table().relu, kernels::table().relu_backward, detail::Saved::result);
}

/// Which GELU: the exact one, or the tanh approximation that GPT-2 was trained with.
enum class GeluForm { exact, tanh };

/// x Phi(x) with Phi the normal distribution function (1 + erf(x / sqrt 2)) / 2; or, with GeluForm::tanh,
/// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). They differ by less than 5e-4. Source: Hendrycks and Gimpel 2016.
inline Tensor gelu(const Tensor& x, GeluForm form = GeluForm::exact) {
  const kernels::Table& t = kernels::table();
  const bool exact = form == GeluForm::exact;
  return detail::function("gelu", x, exact ? t.gelu : t.gelu_tanh, exact ? t.gelu_backward : t.gelu_tanh_backward,
                          detail::Saved::input);
}

/// x sigmoid(x), also called swish.
inline Tensor silu(const Tensor& x) {
  return detail::function("silu", x, kernels::table().silu, kernels::table().silu_backward, detail::Saved::input);
}

}  // namespace mote
