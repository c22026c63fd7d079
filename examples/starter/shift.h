// An op of your own: shift, which moves every row of numbers to the next position.
#pragma once

#include "engine/array/join.h"
#include "engine/autograd/op.h"

namespace starter {
using namespace mote;

/// x [..., T, C] with every row moved to the next position if `later`, otherwise to the previous one. The position that
/// becomes free gets a row of zeros.
inline Array moved(const Array& x, bool later) {
  const int axis = x.rank() - 2;
  const Index T = x.shape()[axis];
  if (T == 0) return x;
  const Array free = Array::zeros(x.shape().with(axis, 1));
  return later ? joined<Array>({free, x.slice(axis, 0, T - 1)}, axis)
               : joined<Array>({x.slice(axis, 1, T), free}, axis);
}

/// y[t] = x[t - 1], y[0] = 0: x [..., T, C] -> [..., T, C]. Errors: x has fewer than two axes.
inline Tensor shift(const Tensor& x) {
  Op op("shift", x);
  check(x.dim() >= 2, "x ", x.shape(), " must be [..., T, C]");
  return op.record(moved(x.array(), true), [](const Array& dy, Grads& dx) {
    dx.add(0, moved(dy, false));  // x[t] went to y[t + 1]
  });
}

}  // namespace starter
