// Reg, one machine register with the interface of Vec, and PairOf, which combines two vectors into a wider one.
#pragma once

namespace mote {
namespace {

constexpr real counting[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/// Reads the bits of `from` as another type of the same size.
template <class To, class From>
MOTE_INLINE To reinterpret_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

/// One machine register of unsigned integers, used as bit patterns. Sums wrap around.
struct RegBits {
  using Real = struct Reg;
  using UInt = NativeUInt;
  NativeBits v;

  RegBits() = default;
  MOTE_INLINE explicit RegBits(UInt x) : v(NativeBits{} + x) {}
  MOTE_INLINE explicit RegBits(NativeBits x) : v(x) {}
  friend MOTE_INLINE RegBits operator+(RegBits a, RegBits b) { return RegBits(a.v + b.v); }
  friend MOTE_INLINE RegBits operator-(RegBits a, RegBits b) { return RegBits(a.v - b.v); }
  friend MOTE_INLINE RegBits operator&(RegBits a, RegBits b) { return RegBits(a.v & b.v); }
  friend MOTE_INLINE RegBits operator|(RegBits a, RegBits b) { return RegBits(a.v | b.v); }
  friend MOTE_INLINE RegBits operator^(RegBits a, RegBits b) { return RegBits(a.v ^ b.v); }
  friend MOTE_INLINE RegBits operator<<(RegBits a, UInt k) { return RegBits(a.v << k); }
  friend MOTE_INLINE RegBits operator>>(RegBits a, UInt k) { return RegBits(a.v >> k); }
  friend MOTE_INLINE RegTruths operator==(RegBits a, RegBits b) { return native_equal(a.v, b.v); }
};

/// One machine register of floating-point values.
struct Reg {
  using Real = real;
  using Truths = RegTruths;
  using Bits = RegBits;
  static constexpr int lanes = native_lanes;
  NativeReal v;

  Reg() = default;
  MOTE_INLINE Reg(real x) : v(x - NativeReal{}) {}  // x + 0 would turn -0 into +0; x - 0 keeps every x
  MOTE_INLINE explicit Reg(NativeReal x) : v(x) {}
  static MOTE_INLINE Reg zero() { return Reg(NativeReal{}); }
  static MOTE_INLINE Reg iota(int start = 0) { return load(counting + start); }
  static MOTE_INLINE Reg load(const real* p) {
    Reg r;
    std::memcpy(&r.v, p, sizeof r.v);
    return r;
  }
  static MOTE_INLINE Reg load_first(const real* p, Index n) { return Reg(native_load_first(p, n)); }
  static MOTE_INLINE Reg load_strided(const real* p, Index stride, Index n) {
    Reg r(real(0));
    for (Index i = 0; i < lanes && i < n; ++i) r.v[i] = p[i * stride];
    return r;
  }
  MOTE_INLINE void store(real* p) const { std::memcpy(p, &v, sizeof v); }
  MOTE_INLINE void store_first(real* p, Index n) const { native_store_first(p, n, v); }

  friend MOTE_INLINE Reg operator+(Reg a, Reg b) { return Reg(a.v + b.v); }
  friend MOTE_INLINE Reg operator-(Reg a, Reg b) { return Reg(a.v - b.v); }
  friend MOTE_INLINE Reg operator*(Reg a, Reg b) { return Reg(a.v * b.v); }
  friend MOTE_INLINE Reg operator/(Reg a, Reg b) { return Reg(a.v / b.v); }
  friend MOTE_INLINE Reg fma(Reg a, Reg b, Reg c) { return Reg(native_fma(a.v, b.v, c.v)); }
  friend MOTE_INLINE Reg greater_of(Reg a, Reg b) { return Reg(native_greater_of(a.v, b.v)); }
  friend MOTE_INLINE Reg lesser_of(Reg a, Reg b) { return Reg(native_lesser_of(a.v, b.v)); }
  friend MOTE_INLINE Reg sqrt(Reg a) { return Reg(native_sqrt(a.v)); }
  friend MOTE_INLINE Truths operator<(Reg a, Reg b) { return native_less(a.v, b.v); }
  friend MOTE_INLINE Truths operator<=(Reg a, Reg b) { return native_less_equal(a.v, b.v); }
  friend MOTE_INLINE Truths operator>(Reg a, Reg b) { return b < a; }
  friend MOTE_INLINE Truths operator!=(Reg a, Reg b) { return ~(a == b); }
  friend MOTE_INLINE Truths operator==(Reg a, Reg b) { return native_equal(a.v, b.v); }
  friend MOTE_INLINE Reg select(Truths m, Reg a, Reg b) { return Reg(native_select(m, a.v, b.v)); }
  friend MOTE_INLINE Bits bits(Reg a) { return Bits(reinterpret_as<NativeBits>(a.v)); }
};
using LaneNumbers = std::make_integer_sequence<int, Reg::lanes>;
/// Moves lane i + k to lane i, for each i < k, where k is a power of two. The other lanes have no meaning.
template <int k, int... i>
MOTE_INLINE Reg lanes_from(Reg a, std::integer_sequence<int, i...>) {
  return Reg(__builtin_shufflevector(a.v, a.v, (i | k)...));
}
MOTE_INLINE Reg as_real(RegBits b) { return Reg(reinterpret_as<NativeReal>(b.v)); }

// Registers narrower than 16 lanes are paired, and the pairs paired again, until there are 16 lanes. An operation on a
// pair is written as two operations on its halves, not as a loop, so that the compiler keeps everything in registers.

template <class Half>
struct PairTruths {
  Half lo, hi;
  friend MOTE_INLINE PairTruths operator&(PairTruths a, PairTruths b) { return {a.lo & b.lo, a.hi & b.hi}; }
  friend MOTE_INLINE PairTruths operator|(PairTruths a, PairTruths b) { return {a.lo | b.lo, a.hi | b.hi}; }
  friend MOTE_INLINE PairTruths operator~(PairTruths a) { return {~a.lo, ~a.hi}; }
  friend MOTE_INLINE bool any(PairTruths a) { return any(a.lo | a.hi); }
};

template <class Half>
struct PairOf;

template <class Half>
struct PairBits {
  using Real = PairOf<typename Half::Real>;
  using UInt = NativeUInt;
  using Truths = PairTruths<decltype(Half() == Half())>;
  Half lo, hi;

  PairBits() = default;
  MOTE_INLINE explicit PairBits(UInt x) : lo(x), hi(x) {}
  MOTE_INLINE PairBits(Half a, Half b) : lo(a), hi(b) {}
  friend MOTE_INLINE PairBits operator+(PairBits a, PairBits b) { return {a.lo + b.lo, a.hi + b.hi}; }
  friend MOTE_INLINE PairBits operator-(PairBits a, PairBits b) { return {a.lo - b.lo, a.hi - b.hi}; }
  friend MOTE_INLINE PairBits operator&(PairBits a, PairBits b) { return {a.lo & b.lo, a.hi & b.hi}; }
  friend MOTE_INLINE PairBits operator|(PairBits a, PairBits b) { return {a.lo | b.lo, a.hi | b.hi}; }
  friend MOTE_INLINE PairBits operator^(PairBits a, PairBits b) { return {a.lo ^ b.lo, a.hi ^ b.hi}; }
  friend MOTE_INLINE PairBits operator<<(PairBits a, UInt k) { return {a.lo << k, a.hi << k}; }
  friend MOTE_INLINE PairBits operator>>(PairBits a, UInt k) { return {a.lo >> k, a.hi >> k}; }
  friend MOTE_INLINE Truths operator==(PairBits a, PairBits b) { return {a.lo == b.lo, a.hi == b.hi}; }
  friend MOTE_INLINE Real as_real(PairBits a) { return {as_real(a.lo), as_real(a.hi)}; }
};

template <class Half>
struct PairOf {
  using Real = real;
  using Truths = PairTruths<typename Half::Truths>;
  using Bits = PairBits<typename Half::Bits>;
  static constexpr int lanes = 2 * Half::lanes;
  Half lo, hi;

  PairOf() = default;
  MOTE_INLINE PairOf(real x) : lo(x), hi(x) {}
  MOTE_INLINE PairOf(Half a, Half b) : lo(a), hi(b) {}
  static MOTE_INLINE PairOf zero() { return {Half::zero(), Half::zero()}; }
  static MOTE_INLINE PairOf iota(int start = 0) { return {Half::iota(start), Half::iota(start + Half::lanes)}; }
  static MOTE_INLINE PairOf load(const real* p) { return {Half::load(p), Half::load(p + Half::lanes)}; }
  static MOTE_INLINE PairOf load_first(const real* p, Index n) {
    return {Half::load_first(p, low(n)), Half::load_first(n > Half::lanes ? p + Half::lanes : p, n - low(n))};
  }
  MOTE_INLINE void store(real* p) const {
    lo.store(p);
    hi.store(p + Half::lanes);
  }
  MOTE_INLINE void store_first(real* p, Index n) const {
    lo.store_first(p, low(n));
    hi.store_first(n > Half::lanes ? p + Half::lanes : p, n - low(n));
  }
  static MOTE_INLINE Index low(Index n) { return n < Half::lanes ? n : Half::lanes; }

  friend MOTE_INLINE PairOf operator+(PairOf a, PairOf b) { return {a.lo + b.lo, a.hi + b.hi}; }
  friend MOTE_INLINE PairOf operator-(PairOf a, PairOf b) { return {a.lo - b.lo, a.hi - b.hi}; }
  friend MOTE_INLINE PairOf operator*(PairOf a, PairOf b) { return {a.lo * b.lo, a.hi * b.hi}; }
  friend MOTE_INLINE PairOf operator/(PairOf a, PairOf b) { return {a.lo / b.lo, a.hi / b.hi}; }
  friend MOTE_INLINE PairOf fma(PairOf a, PairOf b, PairOf c) { return {fma(a.lo, b.lo, c.lo), fma(a.hi, b.hi, c.hi)}; }
  friend MOTE_INLINE PairOf greater_of(PairOf a, PairOf b) { return {greater_of(a.lo, b.lo), greater_of(a.hi, b.hi)}; }
  friend MOTE_INLINE PairOf lesser_of(PairOf a, PairOf b) { return {lesser_of(a.lo, b.lo), lesser_of(a.hi, b.hi)}; }
  friend MOTE_INLINE PairOf sqrt(PairOf a) { return {sqrt(a.lo), sqrt(a.hi)}; }
  friend MOTE_INLINE Truths operator<(PairOf a, PairOf b) { return {a.lo < b.lo, a.hi < b.hi}; }
  friend MOTE_INLINE Truths operator<=(PairOf a, PairOf b) { return {a.lo <= b.lo, a.hi <= b.hi}; }
  friend MOTE_INLINE Truths operator>(PairOf a, PairOf b) { return b < a; }
  friend MOTE_INLINE Truths operator!=(PairOf a, PairOf b) { return ~(a == b); }
  friend MOTE_INLINE Truths operator==(PairOf a, PairOf b) { return {a.lo == b.lo, a.hi == b.hi}; }
  friend MOTE_INLINE PairOf select(Truths m, PairOf a, PairOf b) {
    return {select(m.lo, a.lo, b.lo), select(m.hi, a.hi, b.hi)};
  }
  friend MOTE_INLINE Bits bits(PairOf a) { return {bits(a.lo), bits(a.hi)}; }
};

}  // namespace
}  // namespace mote
