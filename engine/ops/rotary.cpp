// The rotation of pairs. It is not inline, because a program compiled with fused multiply-adds would get other bits.
#include "engine/ops/rotary.h"

#include <algorithm>

#include "engine/base/parallel.h"
#include "engine/ops/cost.h"

namespace mote {

Array detail::turn_pairs(const Array& x, const Array& cosines, const Array& sines, real direction, Index heads,
                         Index width) {
  Array y = copy_of(x);
  const Index length = x.shape()[-2], columns = x.shape()[-1], half = cosines.shape()[1];
  real* const out = y.mutate();
  const real *const c = cosines.data(), *const s = sines.data();
  const Index rows = columns ? y.numel() / columns : 0;
  parallel_for(rows * heads, grain_for(cost::rotated_pair * static_cast<double>(half)), [&](Index lo, Index hi) {
    for (Index task = lo; task < hi; ++task) {
      const Index row = task / heads, head = task % heads;
      real* const first = out + row * columns + head * width;
      const Index angle = row % length * half;
      for (Index i = 0; i < half; ++i) {
        const real a = first[i], b = first[i + half], sine = direction * s[angle + i];
        first[i] = a * c[angle + i] - b * sine;
        first[i + half] = b * c[angle + i] + a * sine;
      }
    }
  });
  return y;
}

}  // namespace mote
