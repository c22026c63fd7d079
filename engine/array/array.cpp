// Element-wise arithmetic and matrix products of arrays. Loops over strides call kernels, which do the arithmetic.
#include <vector>

#include "engine/array/array.h"
#include "engine/array/strided_loop.h"
#include "engine/kernels/gemm.h"

namespace mote {

void detail::library_of(real, Containers*) {}

namespace {

using detail::StridedLoop;
// Roughly the nanoseconds that an element takes. Functions vary from 0.1 to 2 nanoseconds.
constexpr double unary = 0.5, binary = 0.3;

real* fresh(Array& a) { return const_cast<real*>(a.data()); }  // Array::empty has just made `a`, so nothing shares it

}  // namespace

Array map(kernels::Unary* f, const Array& x) {
  Array y = Array::empty(x.shape());
  real* const out = fresh(y);
  if (y.numel() <= grain_for(unary) && x.is_contiguous()) {  // a shortcut for nearly every op of a small model
    f(x.data(), 1, out, y.numel());
    return y;
  }
  const StridedLoop loop(x.shape(), x.strides(), x.strides());
  loop.run(x.numel(), unary,
           [&](Index oa, Index, Index at, Index n) { f(x.data() + oa, loop.inner_a(), out + at, n); });
  return y;
}

namespace {

/// Applies f to pairs of elements of a and b over `shape`. Each input has its own strides.
Array zip_strided(kernels::Binary* f, const Shape& shape, const real* a, const Strides& a_strides, const real* b,
                  const Strides& b_strides) {
  Array y = Array::empty(shape);
  real* const out = fresh(y);
  const StridedLoop loop(shape, a_strides, b_strides);
  loop.run(y.numel(), binary, [&](Index from_a, Index from_b, Index at, Index n) {
    f(a + from_a, loop.inner_a(), b + from_b, loop.inner_b(), out + at, n);
  });
  return y;
}

/// Adds x to the elements of an array of the same shape, which begin at `to` and have the given strides.
void add_to(real* to, const Strides& strides, const Array& x) {
  const StridedLoop loop(x.shape(), strides, x.strides());
  const auto f = kernels::table().add;
  loop.run(x.numel(), binary, [&](Index at, Index from, Index, Index n) {
    if (loop.inner_a() == 1) return f(to + at, 1, x.data() + from, loop.inner_b(), to + at, n);
    for (Index i = 0; i < n; ++i) to[at + i * loop.inner_a()] += x.data()[from + i * loop.inner_b()];
  });
}

}  // namespace

Array zip(kernels::Binary* f, const Array& a, const Array& b) {
  const bool same = a.shape() == b.shape();
  if (same && a.numel() <= grain_for(binary) && a.is_contiguous() && b.is_contiguous()) {
    Array y = Array::empty(a.shape());
    f(a.data(), 1, b.data(), 1, fresh(y), y.numel());
    return y;
  }
  const Shape shape = same ? a.shape() : broadcast(a.shape(), b.shape());
  return zip_strided(f, shape, a.data(), a.layout().expand(shape).strides(), b.data(),
                     b.layout().expand(shape).strides());
}

Array zip(kernels::Binary* f, const Array& a, real b) {
  if (a.numel() <= grain_for(binary) && a.is_contiguous()) {
    Array y = Array::empty(a.shape());
    f(a.data(), 1, &b, 0, fresh(y), y.numel());
    return y;
  }
  return zip_strided(f, a.shape(), a.data(), a.strides(), &b, {});
}

Array zip(kernels::Binary* f, real a, const Array& b) {
  return zip_strided(f, b.shape(), &a, {}, b.data(), b.strides());
}

void accumulate(Array& total, const Array& x) {
  check_in("accumulate", total.shape() == x.shape(), "total ", total.shape(), " and x ", x.shape(),
           " must have the same shape");
  real* const to = total.mutate();
  add_to(to, total.strides(), x);
}

void accumulate_slice(Array& total, Integer axis, Integer start, Integer end, Integer step, const Array& x) {
  real* const base = total.mutate();
  const Array part = total.slice(axis, start, end, step);
  check_in("accumulate_slice", part.shape() == x.shape(), "x ", x.shape(), " must have the shape of the slice, ",
           part.shape());
  add_to(base + (part.data() - total.data()), part.strides(), x);
}

namespace {

kernels::Matrix matrix(const Array& x) { return {x.data(), x.stride(-2), x.stride(-1)}; }

/// The distances in elements from the first matrix of x to each of its `count` matrices.
std::vector<Index, CachedAllocator<Index>> matrix_offsets(const Array& x, Index count) {
  std::vector<Index, CachedAllocator<Index>> offsets(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) offsets[static_cast<std::size_t>(i)] = x.layout().offset_of_part(i, 2);
  return offsets;
}

}  // namespace

Array matmul(const Array& a, const Array& b) {
  check_in("matmul", a.rank() >= 1 && b.rank() >= 1, "shapes ", a.shape(), " and ", b.shape(),
           ": a scalar has no rows or columns; multiply with * instead");
  const Index k = a.shape()[-1], rows = b.shape()[b.rank() == 1 ? 0 : -2];
  check_in("matmul", rows == k, "shapes ", a.shape(), " and ", b.shape(), " do not multiply (the ", k,
           " columns of the first against the ", rows, " rows of the second)");
  if (a.rank() == 1) return matmul(a.unsqueeze(0), b).squeeze(b.rank() == 1 ? 0 : -2);
  if (b.rank() == 1) return matmul(a, b.unsqueeze(1)).squeeze(-1);
  const Index m = a.shape()[-2], n = b.shape()[-1];
  if (a.rank() == 2 && b.rank() == 2) {
    Array y = Array::empty({m, n});
    kernels::gemm(m, n, k, matrix(a), matrix(b), fresh(y), n);
    return y;
  }
  const Shape batch_a = a.shape().without(-1).without(-1), batch_b = b.shape().without(-1).without(-1);
  const Shape batch = broadcast(batch_a, batch_b), whole = batch.insert(-1, m).insert(-1, n);
  // If b is a single matrix and the strides of a allow it, all matrices of a are joined into one tall matrix.
  if (const Shape joined{batch.numel() * m, k}; batch_b.numel() == 1 && a.layout().try_view(joined))
    return matmul(a.reshape(joined), b.reshape({k, n})).reshape(whole);
  const Array x = a.expand(batch.insert(-1, m).insert(-1, k)), z = b.expand(batch.insert(-1, k).insert(-1, n));
  Array y = Array::empty(whole);
  const auto at_x = matrix_offsets(x, batch.numel()), at_z = matrix_offsets(z, batch.numel());
  kernels::gemm_batch({batch.numel(), at_x.data(), at_z.data(), m * n}, m, n, k, matrix(x), matrix(z), fresh(y), n);
  return y;
}

Array as_rows(const Array& x) {
  const Index n = x.shape()[-1];
  return x.reshape(Shape{n > 0 ? x.numel() / n : x.shape().without(-1).numel(), n});
}

Array linear(const Array& x, const Array& weight, const Array& bias) {
  check_in("linear", weight.rank() == 2, "weight must be [out, in], but has shape ", weight.shape());
  check_in("linear", x.rank() >= 1 && x.shape()[-1] == weight.shape()[1], "x ", x.shape(), " needs a last extent of ",
           weight.shape()[1], " for weight ", weight.shape());
  if (bias.defined())
    check_in("linear", bias.shape() == Shape{weight.shape()[0]}, "bias ", bias.shape(), " must be ",
             Shape{weight.shape()[0]}, " for weight ", weight.shape());
  const Index n = weight.shape()[0], k = weight.shape()[1];
  Array y = Array::empty(x.shape().with(-1, n));
  const Index m = n > 0 ? y.numel() / n : 0;
  const bool adjacent = x.is_contiguous();  // a contiguous x needs no view, which would slow down a small model
  const Array rows = adjacent ? x : as_rows(x), added = bias.defined() ? bias.contiguous() : bias;
  const kernels::Matrix a = adjacent ? kernels::Matrix{rows.data(), k, 1} : matrix(rows);
  kernels::gemm(m, n, k, a, {weight.data(), weight.stride(1), weight.stride(0)}, fresh(y), n,
                bias.defined() ? added.data() : nullptr);
  return y;
}

}  // namespace mote
