// dropout.
#pragma once

#include "engine/array/random.h"
#include "engine/autograd/op.h"

namespace mote {

/// Keeps each element with probability 1 - p and multiplies it by 1 / (1 - p), which preserves the mean; the others
/// become 0. The mask is PyTorch's: one 53-bit draw per element in row-major order. p = 0 is the identity and p = 1
/// gives zeros; neither draws. Errors: p outside [0, 1], NaN. Source: Srivastava et al. 2014.
inline Tensor dropout(const Tensor& x, double p, const Generator& random) {
  if (p == 0) return x;
  Op op("dropout", x);
  check(p >= 0 && p <= 1, "p = ", p, " is not a probability");
  Array noise = Array::zeros(x.shape());
  if (p < 1) {
    std::vector<std::uint8_t, CachedAllocator<std::uint8_t>> keep(static_cast<std::size_t>(x.numel()));
    random.bernoulli(keep, 1 - p);
    real* const out = noise.mutate();
    const real scale = real(1) / static_cast<real>(1 - p);
    for (Index i = 0; i < x.numel(); ++i) out[i] = keep[static_cast<std::size_t>(i)] ? scale : real(0);
  }
  return op.record(x.array() * noise, save(noise),
                   [](const Array& dy, Grads& dx, const Array& noise) { dx.add(0, dy * noise); });
}

}  // namespace mote
