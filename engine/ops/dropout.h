// dropout.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/array/random.h"
#include "engine/autograd/op.h"
#include "engine/base/parallel.h"

namespace mote {
namespace detail {

/// One bit per element, 16 to a word.
using KeptBits = std::vector<std::uint16_t, CachedAllocator<std::uint16_t>>;

inline KeptBits pack_bits(std::span<const std::uint8_t> flags) {
  KeptBits words((flags.size() + 15) / 16);
  for (std::size_t i = 0; i < flags.size(); ++i)
    words[i / 16] = static_cast<std::uint16_t>(words[i / 16] | (flags[i] != 0) << i % 16);
  return words;
}

/// x times `scale` where it is kept, times 0 elsewhere: infinity and NaN are not hidden.
inline Array scale_kept(const Array& x, const KeptBits& keep, real scale) {
  const Array in = x.contiguous();
  Array y = Array::empty(in.shape());
  real* const out = y.mutate();
  const auto f = kernels::table().scale_kept;
  constexpr Index word = 16;
  parallel_for(static_cast<Index>(keep.size()), grain_for(3), [&](Index lo, Index hi) {
    const Index at = lo * word;
    f(in.data() + at, keep.data() + lo, scale, out + at, std::min(hi * word, in.numel()) - at);
  });
  return y;
}

}  // namespace detail

/// Keeps each element with probability 1 - p and multiplies it by 1 / (1 - p), which preserves the mean; the others
/// become 0. The mask is PyTorch's: one 53-bit draw per element in row-major order. p = 0 is the identity and p = 1
/// gives zeros; neither draws. Keeps one bit per element for backward. Errors: p outside [0, 1], NaN. Source:
/// Srivastava et al. 2014.
inline Tensor dropout(const Tensor& x, double p, const Generator& random) {
  if (p == 0) return x;
  Op op("dropout", x);
  check(p >= 0 && p <= 1, "p = ", p, " is not a probability");
  std::vector<std::uint8_t, CachedAllocator<std::uint8_t>> keep(static_cast<std::size_t>(x.numel()));
  if (p < 1) random.bernoulli(keep, 1 - p);
  const detail::KeptBits bits = detail::pack_bits(keep);
  const real scale = p < 1 ? real(1) / static_cast<real>(1 - p) : real(0);
  return op.record(detail::scale_kept(x.array(), bits, scale), save(bits, scale),
                   [](const Array& dy, Grads& dx, const detail::KeptBits& bits, real scale) {
                     dx.add(0, detail::scale_kept(dy, bits, scale));
                   });
}

}  // namespace mote
