// 32-byte registers, for x86 with AVX2 and FMA.
#pragma once

#include <immintrin.h>

namespace mote {
namespace {

#ifdef MOTE_REAL_DOUBLE
#define MOTE_OP(name) _mm256_##name##_pd
using NativeUInt = std::uint64_t;
using NativeSInt = std::int64_t;
#else
#define MOTE_OP(name) _mm256_##name##_ps
using NativeUInt = std::uint32_t;
using NativeSInt = std::int32_t;
#endif
using NativeReal = real __attribute__((vector_size(32)));
using NativeBits = NativeUInt __attribute__((vector_size(32)));
using NativeInt = NativeSInt __attribute__((vector_size(32)));
constexpr int native_lanes = 32 / sizeof(real);

/// A true lane is all ones, a false one all zeros.
struct RegMask {
  NativeInt v;
  friend MOTE_INLINE RegMask operator&(RegMask a, RegMask b) { return {a.v & b.v}; }
  friend MOTE_INLINE RegMask operator|(RegMask a, RegMask b) { return {a.v | b.v}; }
  friend MOTE_INLINE RegMask operator~(RegMask a) { return {~a.v}; }
  friend MOTE_INLINE bool any(RegMask a) { return _mm256_movemask_epi8((__m256i)a.v) != 0; }
};

MOTE_INLINE RegMask native_less(NativeReal a, NativeReal b) { return {(NativeInt)(a < b)}; }
MOTE_INLINE RegMask native_less_equal(NativeReal a, NativeReal b) { return {(NativeInt)(a <= b)}; }
MOTE_INLINE RegMask native_equal(NativeReal a, NativeReal b) { return {(NativeInt)(a == b)}; }
MOTE_INLINE RegMask native_equal(NativeBits a, NativeBits b) { return {(NativeInt)(a == b)}; }
MOTE_INLINE NativeReal native_select(RegMask m, NativeReal a, NativeReal b) {
  return MOTE_OP(blendv)(b, a, (NativeReal)m.v);
}

/// The first n lanes: a window onto a row of ones that ends in zeros.
MOTE_INLINE __m256i first_lanes(Index n) {
  static constexpr NativeSInt ones_then_zeros[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
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

#undef MOTE_OP

}  // namespace
}  // namespace mote
