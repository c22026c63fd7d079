// Registers of MOTE_REGISTER_BYTES bytes in the vector extensions that GCC and Clang share. All targets except AVX-512
// use this header.
#pragma once

namespace mote {
namespace {

using NativeUInt = Constants<real>::UInt;
using NativeReal = real __attribute__((vector_size(MOTE_REGISTER_BYTES)));
using NativeBits = NativeUInt __attribute__((vector_size(MOTE_REGISTER_BYTES)));
using NativeInt = decltype(NativeReal() < NativeReal());
using NativeWords = std::uint32_t __attribute__((vector_size(MOTE_REGISTER_BYTES)));
constexpr int native_lanes = MOTE_REGISTER_BYTES / sizeof(real);

/// A true lane is all ones, a false one all zeros.
struct RegTruths {
  NativeInt v;
  friend MOTE_INLINE RegTruths operator&(RegTruths a, RegTruths b) { return {a.v & b.v}; }
  friend MOTE_INLINE RegTruths operator|(RegTruths a, RegTruths b) { return {a.v | b.v}; }
  friend MOTE_INLINE RegTruths operator~(RegTruths a) { return {~a.v}; }
  friend MOTE_INLINE bool any(RegTruths a) {
    std::uint64_t words[MOTE_REGISTER_BYTES / 8], all = 0;
    std::memcpy(words, &a.v, sizeof words);
    for (const std::uint64_t word : words) all |= word;
    return all != 0;
  }
};

MOTE_INLINE RegTruths native_less(NativeReal a, NativeReal b) { return {a < b}; }
MOTE_INLINE RegTruths native_less_equal(NativeReal a, NativeReal b) { return {a <= b}; }
MOTE_INLINE RegTruths native_equal(NativeReal a, NativeReal b) { return {a == b}; }
MOTE_INLINE RegTruths native_equal(NativeBits a, NativeBits b) { return {(NativeInt)(a == b)}; }
MOTE_INLINE NativeReal native_select(RegTruths m, NativeReal a, NativeReal b) { return m.v ? a : b; }
// The functions native_greater_of, native_lesser_of and native_bits_below are templates, so that a target's own
// function of this name is preferred. A target defines its own if it has an instruction with the same result, also for
// NaN and -0.
MOTE_INLINE auto native_greater_of(auto a, auto b) { return b < a ? a : b; }
MOTE_INLINE auto native_lesser_of(auto a, auto b) { return a < b ? a : b; }
/// Bit i of the result tells whether word i is below x. The words and x must be below 2^31, because AVX2 can only
/// compare them as signed integers.
MOTE_INLINE unsigned native_bits_below(auto words, std::uint32_t x) {
  unsigned bits = 0;
  for (unsigned i = 0; i < sizeof words / sizeof x; ++i) bits |= static_cast<unsigned>(words[i] < x) << i;
  return bits;
}

/// load_each() and store_each() move the first n lanes one by one, for targets without masked loads and stores.
MOTE_INLINE NativeReal load_each(const real* p, Index n) {
  NativeReal r = {};
  for (int i = 0; i < native_lanes; ++i)
    if (i < n) r[i] = p[i];
  return r;
}
MOTE_INLINE void store_each(real* p, Index n, NativeReal v) {
  for (int i = 0; i < native_lanes; ++i)
    if (i < n) p[i] = v[i];
}

#undef MOTE_REGISTER_BYTES

}  // namespace
}  // namespace mote
