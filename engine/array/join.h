// joined() and stacked() put arrays side by side in one array. concat and stack of tensors and of IntArrays use them.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/array/strided.h"

namespace mote {

/// The parts one after the other along an axis. All other extents must be equal. Errors, which begin with the running
/// op: no parts, shapes that differ in another axis.
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

/// Parts of the same shape, one after the other along a new axis. Errors, which begin with the running op: no parts,
/// different shapes.
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
