// The rotation of pairs. Compiled here: fused into other multiply-adds it would give other bits.
#include "engine/ops/rotary.h"

#include <algorithm>

#include "engine/base/parallel.h"

namespace mote {

Array detail::turn_pairs(const Array& x, const Array& cosines, const Array& sines, real direction) {
  Array y = copy_of(x);
  const Index length = x.shape()[-2], width = x.shape()[-1], half = cosines.shape()[1];
  real* const out = y.mutate();
  const real *const c = cosines.data(), *const s = sines.data();
  const Index rows = width ? y.numel() / width : 0;
  parallel_for(rows, 4096 / std::max<Index>(width, 1) + 1, [&](Index lo, Index hi) {
    for (Index row = lo; row < hi; ++row) {
      real* const first = out + row * width;
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
