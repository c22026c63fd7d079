// 64-byte registers, for x86 with AVX-512 (F, DQ, BW and VL). Mask registers hold the truth values.
#pragma once

#include <immintrin.h>

namespace mote {
namespace {

#ifdef MOTE_REAL_DOUBLE
#define MOTE_OP(name) _mm512_##name##_pd
#define MOTE_COMPARE(kind) _mm512_cmp_pd_mask(a, b, kind)
#define MOTE_COMPARE_BITS _mm512_cmpeq_epi64_mask
using NativeMask = __mmask8;
#else
#define MOTE_OP(name) _mm512_##name##_ps
#define MOTE_COMPARE(kind) _mm512_cmp_ps_mask(a, b, kind)
#define MOTE_COMPARE_BITS _mm512_cmpeq_epi32_mask
using NativeMask = __mmask16;
#endif
using NativeUInt = Constants<real>::UInt;
using NativeReal = real __attribute__((vector_size(64)));
using NativeBits = NativeUInt __attribute__((vector_size(64)));
using NativeWords = std::uint32_t __attribute__((vector_size(64)));
constexpr int native_lanes = 64 / sizeof(real);
constexpr int register_count = 32, tile_rows = 14, tile_registers = 2;

struct RegTruths {
  NativeMask v;
  friend MOTE_INLINE RegTruths operator&(RegTruths a, RegTruths b) { return {NativeMask(a.v & b.v)}; }
  friend MOTE_INLINE RegTruths operator|(RegTruths a, RegTruths b) { return {NativeMask(a.v | b.v)}; }
  friend MOTE_INLINE RegTruths operator~(RegTruths a) { return {NativeMask(~a.v)}; }
  friend MOTE_INLINE bool any(RegTruths a) { return a.v != 0; }
};

MOTE_INLINE RegTruths native_less(NativeReal a, NativeReal b) { return {MOTE_COMPARE(_CMP_LT_OQ)}; }
MOTE_INLINE RegTruths native_less_equal(NativeReal a, NativeReal b) { return {MOTE_COMPARE(_CMP_LE_OQ)}; }
MOTE_INLINE RegTruths native_equal(NativeReal a, NativeReal b) { return {MOTE_COMPARE(_CMP_EQ_OQ)}; }
MOTE_INLINE RegTruths native_equal(NativeBits a, NativeBits b) { return {MOTE_COMPARE_BITS((__m512i)a, (__m512i)b)}; }
MOTE_INLINE NativeReal native_select(RegTruths m, NativeReal a, NativeReal b) { return MOTE_OP(mask_blend)(m.v, b, a); }

MOTE_INLINE NativeMask first_lanes(Index n) {
  return NativeMask(n <= 0 ? 0u : n >= native_lanes ? ~0u : (1u << n) - 1u);
}
MOTE_INLINE NativeReal native_load_first(const real* p, Index n) { return MOTE_OP(maskz_loadu)(first_lanes(n), p); }
MOTE_INLINE void native_store_first(real* p, Index n, NativeReal v) { MOTE_OP(mask_storeu)(p, first_lanes(n), v); }

// The intrinsics without a mask make GCC 12 warn about its own header (an "undefined" register is used
// uninitialised).
MOTE_INLINE NativeReal native_greater_of(NativeReal a, NativeReal b) {
  return MOTE_OP(maskz_max)(NativeMask(-1), a, b);
}
MOTE_INLINE NativeReal native_lesser_of(NativeReal a, NativeReal b) { return MOTE_OP(maskz_min)(NativeMask(-1), a, b); }
MOTE_INLINE NativeReal native_sqrt(NativeReal a) { return MOTE_OP(maskz_sqrt)(NativeMask(-1), a); }
MOTE_INLINE NativeReal native_fma(NativeReal a, NativeReal b, NativeReal c) { return MOTE_OP(fmadd)(a, b, c); }
MOTE_INLINE unsigned native_bits_below(NativeWords words, std::uint32_t x) {
  return _mm512_cmplt_epu32_mask((__m512i)words, (__m512i)(NativeWords{} + x));
}

#undef MOTE_OP
#undef MOTE_COMPARE
#undef MOTE_COMPARE_BITS

}  // namespace
}  // namespace mote
