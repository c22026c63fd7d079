// 16-byte registers of WebAssembly, and a fused multiply-add that is computed in double.
#pragma once

#define MOTE_REGISTER_BYTES 16
#include <wasm_simd128.h>

#include "engine/kernels/target/lanes_wasm.h"

namespace mote {
namespace {

#ifdef MOTE_REAL_DOUBLE
MOTE_INLINE NativeReal native_fma(NativeReal a, NativeReal b, NativeReal c) {
  return NativeReal{__builtin_fma(a[0], b[0], c[0]), __builtin_fma(a[1], b[1], c[1])};
}
#else
// Not inlined, because its code at every multiply-add would make a WebAssembly module many times as large.
__attribute__((noinline)) NativeReal native_fma(NativeReal a, NativeReal b, NativeReal c) {
  return (NativeReal)exact_multiply_add((v128_t)a, (v128_t)b, (v128_t)c);
}
#endif

}  // namespace
}  // namespace mote
