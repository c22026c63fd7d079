// The element-wise kernels: each is one formula over Vec, which the two loops at the top run over an array.
#pragma once

#include "engine/base/math_activations.h"
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

/// -1, 0 or 1; NaN stays NaN. The gradient of abs.
struct Sign {
  static MOTE_INLINE Vec apply(Vec x) { return select(x > Vec(0), Vec(1), select(x < Vec(0), Vec(-1), x)); }
};

/// max(x, 0), written so that NaN, which is not <= 0, passes through.
struct Relu {
  static MOTE_INLINE Vec apply(Vec x) { return select(x <= Vec(0), Vec(0), x); }
};
struct ReluBackward {
  static MOTE_INLINE Vec apply(Vec dy, Vec y) { return select(y <= Vec(0), Vec(0), dy); }
};

struct Gelu {
  static MOTE_INLINE ValueAndSlope<Vec> both(Vec x) { return v_gelu(x); }
};
struct GeluTanh {
  static MOTE_INLINE ValueAndSlope<Vec> both(Vec x) { return v_gelu_tanh(x); }
};
struct Silu {
  static MOTE_INLINE ValueAndSlope<Vec> both(Vec x) { return v_silu(x); }
};
template <class F>
struct ValueOf {
  static MOTE_INLINE Vec apply(Vec x) { return F::both(x).value; }
};
template <class F>
struct BackwardOf {
  static MOTE_INLINE Vec apply(Vec dy, Vec x) { return dy * F::both(x).slope; }
};

/// y = f(x) again and dx = dy f'(x), for little more than the cost of one.
template <class F>
void again(const real* dy, const real* x, real* y, real* dx, Index n) {
  for (Index i = 0; i < n; i += Vec::lanes) {
    const Index m = n - i < Vec::lanes ? n - i : Index(Vec::lanes);
    const bool whole = m == Vec::lanes;
    const ValueAndSlope<Vec> f = F::both(whole ? Vec::load(x + i) : Vec::load_first(x + i, m));
    const Vec d = (whole ? Vec::load(dy + i) : Vec::load_first(dy + i, m)) * f.slope;
    whole ? f.value.store(y + i) : f.value.store_first(y + i, m);
    whole ? d.store(dx + i) : d.store_first(dx + i, m);
  }
}

/// x scaled where its bit is 1, x 0 elsewhere: bit i of keep[j] for element 8 j + i.
void scale_kept(const real* x, const std::uint8_t* keep, real scale, real* y, Index n) {
  static constexpr UInt lane_bits[16] = {1,      1 << 1, 1 << 2,  1 << 3,  1 << 4,  1 << 5,  1 << 6,  1 << 7,
                                         1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15};
  const Bits own = bits(Vec::load(reinterpret_cast<const real*>(lane_bits)));
  const auto factors = [&](Index i) {
    const UInt word = static_cast<UInt>(keep[i / 8]) | static_cast<UInt>(keep[i / 8 + 1]) << 8;
    return select((Bits(word) & own) == own, Vec(scale), Vec::zero());
  };
  Index i = 0;
  for (; i + Vec::lanes <= n; i += Vec::lanes) (Vec::load(x + i) * factors(i)).store(y + i);
  if (i < n) (Vec::load_first(x + i, n - i) * factors(i)).store_first(y + i, n - i);
}

struct TanhBackward {
  static MOTE_INLINE Vec apply(Vec dy, Vec y) { return dy * (Vec(1) - y * y); }
};
struct SigmoidBackward {
  static MOTE_INLINE Vec apply(Vec dy, Vec y) { return dy * (Vec(1) - y) * y; }
};

}  // namespace
}  // namespace mote
