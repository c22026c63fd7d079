// The code that both WebAssembly targets share (lanes_simd128.h, lanes_relaxed.h): everything except native_fma(), and
// a multiply-add that is computed in double.
#pragma once

#include "engine/kernels/target/lanes_vector.h"
#include "engine/kernels/target/round_to_odd.h"

namespace mote {
namespace {

constexpr int register_count = 16, tile_rows = 4, tile_registers = 2;

MOTE_INLINE NativeReal native_load_first(const real* p, Index n) {
  if (n < native_lanes) return load_each(p, n);
  return (NativeReal)wasm_v128_load(p);
}
MOTE_INLINE void native_store_first(real* p, Index n, NativeReal v) {
  if (n < native_lanes) return store_each(p, n, v);
  wasm_v128_store(p, (v128_t)v);
}

#ifdef MOTE_REAL_DOUBLE
#define MOTE_OP(name) wasm_f64x2_##name
#else
#define MOTE_OP(name) wasm_f32x4_##name
#endif

MOTE_INLINE NativeReal native_sqrt(NativeReal a) { return (NativeReal)MOTE_OP(sqrt)((v128_t)a); }
// pmax(b, a) is b < a ? a : b, and pmin(b, a) is a < b ? a : b.
MOTE_INLINE NativeReal native_greater_of(NativeReal a, NativeReal b) {
  return (NativeReal)MOTE_OP(pmax)((v128_t)b, (v128_t)a);
}
MOTE_INLINE NativeReal native_lesser_of(NativeReal a, NativeReal b) {
  return (NativeReal)MOTE_OP(pmin)((v128_t)b, (v128_t)a);
}

#undef MOTE_OP

/// The first two lanes, converted to double.
MOTE_INLINE TwoDoubles widened(v128_t x) { return (TwoDoubles)wasm_f64x2_promote_low_f32x4(x); }
MOTE_INLINE v128_t last_two(v128_t x) { return wasm_i32x4_shuffle(x, x, 2, 3, 2, 3); }

/// a b + c of four floats, rounded once.
MOTE_INLINE v128_t exact_multiply_add(v128_t a, v128_t b, v128_t c) {
  const TwoDoubles lo = multiply_add_to_odd(widened(a), widened(b), widened(c));
  const TwoDoubles hi = multiply_add_to_odd(widened(last_two(a)), widened(last_two(b)), widened(last_two(c)));
  const v128_t first = wasm_f32x4_demote_f64x2_zero((v128_t)lo), last = wasm_f32x4_demote_f64x2_zero((v128_t)hi);
  return wasm_i32x4_shuffle(first, last, 0, 1, 4, 5);
}

}  // namespace
}  // namespace mote
