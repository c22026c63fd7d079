// 16-byte registers with the fused multiply-add that every 64-bit ARM has.
#pragma once

#define MOTE_REGISTER_BYTES 16
#include <arm_neon.h>

#include "engine/kernels/target/lanes_vector.h"

namespace mote {
namespace {

constexpr int register_count = 32, tile_rows = 6, tile_registers = 4;

#ifdef MOTE_REAL_DOUBLE
#define MOTE_OP(name) name##q_f64
#else
#define MOTE_OP(name) name##q_f32
#endif

MOTE_INLINE NativeReal native_load_first(const real* p, Index n) { return load_each(p, n); }
MOTE_INLINE void native_store_first(real* p, Index n, NativeReal v) { store_each(p, n, v); }
MOTE_INLINE NativeReal native_sqrt(NativeReal a) { return (NativeReal)MOTE_OP(vsqrt)(a); }
MOTE_INLINE NativeReal native_fma(NativeReal a, NativeReal b, NativeReal c) {
  return (NativeReal)MOTE_OP(vfma)(c, a, b);
}

#undef MOTE_OP

}  // namespace
}  // namespace mote
