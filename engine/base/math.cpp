// Scalar, one number with the interface of Vec (simd.h), and the public functions, which apply the formulas to it.
#include "engine/base/math.h"

#include <cmath>

#include "engine/base/math_trig.h"

namespace mote {
namespace {

struct OneMask {
  bool v;
  friend OneMask operator&(OneMask a, OneMask b) { return {a.v && b.v}; }
  friend OneMask operator|(OneMask a, OneMask b) { return {a.v || b.v}; }
  friend OneMask operator~(OneMask a) { return {!a.v}; }
  friend bool any(OneMask a) { return a.v; }
};

template <class T>
struct Scalar;

template <class T>
struct OneBits {
  using UInt = typename Constants<T>::UInt;
  UInt v;
  explicit OneBits(UInt x) : v(x) {}
  friend OneBits operator+(OneBits a, OneBits b) { return OneBits(a.v + b.v); }
  friend OneBits operator-(OneBits a, OneBits b) { return OneBits(a.v - b.v); }
  friend OneBits operator&(OneBits a, OneBits b) { return OneBits(a.v & b.v); }
  friend OneBits operator|(OneBits a, OneBits b) { return OneBits(a.v | b.v); }
  friend OneBits operator^(OneBits a, OneBits b) { return OneBits(a.v ^ b.v); }
  friend OneBits operator<<(OneBits a, UInt k) { return OneBits(a.v << k); }
  friend OneBits operator>>(OneBits a, UInt k) { return OneBits(a.v >> k); }
  friend OneMask operator==(OneBits a, OneBits b) { return {a.v == b.v}; }
  friend Scalar<T> as_real(OneBits a) { return Scalar<T>(__builtin_bit_cast(T, a.v)); }
};

template <class T>
struct Scalar {
  using Real = T;
  using Bits = OneBits<T>;
  using Mask = OneMask;
  static constexpr int lanes = 1;
  T v;
  explicit Scalar(T x) : v(x) {}
  static Scalar load(const T* p) { return Scalar(*p); }
  void store(T* p) const { *p = v; }
  friend Scalar operator+(Scalar a, Scalar b) { return Scalar(a.v + b.v); }
  friend Scalar operator-(Scalar a, Scalar b) { return Scalar(a.v - b.v); }
  friend Scalar operator*(Scalar a, Scalar b) { return Scalar(a.v * b.v); }
  friend Scalar operator/(Scalar a, Scalar b) { return Scalar(a.v / b.v); }
  friend Scalar operator-(Scalar a) { return Scalar(-a.v); }
  friend Mask operator<(Scalar a, Scalar b) { return {a.v < b.v}; }
  friend Mask operator<=(Scalar a, Scalar b) { return {a.v <= b.v}; }
  friend Mask operator==(Scalar a, Scalar b) { return {a.v == b.v}; }
  friend Scalar fma(Scalar a, Scalar b, Scalar c) { return Scalar(std::fma(a.v, b.v, c.v)); }
  friend Scalar select(Mask m, Scalar a, Scalar b) { return m.v ? a : b; }
  friend Scalar lesser_of(Scalar a, Scalar b) { return a.v < b.v ? a : b; }
  friend Scalar greater_of(Scalar a, Scalar b) { return b.v < a.v ? a : b; }
  friend Scalar abs(Scalar a) { return as_real(bits(a) & Bits(~typename Bits::UInt(0) >> 1)); }
  friend Bits bits(Scalar a) { return Bits(__builtin_bit_cast(typename Bits::UInt, a.v)); }
};

}  // namespace

namespace math {

float exp(float x) { return v_exp(Scalar<float>(x)).v; }
double exp(double x) { return v_exp(Scalar<double>(x)).v; }
float expm1(float x) { return v_expm1(Scalar<float>(x)).v; }
double expm1(double x) { return v_expm1(Scalar<double>(x)).v; }
float log(float x) { return v_log(Scalar<float>(x)).v; }
double log(double x) { return v_log(Scalar<double>(x)).v; }
float log1p(float x) { return v_log1p(Scalar<float>(x)).v; }
double log1p(double x) { return v_log1p(Scalar<double>(x)).v; }
float sin(float x) { return v_sin(Scalar<float>(x)).v; }
double sin(double x) { return v_sin(Scalar<double>(x)).v; }
float cos(float x) { return v_cos(Scalar<float>(x)).v; }
double cos(double x) { return v_cos(Scalar<double>(x)).v; }
float pow(float x, float y) { return v_pow(Scalar<float>(x), Scalar<float>(y)).v; }
double pow(double x, double y) { return v_pow(Scalar<double>(x), Scalar<double>(y)).v; }
float product(float x, float y) { return x * y; }
double product(double x, double y) { return x * y; }

}  // namespace math
}  // namespace mote
