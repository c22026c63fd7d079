// rotary, which rotates pairs of elements by an angle that depends on the position.
#pragma once

#include "engine/autograd/op.h"

namespace mote {
namespace detail {
/// Rotates each pair (x[i], x[i + r/2]), i < r/2, of the first `heads` heads of `width` columns. In row t the angle
/// of pair i has cosine cosines[t, i] and sine sines[t, i]. A direction of -1 rotates back. x [..., T, C], cosines
/// and sines [T, r/2].
Array turn_pairs(const Array& x, const Array& cosines, const Array& sines, real direction, Index heads, Index width);
}  // namespace detail

/// Rotary position embedding, which rotates the first r columns of each head in pairs. For i < r/2:
/// y[i] = x[i] cos - x[i + r/2] sin, y[i + r/2] = x[i + r/2] cos + x[i] sin. The other columns stay unchanged.
/// x [..., T, d], cosines and sines [T, r/2] -> [..., T, d]. With `heads` and `width`, x is [..., T, C], and the
/// heads that are rotated are its first `heads` groups of `width` columns. The dot product of two rotated rows
/// depends only on the difference of their angles, so attention can learn distances. Errors: r above d, heads beyond
/// C, lengths that differ. Source: Su et al. 2021, with the halves paired as in GPT-NeoX and Llama.
inline Tensor rotary(const Tensor& x, const Array& cosines, const Array& sines, Integer heads, Integer width) {
  Op op("rotary", x);
  check(x.dim() >= 2, "x ", x.shape(), " needs at least 2 axes, [..., length, width]");
  check(cosines.rank() == 2 && cosines.shape() == sines.shape() && cosines.shape()[0] == x.size(-2), "cosines ",
        cosines.shape(), " and sines ", sines.shape(), " must both be [", x.size(-2),
        ", pairs]: one row for each of the ", x.size(-2), " positions of x ", x.shape());
  check(heads >= 0, "heads ", heads, " must be at least 0");
  check(width >= 0, "width ", width, " must be at least 0");
  check(width == 0 || heads <= x.size(-1) / width, "x ", x.shape(), " has ", x.size(-1), " columns, too few for ",
        heads, " heads of width ", width);
  check(2 * cosines.shape()[1] <= width, "cosines ", cosines.shape(), " rotate ", 2 * cosines.shape()[1],
        " columns, but a head of x ", x.shape(), " has ", width);
  const Array c = cosines.contiguous(), s = sines.contiguous();
  return op.record(
      detail::turn_pairs(x.array(), c, s, 1, heads, width), save(c, s, Index(heads), Index(width)),
      [](const Array& dy, Grads& dx, const Array& c, const Array& s, Index heads, Index width) {
        dx.add(0, detail::turn_pairs(dy, c, s, -1, heads, width));  // the transpose of a rotation is its inverse
      });
}
inline Tensor rotary(const Tensor& x, const Array& cosines, const Array& sines) {
  return rotary(x, cosines, sines, 1, x.defined() && x.dim() > 0 ? x.size(-1) : 0);
}

}  // namespace mote
