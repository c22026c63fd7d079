// combine() applies any function of two elements to arrays or masks: comparisons, selections, logic.
#pragma once

#include <type_traits>

#include "engine/array/strided.h"
#include "engine/array/strided_loop.h"

namespace mote {

/// Calls f(i, a's element, b's element) for every position i of `shape`, in parallel. i counts in row-major order, and
/// a and b are broadcast to `shape`. The loop calls a local copy of f, so that the compiler knows that writing an
/// output does not change f. Errors: an input that does not broadcast to `shape`.
template <ArrayLike A, ArrayLike B, class F>
void for_pairs(const Shape& shape, const A& a, const B& b, const F& f) {
  constexpr double nanoseconds = 0.5;
  const detail::StridedLoop loop(shape, a.layout().expand(shape).strides(), b.layout().expand(shape).strides());
  loop.run(shape.numel(), nanoseconds, [&](Index from_a, Index from_b, Index at, Index n) {
    const auto run = [=, x = a.data() + from_a, z = b.data() + from_b](auto step_a, auto step_b) {
      for (Index i = 0; i < n; ++i) f(at + i, x[i * step_a], z[i * step_b]);
    };
    constexpr std::integral_constant<Index, 1> one;  // with a constant step of 1 the loop becomes vector instructions
    if (loop.inner_a() == 1 && loop.inner_b() == 1) return run(one, one);
    run(loop.inner_a(), loop.inner_b());
  });
}

/// y = f(a, b), element by element with broadcasting. Errors: shapes that do not broadcast.
template <ArrayLike Y, ArrayLike A, ArrayLike B, class F>
Y combine(const A& a, const B& b, const F& f) {
  const Shape shape = broadcast(a.shape(), b.shape());
  Y y = Y::empty(shape);
  auto* const out = y.mutate();
  for_pairs(shape, a, b, [out, f](Index i, auto x, auto z) { out[i] = f(x, z); });
  return y;
}
/// y = f(x), element by element.
template <ArrayLike Y, ArrayLike A, class F>
Y combine(const A& x, const F& f) {
  return combine<Y>(x, x, [f](auto value, auto) { return f(value); });
}

}  // namespace mote
