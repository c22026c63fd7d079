// dropout.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "engine/array/random.h"
#include "engine/autograd/op.h"
#include "engine/base/parallel.h"
#include "engine/ops/cost.h"

namespace mote {
namespace detail {

/// x times `scale` where the element's bit is set, and x times 0 elsewhere. Infinity and NaN times 0 give NaN, so
/// dropout hides neither.
inline Array scale_kept(const Array& x, const Storage& bits, real scale) {
  const Array in = x.contiguous();
  Array y = Array::empty(in.shape());
  real* const out = y.mutate();
  const auto* const keep = static_cast<const std::uint8_t*>(bits.data());
  const auto f = kernels::table().scale_kept;
  constexpr Index word = 16;  // tasks begin at multiples of 16 elements, which are two whole bytes of bits
  parallel_for((in.numel() + word - 1) / word, grain_for(word * cost::simple), [&](Index lo, Index hi) {
    const Index at = lo * word;
    f(in.data() + at, keep + at / 8, scale, out + at, std::min(hi * word, in.numel()) - at);
  });
  return y;
}

/// Draws which of n elements dropout keeps: one bit for each element, 1 = kept.
inline Storage draw_kept(Index n, double p, const Generator& random) {
  const std::size_t count = static_cast<std::size_t>(n);
  const Storage bits((count + 15) / 16 * 2);
  const std::span<std::uint8_t> bytes(static_cast<std::uint8_t*>(bits.data()), bits.bytes());
  std::fill(bytes.begin(), bytes.end(), std::uint8_t(0));
  if (p < 1) random.bernoulli_bits(bytes.first((count + 7) / 8), count, 1 - p);
  return bits;
}
/// The factor of the kept elements, 1 / (1 - p), or 0 for p = 1.
inline real kept_scale(double p) { return p < 1 ? real(1) / static_cast<real>(1 - p) : real(0); }

}  // namespace detail

/// Keeps each element with probability 1 - p and multiplies it by 1 / (1 - p), which preserves the mean. The other
/// elements become 0. The mask is PyTorch's, with one 53-bit draw per element in row-major order. p = 0 returns x and
/// p = 1 gives zeros, both without a draw. One bit per element is kept for backward. Errors: p outside [0, 1], NaN.
/// Source: Srivastava et al. 2014.
inline Tensor dropout(const Tensor& x, Real p, const Generator& random) {
  if (p == 0) return x;
  Op op("dropout", x);
  check(p >= 0 && p <= 1, "p = ", p, " is not a probability");
  const Storage bits = detail::draw_kept(x.numel(), p, random);
  const real scale = detail::kept_scale(p);
  return op.record(detail::scale_kept(x.array(), bits, scale), save(bits, scale),
                   [](const Array& dy, Grads& dx, const Storage& bits, real scale) {
                     dx.add(0, detail::scale_kept(dy, bits, scale));
                   });
}

}  // namespace mote
