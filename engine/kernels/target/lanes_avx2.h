// 32-byte registers, for x86 with AVX2 and FMA.
#pragma once

#define MOTE_REGISTER_BYTES 32
#include <immintrin.h>

#include "engine/kernels/target/lanes_vector.h"

namespace mote {
namespace {

constexpr int register_count = 16, tile_rows = 6, tile_registers = 2;

#ifdef MOTE_REAL_DOUBLE
#define MOTE_OP(name) _mm256_##name##_pd
#else
#define MOTE_OP(name) _mm256_##name##_ps
#endif

/// A mask of the first n lanes, loaded from the right place in an array of ones followed by zeros.
MOTE_INLINE __m256i first_lanes(Index n) {
  static constexpr NativeUInt ones_then_zeros[16] = {~NativeUInt(0), ~NativeUInt(0), ~NativeUInt(0), ~NativeUInt(0),
                                                     ~NativeUInt(0), ~NativeUInt(0), ~NativeUInt(0), ~NativeUInt(0)};
  const Index count = n < 0 ? 0 : n < native_lanes ? n : native_lanes;
  __m256i mask;
  std::memcpy(&mask, ones_then_zeros + 8 - count, sizeof mask);
  return mask;
}
MOTE_INLINE NativeReal native_load_first(const real* p, Index n) { return MOTE_OP(maskload)(p, first_lanes(n)); }
MOTE_INLINE void native_store_first(real* p, Index n, NativeReal v) { MOTE_OP(maskstore)(p, first_lanes(n), v); }

MOTE_INLINE NativeReal native_greater_of(NativeReal a, NativeReal b) { return MOTE_OP(max)(a, b); }
MOTE_INLINE NativeReal native_lesser_of(NativeReal a, NativeReal b) { return MOTE_OP(min)(a, b); }
MOTE_INLINE NativeReal native_sqrt(NativeReal a) { return MOTE_OP(sqrt)(a); }
MOTE_INLINE NativeReal native_fma(NativeReal a, NativeReal b, NativeReal c) { return MOTE_OP(fmadd)(a, b, c); }
MOTE_INLINE unsigned native_bits_below(NativeWords words, std::uint32_t x) {
  const __m256i below = _mm256_cmpgt_epi32((__m256i)(NativeWords{} + x), (__m256i)words);
  return static_cast<unsigned>(_mm256_movemask_ps((__m256)below));
}

#undef MOTE_OP

}  // namespace
}  // namespace mote
