// The constants of math_formulas.h, once for float and once for double.
#pragma once

#include <cstdint>

#include "engine/base/real.h"

// The formulas, and the kernels that use them, are compiled once per instruction set into one program. An ordinary
// inline function would be emitted several times, and the linker would keep one version for all callers, perhaps the
// AVX-512 one, which other processors cannot run. Hence the anonymous namespaces. Inlining is forced so that an
// unoptimised build inlines the same functions.
#define MOTE_INLINE inline __attribute__((always_inline))

namespace mote {
namespace {

// Every polynomial is our own fit, made with sollya's fpminimax, which finds the best polynomial whose coefficients are
// floats or doubles. The comment above each table gives the fitted formula. In this formula p is the polynomial with
// the coefficients of the table, lowest power first. The other terms of the formula have exact coefficients. An "error"
// such as 2^-57 is the largest relative error of the formula in exact arithmetic, before rounding.
//
// A constant with _hi and _lo parts is the sum of both. ln2_hi ends in zero bits, so that n * ln2_hi is exact. `magic`
// is 1.5 * 2^mantissa. Adding `magic` to a number rounds the number to an integer, and the low bits of the sum are
// that integer.
template <class Real>
struct Constants;

template <>
struct Constants<float> {
  using UInt = std::uint32_t;
  static constexpr int mantissa = 23, width = 32;
  static constexpr UInt bias = 127, one = 0x3f800000u, sqrt_half = 0x3f3504f3u;
  static constexpr float inf = __builtin_inff(), nan = __builtin_nanf("");
  static constexpr float magic = 0x1.8p23f, two_mantissa = 0x1p23f, smallest_normal = 0x1p-126f;
  static constexpr float log2_e = 0x1.715476p0f, ln2_hi = 0x1.62e4p-1f, ln2_lo = 0x1.7f7d1cp-20f;
  static constexpr float two_over_pi = 0x1.45f306p-1f;
  static constexpr float half_pi[3] = {0x1.921fb6p0f, -0x1.777a5cp-25f, -0x1.ee59dap-50f};
  static constexpr float exp_low = -132.39f, exp_high = 100;  // exp is 0 below exp_low, and inf above exp_high
  [[maybe_unused]] static constexpr int exp_headroom =
      64;  // v_exp_below() multiplies by 2^(n + 64) and 2^-64; at exp_low, 2^(n + 64) is exactly 0: no slow underflow
  [[maybe_unused]] static constexpr float tanh_high = 10;      // above it tanh rounds to 1
  [[maybe_unused]] static constexpr float normal_high = 5.6f;  // above it Phi rounds to 1
  static constexpr float angle_high = 0x1p17f;                 // larger angles take the slow path, reduce_huge()

  // exp(r) = 1 + r + r^2 p(r) on |r| <= ln(2)/2, error 2^-28.
  static constexpr float exp[5] = {0x1.fffffap-2f, 0x1.555492p-3f, 0x1.555a26p-5f, 0x1.123982p-7f, 0x1.694ca8p-10f};
  // log((1+s)/(1-s)) = 2s + s^3 p(s^2) on |s| <= 0.1716, error 2^-35.
  static constexpr float log[4] = {0x1.555554p-1f, 0x1.999bd4p-2f, 0x1.23f1ap-2f, 0x1.ec1e3cp-3f};
  // log((1+s)/(1-s)) = 2s + (2/3) s^3 + s^5 p(s^2) on |s| <= 0.1716, error 2^-36.
  static constexpr float two_thirds_hi = 0x1.555556p-1f, two_thirds_lo = -0x1.555556p-26f;
  static constexpr float log_tail[3] = {0x1.999ap-2f, 0x1.24528p-2f, 0x1.dfa11ep-3f};
  // sin(r) = r + r^3 p(r^2), cos(r) = 1 - r^2/2 + r^4 p(r^2) on |r| <= 0.7864, error 2^-32.
  static constexpr float sin[4] = {-0x1.555556p-3f, 0x1.111164p-7f, -0x1.a04858p-13f, 0x1.77db1cp-19f};
  static constexpr float cos[3] = {0x1.55554ap-5f, -0x1.6c0c28p-10f, 0x1.99e81p-16f};
  // exp(x^2/2) Phi(-x) = p(x) on 0 <= x <= 5.6, where Phi is the normal distribution function. The absolute error of
  // p(x) exp(-x^2/2) is below 2^-26.
  [[maybe_unused]] static constexpr float normal[13] = {
      0x1p-1f,         -0x1.988432p-2f, 0x1.fffb56p-3f,  -0x1.1036bcp-3f, 0x1.fe0db2p-5f,
      -0x1.ab1e0ep-6f, 0x1.3c884ep-7f,  -0x1.9078acp-9f, 0x1.98c65ap-11f, -0x1.3a22dp-13f,
      0x1.4dc04ep-16f, -0x1.ae7b8p-20f, 0x1.f6cca8p-25f};
};

template <>
struct Constants<double> {
  using UInt = std::uint64_t;
  static constexpr int mantissa = 52, width = 64;
  static constexpr UInt bias = 1023, one = 0x3ff0000000000000u, sqrt_half = 0x3fe6a09e667f3bcdu;
  static constexpr double inf = __builtin_inf(), nan = __builtin_nan("");
  static constexpr double magic = 0x1.8p52, two_mantissa = 0x1p52, smallest_normal = 0x1p-1022;
  static constexpr double log2_e = 0x1.71547652b82fep0, ln2_hi = 0x1.62e42fefa4p-1, ln2_lo = -0x1.8432a1b0e2634p-43;
  static constexpr double two_over_pi = 0x1.45f306dc9c883p-1;
  static constexpr double half_pi[3] = {0x1.921fb54442d18p0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};
  static constexpr double exp_low = -797.81, exp_high = 720;
  [[maybe_unused]] static constexpr int exp_headroom = 128;
  [[maybe_unused]] static constexpr double tanh_high = 20;
  [[maybe_unused]] static constexpr double normal_high = 8.5;
  static constexpr double angle_high = 0x1p30;

  // exp(r) = 1 + r + r^2 p(r) on |r| <= ln(2)/2, error 2^-57.
  static constexpr double exp[10] = {0x1.000000000000ap-1,  0x1.55555555554fep-3,  0x1.55555555506b5p-5,
                                     0x1.1111111126b32p-7,  0x1.6c16c18479738p-10, 0x1.a01a012ff3e9ep-13,
                                     0x1.a0199956c1c72p-16, 0x1.71df18d75b28fp-19, 0x1.28ae058fe0b03p-22,
                                     0x1.ad93257e5f754p-26};
  // log((1+s)/(1-s)) = 2s + s^3 p(s^2) on |s| <= 0.1716, error 2^-59.
  static constexpr double log[7] = {0x1.5555555555592p-1, 0x1.999999997ff2bp-2, 0x1.24924941e082ap-2,
                                    0x1.c71c52148103fp-3, 0x1.74663d045e499p-3, 0x1.39a1e2da1ba2cp-3,
                                    0x1.2f041b97f2e52p-3};
  // log((1+s)/(1-s)) = 2s + (2/3) s^3 + s^5 p(s^2) on |s| <= 0.1716, error 2^-66.
  static constexpr double two_thirds_hi = 0x1.5555555555555p-1, two_thirds_lo = 0x1.5555555555555p-55;
  static constexpr double log_tail[7] = {0x1.9999999999b3p-2,  0x1.2492492457d62p-2, 0x1.c71c722d673p-3,
                                         0x1.745ce9e27fce6p-3, 0x1.3b1eec502348bp-3, 0x1.0f7fe08912a64p-3,
                                         0x1.0e431a3cc47d1p-3};
  // sin(r) = r + r^3 p(r^2), cos(r) = 1 - r^2/2 + r^4 p(r^2) on |r| <= 0.7864, error 2^-57 for sin, 2^-63 for cos
  static constexpr double sin[6] = {-0x1.5555555555548p-3, 0x1.111111110f747p-7,   -0x1.a01a019bedba2p-13,
                                    0x1.71de355a30dc1p-19, -0x1.ae5e500fabd75p-26, 0x1.5d8ccb88b00acp-33};
  static constexpr double cos[6] = {0x1.555555555554bp-5,   -0x1.6c16c16c15005p-10, 0x1.a01a019c8c64cp-16,
                                    -0x1.27e4f7eee413ap-22, 0x1.1ee9d999ab35dp-29,  -0x1.8fa533c62d8b9p-37};
  // exp(x^2/2) Phi(-x) = p(x) on 0 <= x <= 8.5, where Phi is the normal distribution function. The absolute error of
  // p(x) exp(-x^2/2) is below 2^-56.
  [[maybe_unused]] static constexpr double normal[29] = {
      0x1.0000000000000p-1,  -0x1.9884533d43643p-2,  0x1.ffffffffff9d1p-3,  -0x1.1058377e23e3fp-3,
      0x1.fffffffe3eae7p-5,  -0x1.b3c058af09cdbp-6,  0x1.5555544148395p-7,  -0x1.f20055a63fc0ap-9,
      0x1.5554fef3ee9bap-10, -0x1.baa830e4a6fb5p-12, 0x1.1107bfb61ea54p-13, -0x1.41bf8bf3ba754p-15,
      0x1.6b437bb5e8084p-17, -0x1.8950ae42a8349p-19, 0x1.9781f3d14c27dp-21, -0x1.91668549f8c83p-23,
      0x1.739b5f1192425p-25, -0x1.3e41a38ebf03fp-27, 0x1.eefdb61b5cb31p-30, -0x1.56af9e1de4d71p-32,
      0x1.9e0f238daa5eep-35, -0x1.abdad4b721257p-38, 0x1.72191098bcec8p-41, -0x1.05880a5f9e2d5p-44,
      0x1.24e26ac53f3cp-48,  -0x1.f25fa9614029p-53,  0x1.2ddacb9a9e3fp-57,  -0x1.ceca9370394cbp-63,
      0x1.50e717185adb9p-69};
};

/// c[0] + c[1] x + c[2] x^2 + ..., by Horner's rule, with one fused multiply-add per power.
template <int i = 0, class V, class Real, int n>
MOTE_INLINE V polynomial(V x, const Real (&c)[n]) {
  if constexpr (i + 1 == n)
    return V(c[i]);
  else
    return fma(polynomial<i + 1>(x, c), x, V(c[i]));
}

}  // namespace
}  // namespace mote
