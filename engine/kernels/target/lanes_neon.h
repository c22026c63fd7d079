// 16-byte registers with the fused multiply-add that every 64-bit ARM has.
#pragma once

#include <arm_neon.h>

namespace mote {
namespace {

#ifdef MOTE_REAL_DOUBLE
#define MOTE_OP(name) name##q_f64
using NativeUInt = std::uint64_t;
using NativeSInt = std::int64_t;
#else
#define MOTE_OP(name) name##q_f32
using NativeUInt = std::uint32_t;
using NativeSInt = std::int32_t;
#endif
using NativeReal = real __attribute__((vector_size(16)));
using NativeBits = NativeUInt __attribute__((vector_size(16)));
using NativeInt = NativeSInt __attribute__((vector_size(16)));
constexpr int native_lanes = 16 / sizeof(real);

/// A true lane is all ones, a false one all zeros.
struct RegMask {
  NativeInt v;
  friend MOTE_INLINE RegMask operator&(RegMask a, RegMask b) { return {a.v & b.v}; }
  friend MOTE_INLINE RegMask operator|(RegMask a, RegMask b) { return {a.v | b.v}; }
  friend MOTE_INLINE RegMask operator~(RegMask a) { return {~a.v}; }
  friend MOTE_INLINE bool any(RegMask a) { return vmaxvq_u32((uint32x4_t)a.v) != 0; }
};

MOTE_INLINE RegMask native_less(NativeReal a, NativeReal b) { return {(NativeInt)(a < b)}; }
MOTE_INLINE RegMask native_less_equal(NativeReal a, NativeReal b) { return {(NativeInt)(a <= b)}; }
MOTE_INLINE RegMask native_equal(NativeReal a, NativeReal b) { return {(NativeInt)(a == b)}; }
MOTE_INLINE RegMask native_equal(NativeBits a, NativeBits b) { return {(NativeInt)(a == b)}; }
MOTE_INLINE NativeReal native_select(RegMask m, NativeReal a, NativeReal b) {
  return (NativeReal)((m.v & (NativeInt)a) | (~m.v & (NativeInt)b));
}

MOTE_INLINE NativeReal native_load_first(const real* p, Index n) {
  NativeReal r = {};
  for (int i = 0; i < native_lanes; ++i)
    if (i < n) r[i] = p[i];
  return r;
}
MOTE_INLINE void native_store_first(real* p, Index n, NativeReal v) {
  for (int i = 0; i < native_lanes; ++i)
    if (i < n) p[i] = v[i];
}

// The machine's own maximum and minimum differ for NaN and -0.
MOTE_INLINE NativeReal native_greater_of(NativeReal a, NativeReal b) { return native_select(native_less(b, a), a, b); }
MOTE_INLINE NativeReal native_lesser_of(NativeReal a, NativeReal b) { return native_select(native_less(a, b), a, b); }
MOTE_INLINE NativeReal native_sqrt(NativeReal a) { return (NativeReal)MOTE_OP(vsqrt)(a); }
MOTE_INLINE NativeReal native_fma(NativeReal a, NativeReal b, NativeReal c) {
  return (NativeReal)MOTE_OP(vfma)(c, a, b);
}

#undef MOTE_OP

}  // namespace
}  // namespace mote
