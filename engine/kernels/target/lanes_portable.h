// 16-byte registers for any machine, and a fused multiply-add for machines without one.
#pragma once

#define MOTE_REGISTER_BYTES 16
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "engine/kernels/target/lanes_vector.h"
#include "engine/kernels/target/round_to_odd.h"

namespace mote {
namespace {

constexpr int register_count = 16, tile_rows = 3, tile_registers = 4;

MOTE_INLINE NativeReal native_load_first(const real* p, Index n) { return load_each(p, n); }
MOTE_INLINE void native_store_first(real* p, Index n, NativeReal v) { store_each(p, n, v); }
MOTE_INLINE NativeReal native_sqrt(NativeReal a) {
#if defined(__SSE2__) && !defined(MOTE_REAL_DOUBLE)
  return (NativeReal)_mm_sqrt_ps((__m128)a);
#else
  for (int i = 0; i < native_lanes; ++i) a[i] = static_cast<real>(__builtin_sqrt(static_cast<double>(a[i])));
  return a;
#endif
}

#if defined(MOTE_REAL_DOUBLE)
MOTE_INLINE NativeReal native_fma(NativeReal a, NativeReal b, NativeReal c) {
  return NativeReal{__builtin_fma(a[0], b[0], c[0]), __builtin_fma(a[1], b[1], c[1])};
}
#elif defined(__FMA__) || !defined(__SSE2__)
MOTE_INLINE NativeReal native_fma(NativeReal a, NativeReal b, NativeReal c) {
  for (int i = 0; i < native_lanes; ++i) a[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return a;
}
#else
// The conversions are intrinsics, because GCC 12 miscompiles vector conversions. From -O2 on, it drops a round trip
// from double to float and back, and with it the rounding, when one result feeds the next call. simd_test.cpp detects
// this. The function is not inlined, because inlining was no faster and took the compiler three times as long.
__attribute__((noinline)) NativeReal native_fma(NativeReal a, NativeReal b, NativeReal c) {
  const __m128 x = (__m128)a, y = (__m128)b, z = (__m128)c;
  const TwoDoubles lo =
      multiply_add_to_odd((TwoDoubles)_mm_cvtps_pd(x), (TwoDoubles)_mm_cvtps_pd(y), (TwoDoubles)_mm_cvtps_pd(z));
  const TwoDoubles hi =
      multiply_add_to_odd((TwoDoubles)_mm_cvtps_pd(_mm_movehl_ps(x, x)), (TwoDoubles)_mm_cvtps_pd(_mm_movehl_ps(y, y)),
                          (TwoDoubles)_mm_cvtps_pd(_mm_movehl_ps(z, z)));
  return (NativeReal)_mm_movelh_ps(_mm_cvtpd_ps((__m128d)lo), _mm_cvtpd_ps((__m128d)hi));
}
#endif

}  // namespace
}  // namespace mote
