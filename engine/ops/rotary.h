// rotary, which rotates pairs of elements by an angle that depends on the position.
#pragma once

#include "engine/autograd/op.h"

namespace mote {
namespace detail {
/// Rotates each pair (x[i], x[i + r/2]), i < r/2, of row t by the angle whose cosine and sine are given for (t, i), or,
/// with direction -1, back. x [..., T, d]; cos, sin [T, r/2].
Array turn_pairs(const Array& x, const Array& cosines, const Array& sines, real direction);
}  // namespace detail

/// Rotates the first r columns of each row in pairs: y[i] = x[i] cos - x[i + r/2] sin, y[i + r/2] = x[i + r/2] cos +
/// x[i] sin for i < r/2; the other columns stay. x [..., T, d], cosines and sines [T, r/2] -> [..., T, d]. The product
/// of two rotated rows depends only on the difference of their angles: this is how attention learns distances.
/// Errors: r above d, lengths that differ. Source: Su et al. 2021, with the halves paired as in GPT-NeoX and Llama.
inline Tensor rotary(const Tensor& x, const Array& cosines, const Array& sines) {
  Op op("rotary", x);
  check(x.dim() >= 2, "x ", x.shape(), " needs a length and a width");
  check(cosines.rank() == 2 && cosines.shape() == sines.shape() && cosines.shape()[0] == x.size(-2), "cosines ",
        cosines.shape(), " and sines ", sines.shape(), " must both be [", x.size(-2), ", r / 2]");
  check(2 * cosines.shape()[1] <= x.size(-1), "there are angles for ", 2 * cosines.shape()[1], " columns, but x ",
        x.shape(), " has ", x.size(-1));
  const Array c = cosines.contiguous(), s = sines.contiguous();
  op.flops(3 * x.numel());
  return op.record(detail::turn_pairs(x.array(), c, s, 1), save(c, s),
                   [](const Array& dy, Grads& dx, const Array& c, const Array& s) {
                     dx.add(0, detail::turn_pairs(dy, c, s, -1));  // the transpose of a rotation is its inverse
                   });
}

}  // namespace mote
