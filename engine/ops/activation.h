// Activation functions: tanh, sigmoid, relu, leaky_relu, softplus, gelu (two forms), silu. pointwise() makes an op
// from any function of one element.
#pragma once

#include "engine/array/combine.h"
#include "engine/autograd/op.h"
#include "engine/base/math.h"

namespace mote {

namespace detail {
/// Whether the gradient of y = f(x) is computed from x or from y.
enum class Saved { input, result };

/// The op y = f(x). The op keeps x or y for backward. From this array and dy, `backward` computes the gradient of x.
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

/// max(x, 0). The gradient at exactly 0 is 0. NaN stays NaN. The op keeps the result for backward instead of x,
/// because the next op usually keeps the same array anyway.
inline Tensor relu(const Tensor& x) {
  return detail::function("relu", x, kernels::table().relu, kernels::table().relu_backward, detail::Saved::result);
}

/// Makes an op from a function f of one element and its derivative `slope`: y = f(x), element by element.
///
///     const Tensor y = pointwise("arcsinh", x, [](real x) { return std::asinh(x); },
///                                [](real x) { return 1 / std::sqrt(x * x + 1); });
///
/// f and `slope` may capture plain numbers by value. gradcheck() reports a slope that is not the derivative of f.
template <class F, class Slope>
Tensor pointwise(OpName name, const Tensor& x, const F& f, const Slope& slope) {
  static_assert(std::is_trivially_copyable_v<Slope>, "the slope captures plain numbers alone, by value");
  Op op(name, x);
  return op.record(combine<Array>(x.array(), f), save(x, slope),
                   [](const Array& dy, Grads& dx, const Array& x, const Slope& slope) {
                     dx.add(0, combine<Array>(dy, x, [slope](real d, real at) { return d * slope(at); }));
                   });
}

/// x where x is positive, otherwise negative_slope * x. The gradient at 0 is negative_slope, as in PyTorch.
inline Tensor leaky_relu(const Tensor& x, Real negative_slope = 0.01) {
  const real below = static_cast<real>(negative_slope);
  return pointwise(
      "leaky_relu", x, [below](real x) { return x > 0 ? x : x * below; },
      [below](real x) { return x > 0 ? real(1) : below; });
}

/// log(1 + e^x), a smooth relu. Computed as max(x, 0) + log(1 + e^-|x|), in which nothing overflows.
inline Tensor softplus(const Tensor& x) {
  Op op("softplus", x);
  const auto f = [](real x) { return (x > 0 ? x : x < 0 ? 0 : x) + math::log1p(math::exp(-std::abs(x))); };
  return op.record(combine<Array>(x.array(), f), save(x), [](const Array& dy, Grads& dx, const Array& x) {
    dx.add(0, dy * map(kernels::table().sigmoid, x));  // the derivative is sigmoid(x)
  });
}

/// The two forms of GELU: the exact one, and the tanh approximation that GPT-2 was trained with.
enum class GeluForm { exact, tanh };

/// x Phi(x), where Phi(x) = (1 + erf(x / sqrt 2)) / 2 is the normal distribution function. GeluForm::tanh computes
/// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) instead. The two forms differ by less than 5e-4. Source: Hendrycks
/// and Gimpel 2016.
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
