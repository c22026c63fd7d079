// How the element-wise kernels of table.cpp run over an array: each is one formula over Vec in one of these loops.
#pragma once

#include "engine/kernels/kernels.h"
#include "engine/kernels/target/rows.h"

namespace mote {
namespace {

/// At most 16 elements, n of them, `stride` apart.
MOTE_INLINE Vec load_n(const real* p, Index n, Index stride) {
  if (stride == 1) return load_n(p, n);
  if (stride == 0) return Vec(*p);
  return n == Vec::lanes ? Vec::load_strided(p, stride, Vec::lanes) : Vec::load_strided(p, stride, n);
}

// Each loop is a template over its formula f, a lambda without captures, and flattened: or the compiler might call a
// long formula instead of inlining it.

MOTE_INLINE Index at_most_16(Index n) { return n < Vec::lanes ? n : Index(Vec::lanes); }

template <auto f>
[[gnu::flatten]] void unary(const real* x, Index sx, real* y, Index n) {
  Index i = 0;
  if (sx == 1)
    for (; i + Vec::lanes <= n; i += Vec::lanes) f(Vec::load(x + i)).store(y + i);
  for (; i < n; i += Vec::lanes) {
    const Index m = at_most_16(n - i);
    store_n(f(load_n(x + i * sx, m, sx)), y + i, m);
  }
}

/// The three common strides are fast. Lanes that are not there have 1 on the right, since 0 / 0 may trap.
template <auto f>
[[gnu::flatten]] void binary(const real* a, Index sa, const real* b, Index sb, real* y, Index n) {
  Index i = 0;
  if (sa == 1 && sb == 1) {
    for (; i + Vec::lanes <= n; i += Vec::lanes) f(Vec::load(a + i), Vec::load(b + i)).store(y + i);
  } else if (sa == 1 && sb == 0 && n > 0) {
    const Vec right(*b);
    for (; i + Vec::lanes <= n; i += Vec::lanes) f(Vec::load(a + i), right).store(y + i);
  } else if (sa == 0 && sb == 1 && n > 0) {
    const Vec left(*a);
    for (; i + Vec::lanes <= n; i += Vec::lanes) f(left, Vec::load(b + i)).store(y + i);
  }
  for (; i < n; i += Vec::lanes) {
    const Index m = at_most_16(n - i);
    store_n(f(load_n(a + i * sa, m, sa), one_beyond(load_n(b + i * sb, m, sb), m)), y + i, m);
  }
}

/// y = f(x) again and dx = dy f'(x), for little more than the cost of one.
template <auto f>
[[gnu::flatten]] void value_and_gradient(const real* dy, const real* x, real* y, real* dx, Index n) {
  for (Index i = 0; i < n; i += Vec::lanes) {
    const Index m = at_most_16(n - i);
    const ValueAndSlope<Vec> both = f(load_n(x + i, m));
    const Vec d = load_n(dy + i, m) * both.slope;
    store_n(both.value, y + i, m);
    store_n(d, dx + i, m);
  }
}

/// x scaled where its bit is 1, x 0 elsewhere: bit i of keep[j] for element 8 j + i.
void scale_kept(const real* x, const std::uint8_t* keep, real scale, real* y, Index n) {
  static constexpr UInt lane_bits[16] = {1,      1 << 1, 1 << 2,  1 << 3,  1 << 4,  1 << 5,  1 << 6,  1 << 7,
                                         1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15};
  const Bits own = bits(Vec::load(reinterpret_cast<const real*>(lane_bits)));
  for_lanes(n, [&](Index i, Index m) {
    const Bits word(static_cast<UInt>(keep[i / 8]) | static_cast<UInt>(keep[i / 8 + 1]) << 8);
    const Vec factors = select((word & own) == own, Vec(scale), Vec::zero());
    store_n(load_n(x + i, m) * factors, y + i, m);
  });
}

}  // namespace
}  // namespace mote
