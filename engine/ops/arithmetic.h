// + - * / and negation with broadcasting. To learn how ops are written, read this file first.
#pragma once

#include "engine/autograd/op.h"

namespace mote {

/// Element-wise a + b with broadcasting: a [...], b [...] -> broadcast(a, b). Errors: shapes that do not broadcast.
inline Tensor add(const Tensor& a, const Tensor& b) {
  Op op("add", a, b);
  return op.record(a.array() + b.array(), [](const Array& dy, Grads& dx) {
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

/// -x. The rule need not ask whether x requires a gradient, because an op without a tracked input records no rule.
inline Tensor neg(const Tensor& x) {
  Op op("neg", x);
  return op.record(-x.array(), [](const Array& dy, Grads& dx) { dx.add(0, -dy); });
}

/// x + s and x * s for a plain number s. No array is made for s.
inline Tensor add(const Tensor& x, real s) {
  Op op("add", x);
  return op.record(x.array() + s, [](const Array& dy, Grads& dx) { dx.add(0, dy); });
}
inline Tensor mul(const Tensor& x, real s) {
  Op op("mul", x);
  return op.record(x.array() * s, save(s), [](const Array& dy, Grads& dx, real s) { dx.add(0, dy * s); });
}

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator-(const Tensor& x) { return neg(x); }

inline Tensor operator+(const Tensor& x, Number auto s) { return add(x, static_cast<real>(s)); }
inline Tensor operator-(const Tensor& x, Number auto s) { return add(x, -static_cast<real>(s)); }
inline Tensor operator*(const Tensor& x, Number auto s) { return mul(x, static_cast<real>(s)); }
inline Tensor operator/(const Tensor& x, Number auto s) { return div(x, Tensor(s)); }
inline Tensor operator+(Number auto s, const Tensor& x) { return add(x, static_cast<real>(s)); }
inline Tensor operator-(Number auto s, const Tensor& x) { return sub(Tensor(s), x); }
inline Tensor operator*(Number auto s, const Tensor& x) { return mul(x, static_cast<real>(s)); }
inline Tensor operator/(Number auto s, const Tensor& x) { return div(Tensor(s), x); }

// +=, -=, *= and /= assign a new tensor to the variable on the left. The new tensor is recorded like any other. Nothing
// is changed in place. If the variable was a leaf, it is a leaf no longer. To update a weight by hand, use a Parameter
// and its set().
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

// In PyTorch, `total += loss` keeps the graphs of all steps. Here a number takes no tensor.
template <Number N>
__attribute__((unavailable("a tensor is no number: write total += x.item()"))) N& operator+=(N&, const Tensor&);
template <Number N>
__attribute__((unavailable("a tensor is no number: write total -= x.item()"))) N& operator-=(N&, const Tensor&);

/// True for the type Parameter itself, and false for types that convert to Parameter.
template <class P>
concept AParameter = std::same_as<P, Parameter>;
template <AParameter P>
__attribute__((unavailable("a Parameter changes by p.set(p.value() + p.grad() * 0.1)"))) P& operator+=(const P&,
                                                                                                       const Tensor&);
template <AParameter P>
__attribute__((unavailable("a Parameter changes by p.set(p.value() - p.grad() * 0.1)"))) P& operator-=(const P&,
                                                                                                       const Tensor&);
template <AParameter P>
__attribute__((unavailable("a Parameter changes by p.set(p.value() * 0.1)"))) P& operator*=(const P&, const Tensor&);

}  // namespace mote
