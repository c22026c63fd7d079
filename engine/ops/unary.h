// exp, log, sqrt, sin, cos, abs: element-wise functions of one argument.
#pragma once

#include "engine/autograd/op.h"

namespace mote {

/// e^x. Above 88.72 (float) the result is infinity.
inline Tensor exp(const Tensor& x) {
  Op op("exp", x);
  Array y = map(kernels::table().exp, x.array());
  return op.record(y, save(y), [](const Array& dy, Grads& dx, const Array& y) { dx.add(0, dy * y); });
}

/// The natural logarithm: -infinity at 0, NaN below.
inline Tensor log(const Tensor& x) {
  Op op("log", x);
  return op.record(map(kernels::table().log, x.array()), save(x),
                   [](const Array& dy, Grads& dx, const Array& x) { dx.add(0, dy / x); });
}

/// The square root: NaN below 0. Its gradient 1 / (2 sqrt(x)) is infinite at 0.
inline Tensor sqrt(const Tensor& x) {
  Op op("sqrt", x);
  Array y = map(kernels::table().sqrt, x.array());
  return op.record(y, save(y), [](const Array& dy, Grads& dx, const Array& y) { dx.add(0, dy / (y * real(2))); });
}

/// Sine of an angle in radians.
inline Tensor sin(const Tensor& x) {
  Op op("sin", x);
  return op.record(map(kernels::table().sin, x.array()), save(x),
                   [](const Array& dy, Grads& dx, const Array& x) { dx.add(0, dy * map(kernels::table().cos, x)); });
}

/// Cosine of an angle in radians.
inline Tensor cos(const Tensor& x) {
  Op op("cos", x);
  return op.record(map(kernels::table().cos, x.array()), save(x),
                   [](const Array& dy, Grads& dx, const Array& x) { dx.add(0, -(dy * map(kernels::table().sin, x))); });
}

/// |x|. The gradient at 0 is 0, as in PyTorch.
inline Tensor abs(const Tensor& x) {
  Op op("abs", x);
  return op.record(map(kernels::table().abs, x.array()), save(x),
                   [](const Array& dy, Grads& dx, const Array& x) { dx.add(0, dy * map(kernels::table().sign, x)); });
}

}  // namespace mote
