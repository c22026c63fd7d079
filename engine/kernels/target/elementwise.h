// The loops of the element-wise kernels. Each such kernel in table.cpp is one formula in one of these loops.
#pragma once

#include "engine/kernels/kernels.h"
#include "engine/kernels/target/rows.h"

namespace mote {
namespace {

/// The vector of one step of a loop: one register, or a pair of registers if registers are narrow. In a pair, the
/// operations of one register run while those of the other wait for their results.
using Step = std::conditional_t<Reg::lanes == Vec::lanes, Reg, PairOf<Reg>>;

/// Runs body.operator()<V>(i, n) over [0, count). V is Step and n its number of lanes. For the elements that remain at
/// the end, V is Reg and n is how many elements are left.
template <class Body>
MOTE_INLINE void for_elements(Index count, const Body& body) {
  Index i = 0;
  for (; i + Step::lanes <= count; i += Step::lanes) body.template operator()<Step>(i, Step::lanes);
  for (; i < count; i += Reg::lanes) body.template operator()<Reg>(i, count - i);
}

/// An operand of a loop: a row of elements, or a single number if step is 0. For a single number, `row` holds as many
/// copies of the number as a Step has lanes.
struct Operand {
  const real* row;
  Index step;
};

/// The operand made of n elements that are `stride` apart. Adjacent elements are read in place, and others are copied
/// to `buffer`.
Operand operand(const real* p, Index stride, Index n, real* buffer) {
  if (stride == 1) return {p, 1};
  if (stride == 0) return Step(*p).store(buffer), Operand{buffer, 0};
  for (Index i = 0; i < n; i += Reg::lanes) Reg::load_strided(p + i * stride, stride, n - i).store(buffer + i);
  return {buffer, 1};
}

/// Runs `loop` over two operands, at least one of which is not a contiguous row. Operands with a stride other than 0
/// and 1 are copied, 256 elements at a time.
void gather(void (*loop)(Operand, Operand, real*, Index), const real* a, Index a_stride, const real* b, Index b_stride,
            real* y, Index n) {
  real left[256], right[256];
  const auto copied = [](Index stride) { return stride != 0 && stride != 1; };
  const Index most = copied(a_stride) || copied(b_stride) ? 256 : n;
  for (Index m; n > 0; n -= m, a += m * a_stride, b += m * b_stride, y += m) {
    m = n < most ? n : most;
    loop(operand(a, a_stride, m, left), operand(b, b_stride, m, right), y, m);
  }
}

// Each loop is flattened, because otherwise the compiler might call a long formula f instead of inlining it.

/// y = f(a, b). Lanes beyond the last element get 1 as their right operand, since 0 / 0 may trap.
template <auto f>
[[gnu::flatten]] void loop(Operand a, Operand b, real* y, Index n) {
  for_elements(n, [&]<class V>(Index i, Index m) {
    store_n(f(load_n<V>(a.row + i * a.step, m), one_beyond(load_n<V>(b.row + i * b.step, m), m)), y + i, m);
  });
}
template <auto f>
void binary(const real* a, Index a_stride, const real* b, Index b_stride, real* y, Index n) {
  a_stride == 1 && b_stride == 1 ? loop<f>({a, 1}, {b, 1}, y, n) : gather(loop<f>, a, a_stride, b, b_stride, y, n);
}

/// Turns a formula of one number into a formula of two numbers that ignores the second one.
template <auto f>
constexpr auto of_left = [](auto a, auto) { return f(a); };
template <auto f>
void unary(const real* x, Index stride, real* y, Index n) {
  binary<of_left<f>>(x, stride, x, stride == 1, y, n);
}

/// y = f(x) and dx = dy f'(x). Both together cost little more than one of them.
template <auto f>
[[gnu::flatten]] void value_and_gradient(const real* dy, const real* x, real* y, real* dx, Index n) {
  for_elements(n, [&]<class V>(Index i, Index m) {
    const ValueAndSlope<V> both = f(load_n<V>(x + i, m));
    const V d = load_n<V>(dy + i, m) * both.slope;
    store_n(both.value, y + i, m);
    store_n(d, dx + i, m);
  });
}

/// y = x * scale for elements whose bit is 1, and x * 0 for the others. The bit of element 8 j + i is bit i of
/// keep[j].
void scale_kept(const real* x, const std::uint8_t* keep, real scale, real* y, Index n) {
  static constexpr UInt lane_bits[16] = {1,      1 << 1, 1 << 2,  1 << 3,  1 << 4,  1 << 5,  1 << 6,  1 << 7,
                                         1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15};
  const Bits own = bits(Vec::load(reinterpret_cast<const real*>(lane_bits)));
  for_lanes(n, [&](Index i, Index m) {
    const Bits word(static_cast<UInt>(keep[i / 8]) | static_cast<UInt>(keep[i / 8 + 1]) << 8);
    const Vec factors = select((word & own) == own, Vec(scale), Vec::zero());
    store_n(load_n(x + i, m) * factors, y + i, m);
  });
}

}  // namespace
}  // namespace mote
