// joined() and stacked() put arrays side by side in one array. concat and stack of tensors and of IntArrays use them.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/array/strided.h"

namespace mote {

/// Joins the parts along an axis, one after the other. The extents of all other axes must be equal. Errors: no parts,
/// shapes that differ in another axis. The messages begin with the name of the running op.
template <ArrayLike A>
A joined(const std::vector<A>& parts, Integer axis) {
  check(!parts.empty(), "needs at least one tensor");
  const Shape& first = parts[0].shape();
  const int a = first.axis(axis);
  Index total = 0, outer = 1, inner = 1;
  for (const A& part : parts) {
    check(part.rank() == first.rank() && part.shape().with(a, 0) == first.with(a, 0), "shapes ", first, " and ",
          part.shape(), " may differ along axis ", axis, " only");
    total += part.shape()[a];
  }
  for (int i = 0; i < first.rank(); ++i)
    if (i != a) (i < a ? outer : inner) *= first[i];
  A y = A::empty(first.with(a, total));
  auto* const out = y.mutate();
  Index start = 0;
  for (const A& part : parts) {
    const A x = part.contiguous();
    const Index run = part.shape()[a] * inner;
    for (Index o = 0; o < outer; ++o) std::copy_n(x.data() + o * run, run, out + o * total * inner + start * inner);
    start += part.shape()[a];
  }
  return y;
}

/// Joins parts of the same shape along a new axis, one after the other. Errors: no parts, different shapes. The
/// messages begin with the name of the running op.
template <ArrayLike A>
A stacked(const std::vector<A>& parts, Integer axis) {
  std::vector<A> layers;
  for (const A& part : parts) {
    check(part.shape() == parts[0].shape(), "shapes ", parts[0].shape(), " and ", part.shape(), " must be the same");
    layers.push_back(part.unsqueeze(axis));
  }
  return joined(layers, axis);
}

}  // namespace mote
