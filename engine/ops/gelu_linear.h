// gelu_linear, the second half of a feed-forward network with half of its memory.
#pragma once

#include "engine/base/parallel.h"
#include "engine/ops/activation.h"
#include "engine/ops/cost.h"
#include "engine/ops/matmul.h"

namespace mote {

/// linear(gelu(x), weight, bias) to the last bit, but backward keeps x alone and computes gelu(x) again, beside its
/// gradient: between the two lie the widest arrays of a transformer, and most of what its backward pass keeps.
/// x [..., in], weight [out, in], bias [out] or undefined -> [..., out]. Errors: those of linear.
inline Tensor gelu_linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                          GeluForm form = GeluForm::exact) {
  Op op("gelu_linear", x, weight, bias);
  detail::check_linear(x, weight, bias);
  Array y;
  {
    const NoGrad only_values;
    y = linear(gelu(x, form), weight, bias).array();
  }
  const Array rows = detail::as_rows(x.array()).contiguous();
  return op.record(
      y, save(rows, x.shape(), weight, form),
      [](const Array& dy, Grads& dx, const Array& x, const Shape& shape, const Array& weight, GeluForm form) {
        const kernels::Table& t = kernels::table();
        const auto both = form == GeluForm::exact ? t.gelu_again : t.gelu_tanh_again;
        const Array d = dy.reshape({x.shape()[0], weight.shape()[0]});
        Array dh = matmul(d, weight), h = Array::empty(x.shape());  // dh becomes dx in place
        real *const to = dh.mutate(), *const again = h.mutate();
        parallel_for(x.numel(), grain_for(cost::exponential),
                     [&](Index lo, Index hi) { both(to + lo, x.data() + lo, again + lo, to + lo, hi - lo); });
        dx.add(0, dh.reshape(shape));
        detail::linear_weight_gradients(d, dx, h);
      });
}

}  // namespace mote
