// 16-byte registers of WebAssembly with the multiply-add of relaxed SIMD, for float only. The multiply-add is fused on
// most machines, but this is not guaranteed, so dispatch.cpp tests it. Debian's compiler is of 2022 and writes the
// opcode that the instruction had then. A program that links these kernels must replace this opcode by today's
// (examples/page/fused.js). If a browser lacks the instruction or does not fuse it, every such instruction is replaced
// by a call of mote_exact_fma(). The call has as many bytes and gives the same bits.
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
