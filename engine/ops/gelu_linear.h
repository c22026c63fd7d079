// gelu_linear, the second half of a feed-forward network. It keeps half as much memory for backward as separate ops.
#pragma once

#include "engine/base/parallel.h"
#include "engine/ops/activation.h"
#include "engine/ops/cost.h"
#include "engine/ops/matmul.h"

namespace mote {

/// linear(gelu(x), weight, bias), equal in every bit. Only x is kept for backward, which recomputes gelu(x) together
/// with its gradient. Separate ops would keep both x and gelu(x), which are the widest arrays of a transformer. x
/// [..., in], weight [out, in], bias [out] or undefined -> [..., out]. Errors: those of linear.
inline Tensor gelu_linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                          GeluForm form = GeluForm::exact) {
  Op op("gelu_linear", x, weight, bias);
  x.array().require();
  Array h;
  {
    const NoGrad only_values;
    h = gelu(x, form).array();  // calls the op and not its kernel, so that observers see gelu
  }
  return op.record(linear(h, weight.array(), bias.array()), save(x.array().contiguous(), weight, form),
                   [](const Array& dy, Grads& dx, const Array& x, const Array& weight, GeluForm form) {
                     const kernels::Table& t = kernels::table();
                     const auto both = form == GeluForm::exact ? t.gelu_again : t.gelu_tanh_again;
                     const Array d = as_rows(dy);
                     Array dh = matmul(d, weight);  // becomes dx in place
                     Array h = Array::empty(dh.shape());
                     real* const to = dh.mutate();
                     real* const again = h.mutate();
                     parallel_for(x.numel(), grain_for(cost::exponential), [&](Index lo, Index hi) {
                       both(to + lo, x.data() + lo, again + lo, to + lo, hi - lo);
                     });
                     dx.add(0, dh.reshape(x.shape()));
                     detail::linear_weight_gradients(d, dx, h);
                   });
}

}  // namespace mote
