// 16-byte registers of WebAssembly with the multiply-add of relaxed SIMD, in float alone. It is fused on most machines,
// not by promise: dispatch.cpp looks whether it is. Debian's compiler is of 2022 and writes the number that the
// instruction had then. What links these kernels has to exchange it (examples/page/fused.js). Where a browser lacks
// the instruction, or does not fuse it, each one becomes a call of mote_exact_fma(): as many bytes, and the same bits.
#pragma once

#define MOTE_REGISTER_BYTES 16
#include <wasm_simd128.h>

#include "engine/kernels/target/lanes_wasm.h"

extern "C" __attribute__((export_name("mote_exact_fma"))) v128_t mote_exact_fma(v128_t a, v128_t b, v128_t c);
v128_t mote_exact_fma(v128_t a, v128_t b, v128_t c) { return mote::exact_multiply_add(a, b, c); }

namespace mote {
namespace {

MOTE_INLINE NativeReal native_fma(NativeReal a, NativeReal b, NativeReal c) {
  return __builtin_wasm_fma_f32x4(a, b, c);
}

}  // namespace
}  // namespace mote
