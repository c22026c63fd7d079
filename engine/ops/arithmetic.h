// + - * / and negation with broadcasting, powers. The first file to read about ops.
#pragma once

#include "engine/autograd/op.h"

namespace mote {

/// Element-wise a + b with broadcasting: a [...], b [...] -> broadcast(a, b). Errors: shapes that do not broadcast.
inline Tensor add(const Tensor& a, const Tensor& b) {
  Op op("add", a, b);
  Array y = a.array() + b.array();
  op.flops(y.numel(), {0, 0});  // the gradient passes through
  return op.record(std::move(y), [](const Array& dy, Grads& dx) {
    if (dx.wants(0)) dx.add(0, dy);  // Grads::add sums over the axes that broadcasting stretched
    if (dx.wants(1)) dx.add(1, dy);
  });
}

/// Element-wise a - b with broadcasting. Errors: shapes that do not broadcast.
inline Tensor sub(const Tensor& a, const Tensor& b) {
  Op op("sub", a, b);
  return op.record(a.array() - b.array(), [](const Array& dy, Grads& dx) {
    if (dx.wants(0)) dx.add(0, dy);
    if (dx.wants(1)) dx.add(1, -dy);
  });
}

/// Element-wise a * b with broadcasting. Errors: shapes that do not broadcast.
inline Tensor mul(const Tensor& a, const Tensor& b) {
  Op op("mul", a, b);
  return op.record(a.array() * b.array(), save(a, b), [](const Array& dy, Grads& dx, const Array& a, const Array& b) {
    if (dx.wants(0)) dx.add(0, dy * b);  // d(ab)/da = b
    if (dx.wants(1)) dx.add(1, dy * a);  // d(ab)/db = a
  });
}

/// Element-wise a / b with broadcasting; division by 0 gives infinity or NaN. Errors: shapes that do not broadcast.
inline Tensor div(const Tensor& a, const Tensor& b) {
  Op op("div", a, b);
  return op.record(a.array() / b.array(), save(a, b), [](const Array& dy, Grads& dx, const Array& a, const Array& b) {
    if (dx.wants(0)) dx.add(0, dy / b);               // d(a/b)/da = 1/b
    if (dx.wants(1)) dx.add(1, -(dy * (a / b)) / b);  // d(a/b)/db = -a/b^2
  });
}

/// -x.
inline Tensor neg(const Tensor& x) {
  Op op("neg", x);
  return op.record(-x.array(), [](const Array& dy, Grads& dx) { dx.add(0, -dy); });
}

/// x + s and x * s for a plain number, without an array for s.
inline Tensor add(const Tensor& x, real s) {
  Op op("add", x);
  return op.record(x.array() + s, [](const Array& dy, Grads& dx) { dx.add(0, dy); });
}
inline Tensor mul(const Tensor& x, real s) {
  Op op("mul", x);
  return op.record(x.array() * s, save(s), [](const Array& dy, Grads& dx, real s) { dx.add(0, dy * s); });
}

namespace detail {
inline Array power(const Array& base, real exponent) {
  if (exponent == 1) return base;  // common exponents: exact, and far faster than logarithms
  if (exponent == 2) return base * base;
  if (exponent == 3) return base * base * base;
  if (exponent == real(0.5)) return map(kernels::table().sqrt, base);
  if (exponent == -1) return real(1) / base;
  return zip(kernels::table().pow, base, Array(exponent));
}
}  // namespace detail

/// x^exponent for one fixed exponent, a plain number. A negative x needs an integer exponent, else NaN. The gradient is
/// exponent x^(exponent - 1), and 0 for exponent 0.
inline Tensor pow(const Tensor& x, double power_of_x) {
  Op op("pow", x);
  const real exponent = static_cast<real>(power_of_x);
  return op.record(detail::power(x.array(), exponent), save(x, exponent),
                   [](const Array& dy, Grads& dx, const Array& x, real exponent) {
                     const bool flat = exponent == 0;
                     dx.add(0, flat ? Array::zeros(x.shape()) : dy * (detail::power(x, exponent - 1) * exponent));
                   });
}

/// a^b, element by element with broadcasting. d/da = b a^(b-1), d/db = a^b log(a) (0 where a is 0 and b >= 0).
inline Tensor pow(const Tensor& a, const Tensor& b) {
  Op op("pow", a, b);
  Array y = zip(kernels::table().pow, a.array(), b.array());
  return op.record(y, save(a, b, y), [](const Array& dy, Grads& dx, const Array& a, const Array& b, const Array& y) {
    if (dx.wants(0)) {
      const Array slope = b * zip(kernels::table().pow, a, b - real(1));
      // 0 * 0^-1 would be NaN where the power is the constant 1
      const Array exponent = b.expand(slope.shape()).contiguous();
      Array masked = slope.contiguous();
      real* const out = masked.mutate();
      for (Index i = 0; i < masked.numel(); ++i)
        if (exponent.data()[i] == 0) out[i] = 0;
      dx.add(0, dy * masked);
    }
    if (dx.wants(1)) {
      Array slope = (y * map(kernels::table().log, a)).contiguous();
      const Array base = a.expand(slope.shape()).contiguous(), exponent = b.expand(slope.shape()).contiguous();
      real* const out = slope.mutate();
      for (Index i = 0; i < slope.numel(); ++i)
        if (base.data()[i] == 0 && exponent.data()[i] >= 0) out[i] = 0;
      dx.add(1, dy * slope);
    }
  });
}

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator-(const Tensor& x) { return neg(x); }

template <Number S>
Tensor operator+(const Tensor& x, S s) {
  return add(x, static_cast<real>(s));
}
template <Number S>
Tensor operator-(const Tensor& x, S s) {
  return add(x, -static_cast<real>(s));
}
template <Number S>
Tensor operator*(const Tensor& x, S s) {
  return mul(x, static_cast<real>(s));
}
template <Number S>
Tensor operator/(const Tensor& x, S s) {
  return div(x, Tensor(s));
}
template <Number S>
Tensor operator+(S s, const Tensor& x) {
  return add(x, static_cast<real>(s));
}
template <Number S>
Tensor operator-(S s, const Tensor& x) {
  return sub(Tensor(s), x);
}
template <Number S>
Tensor operator*(S s, const Tensor& x) {
  return mul(x, static_cast<real>(s));
}
template <Number S>
Tensor operator/(S s, const Tensor& x) {
  return div(Tensor(s), x);
}

// These rebind the name on the left to a new tensor, recorded like any other: nothing is changed in place, and a leaf
// on the left is no longer a leaf. To update a weight by hand, use a Parameter and its set().
namespace detail {
inline Tensor& rebind(Tensor& a, Tensor y) {
  if (a.node() && y.node()) y.node()->replaced_leaf = a.node()->leaf || a.node()->replaced_leaf;  // for grad()'s error
  return a = std::move(y);
}
}  // namespace detail
inline Tensor& operator+=(Tensor& a, const Tensor& b) { return detail::rebind(a, add(a, b)); }
inline Tensor& operator-=(Tensor& a, const Tensor& b) { return detail::rebind(a, sub(a, b)); }
inline Tensor& operator*=(Tensor& a, const Tensor& b) { return detail::rebind(a, mul(a, b)); }
inline Tensor& operator/=(Tensor& a, const Tensor& b) { return detail::rebind(a, div(a, b)); }

}  // namespace mote
