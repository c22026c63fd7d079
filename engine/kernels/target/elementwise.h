// The element-wise kernels: each is one formula over Vec, which the two loops at the top run over an array.
#pragma once

#include "engine/base/math_formulas.h"
#include "engine/kernels/target/simd.h"

namespace mote {
namespace {

/// 16 elements from p with any stride; `n` < 16 for the last ones. The three common strides are fast.
MOTE_INLINE Vec load_any(const real* p, Index stride, Index n) {
  if (stride == 0) return Vec(*p);
  if (n >= Vec::lanes) return stride == 1 ? Vec::load(p) : Vec::load_strided(p, stride);
  return stride == 1 ? Vec::load_first(p, n) : Vec::load_strided_first(p, stride, n);
}

struct Divided;
template <class F>
constexpr bool divides = false;
template <>
constexpr bool divides<Divided> = true;
/// The right operand of the last n elements: lanes that are not there divide by 1, since 0 / 0 may trap.
template <class F>
MOTE_INLINE Vec right_of(Vec b, Index n) {
  if constexpr (divides<F>)
    return n < Vec::lanes ? select(Vec::iota() < Vec(static_cast<real>(n)), b, Vec(1)) : b;
  else
    return b;
}

template <class F>
void unary(const real* x, Index sx, real* y, Index n) {
  Index i = 0;
  if (sx == 1)
    for (; i + Vec::lanes <= n; i += Vec::lanes) F::apply(Vec::load(x + i)).store(y + i);
  for (; i < n; i += Vec::lanes) F::apply(load_any(x + i * sx, sx, n - i)).store_first(y + i, n - i < 16 ? n - i : 16);
}

template <class F>
void binary(const real* a, Index sa, const real* b, Index sb, real* y, Index n) {
  Index i = 0;
  if (sa == 1 && sb == 1) {
    for (; i + Vec::lanes <= n; i += Vec::lanes) F::apply(Vec::load(a + i), Vec::load(b + i)).store(y + i);
  } else if (sa == 1 && sb == 0 && n > 0) {
    const Vec right(*b);
    for (; i + Vec::lanes <= n; i += Vec::lanes) F::apply(Vec::load(a + i), right).store(y + i);
  } else if (sa == 0 && sb == 1 && n > 0) {
    const Vec left(*a);
    for (; i + Vec::lanes <= n; i += Vec::lanes) F::apply(left, Vec::load(b + i)).store(y + i);
  }
  for (; i < n; i += Vec::lanes)
    F::apply(load_any(a + i * sa, sa, n - i), right_of<F>(load_any(b + i * sb, sb, n - i), n - i))
        .store_first(y + i, n - i < 16 ? n - i : 16);
}

struct Plus {
  static MOTE_INLINE Vec apply(Vec a, Vec b) { return a + b; }
};
struct Minus {
  static MOTE_INLINE Vec apply(Vec a, Vec b) { return a - b; }
};
struct Times {
  static MOTE_INLINE Vec apply(Vec a, Vec b) { return a * b; }
};
struct Divided {
  static MOTE_INLINE Vec apply(Vec a, Vec b) { return a / b; }
};
struct Maximum {
  static MOTE_INLINE Vec apply(Vec a, Vec b) { return maximum(a, b); }
};
struct Minimum {
  static MOTE_INLINE Vec apply(Vec a, Vec b) { return minimum(a, b); }
};
struct Pow {
  static MOTE_INLINE Vec apply(Vec a, Vec b) { return v_pow(a, b); }
};

struct Neg {
  static MOTE_INLINE Vec apply(Vec x) { return -x; }
};
struct Abs {
  static MOTE_INLINE Vec apply(Vec x) { return abs(x); }
};
struct Sqrt {
  static MOTE_INLINE Vec apply(Vec x) { return sqrt(x); }
};
struct Exp {
  static MOTE_INLINE Vec apply(Vec x) { return v_exp(x); }
};
struct Log {
  static MOTE_INLINE Vec apply(Vec x) { return v_log(x); }
};
struct Sin {
  static MOTE_INLINE Vec apply(Vec x) { return v_sin(x); }
};
struct Cos {
  static MOTE_INLINE Vec apply(Vec x) { return v_cos(x); }
};
struct Tanh {
  static MOTE_INLINE Vec apply(Vec x) { return v_tanh(x); }
};
struct Sigmoid {
  static MOTE_INLINE Vec apply(Vec x) { return v_sigmoid(x); }
};
struct Erf {
  static MOTE_INLINE Vec apply(Vec x) { return v_erf(x); }
};

/// -1, 0 or 1; NaN stays NaN. The gradient of abs.
struct Sign {
  static MOTE_INLINE Vec apply(Vec x) { return select(x > Vec(0), Vec(1), select(x < Vec(0), Vec(-1), x)); }
};

/// max(x, 0), written so that NaN, which is not <= 0, passes through.
struct Relu {
  static MOTE_INLINE Vec apply(Vec x) { return select(x <= Vec(0), Vec(0), x); }
};
struct ReluBackward {
  static MOTE_INLINE Vec apply(Vec dy, Vec x) { return select(x <= Vec(0), Vec(0), dy); }
};

/// x Phi(x) with Phi the normal distribution function, (1 + erf(x / sqrt 2)) / 2.
struct Gelu {
  static MOTE_INLINE Vec phi(Vec x) { return Vec(real(0.5)) * (Vec(1) + v_erf(x * Vec(real(0.70710678118654752440)))); }
  static MOTE_INLINE Vec apply(Vec x) { return x * phi(x); }
};
/// d/dx x Phi(x) = Phi(x) + x exp(-x^2 / 2) / sqrt(2 pi).
struct GeluBackward {
  static MOTE_INLINE Vec apply(Vec dy, Vec x) {
    const Vec density = v_exp(x * x * Vec(real(-0.5))) * Vec(real(0.39894228040143267794));
    return dy * fma(x, density, Gelu::phi(x));
  }
};

/// x/2 (1 + tanh(u)) with u = sqrt(2/pi) (x + 0.044715 x^3): GPT-2's approximation.
struct GeluTanh {
  static MOTE_INLINE Vec tanh_u(Vec x) {
    const Vec cubic = fma(x * x * x, Vec(real(0.044715)), x);
    return v_tanh(cubic * Vec(real(0.79788456080286535588)));
  }
  static MOTE_INLINE Vec apply(Vec x) { return Vec(real(0.5)) * x * (Vec(1) + tanh_u(x)); }
};
/// (1 + t)/2 + x/2 (1 - t^2) u' with t = tanh(u) and u' = sqrt(2/pi) (1 + 3 * 0.044715 x^2).
struct GeluTanhBackward {
  static MOTE_INLINE Vec apply(Vec dy, Vec x) {
    const Vec t = GeluTanh::tanh_u(x);
    const Vec slope = fma(x * x, Vec(real(0.134145)), Vec(1)) * Vec(real(0.79788456080286535588));
    const Vec half = Vec(real(0.5));
    return dy * fma(half * x * (Vec(1) - t * t), slope, half * (Vec(1) + t));
  }
};

/// x sigmoid(x).
struct Silu {
  static MOTE_INLINE Vec apply(Vec x) { return x * v_sigmoid(x); }
};
struct SiluBackward {
  static MOTE_INLINE Vec apply(Vec dy, Vec x) {
    const Vec s = v_sigmoid(x);
    return dy * s * fma(x, Vec(1) - s, Vec(1));  // s + x s (1 - s)
  }
};

struct TanhBackward {
  static MOTE_INLINE Vec apply(Vec dy, Vec y) { return dy * (Vec(1) - y * y); }
};
struct SigmoidBackward {
  static MOTE_INLINE Vec apply(Vec dy, Vec y) { return dy * (Vec(1) - y) * y; }
};

}  // namespace
}  // namespace mote
