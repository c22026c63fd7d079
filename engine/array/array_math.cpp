// Arithmetic on arrays: walking strides, element-wise algebra, batched products. Kernels do the numbers.
#include <cstring>

#include "engine/array/array.h"
#include "engine/base/parallel.h"
#include "engine/kernels/gemm.h"

namespace mote {
namespace {

constexpr Index grain = 16 * 1024;  // elements per task: some microseconds of work

/// Axes of one element-wise loop over up to two inputs: axes of extent 1 are dropped and axes that lie one inside the
/// other for all inputs are joined, so that most loops have one axis and the rest as few as possible.
struct Loop {
  int rank = 0;
  std::array<Index, Shape::max_rank> extent{}, sa{}, sb{};

  Loop(const Shape& shape, const Array::Strides& a, const Array::Strides& b) {
    for (int i = 0; i < shape.rank(); ++i) {
      const std::size_t s = static_cast<std::size_t>(i), last = static_cast<std::size_t>(rank - 1);
      const Index n = shape[i];
      if (n == 1) continue;
      if (rank > 0 && sa[last] == a[s] * n && sb[last] == b[s] * n) {
        extent[last] *= n, sa[last] = a[s], sb[last] = b[s];
      } else {
        const std::size_t next = static_cast<std::size_t>(rank++);
        extent[next] = n, sa[next] = a[s], sb[next] = b[s];
      }
    }
    if (rank == 0) rank = 1, extent[0] = 1;
  }

  Index inner() const { return extent[static_cast<std::size_t>(rank - 1)]; }
  Index inner_a() const { return sa[static_cast<std::size_t>(rank - 1)]; }
  Index inner_b() const { return sb[static_cast<std::size_t>(rank - 1)]; }

  /// body(offset_a, offset_b, position in the output, count) for every stretch of the innermost axis.
  template <class Body>
  void run(Index numel, Body body) const {
    if (numel == 0) return;
    const Index n = inner();
    if (rank == 1) {
      parallel_for(n, grain, [&](Index lo, Index hi) { body(lo * sa[0], lo * sb[0], lo, hi - lo); });
      return;
    }
    parallel_for(numel / n, std::max<Index>(1, grain / n), [&](Index lo, Index hi) {
      std::array<Index, Shape::max_rank> at{};  // where the outer axes stand; counted up like the digits of a clock
      Index left = lo, oa = 0, ob = 0;
      for (int i = rank - 2; i >= 0; --i) {
        const std::size_t s = static_cast<std::size_t>(i);
        at[s] = left % extent[s];
        oa += at[s] * sa[s], ob += at[s] * sb[s];
        left /= extent[s];
      }
      for (Index row = lo; row < hi; ++row) {
        body(oa, ob, row * n, n);
        for (std::size_t s = static_cast<std::size_t>(rank - 1); s-- > 0;) {
          oa += sa[s], ob += sb[s];
          if (++at[s] < extent[s]) break;
          oa -= at[s] * sa[s], ob -= at[s] * sb[s];
          at[s] = 0;
        }
      }
    });
  }
};

real* fresh(Array& a) { return const_cast<real*>(a.data()); }  // `a` was just made by Array::empty: nobody shares it

void copy_run(const real* x, Index stride, real* y, Index n) {
  if (stride == 1 && n > 64) {  // below, the call costs more than the copying
    std::memcpy(y, x, static_cast<std::size_t>(n) * sizeof(real));
  } else if (stride == 1) {
    for (Index i = 0; i < n; ++i) y[i] = x[i];
  } else {
    for (Index i = 0; i < n; ++i) y[i] = x[i * stride];
  }
}

Array zip_scalar(kernels::Binary* f, const Array& a, real b) { return zip(f, a, Array(b)); }
Array zip_scalar(kernels::Binary* f, real a, const Array& b) { return zip(f, Array(a), b); }

}  // namespace

Array copy_of(const Array& x) {
  x.require();
  Array y = Array::empty(x.shape());
  real* const out = fresh(y);
  const Loop loop(x.shape(), x.strides(), x.strides());
  loop.run(x.numel(),
           [&](Index oa, Index, Index at, Index n) { copy_run(x.data() + oa, loop.inner_a(), out + at, n); });
  return y;
}

Array Array::contiguous() const {
  require();
  return is_contiguous() ? *this : copy_of(*this);
}

Array map(kernels::Unary* f, const Array& x) {
  x.require();
  Array y = Array::empty(x.shape());
  real* const out = fresh(y);
  const Loop loop(x.shape(), x.strides(), x.strides());
  loop.run(x.numel(), [&](Index oa, Index, Index at, Index n) { f(x.data() + oa, loop.inner_a(), out + at, n); });
  return y;
}

Array zip(kernels::Binary* f, const Array& a, const Array& b) {
  a.require();
  b.require();
  const bool same = a.shape() == b.shape();
  const Shape shape = same ? a.shape() : broadcast(a.shape(), b.shape());
  Array y = Array::empty(shape);
  real* const out = fresh(y);
  if (same && y.numel() <= grain && a.is_contiguous() && b.is_contiguous()) {  // nearly every op of a small model
    f(a.data(), 1, b.data(), 1, out, y.numel());
    return y;
  }
  const Loop loop(shape, same ? a.strides() : a.expand(shape).strides(),
                  same ? b.strides() : b.expand(shape).strides());
  loop.run(y.numel(), [&](Index oa, Index ob, Index at, Index n) {
    f(a.data() + oa, loop.inner_a(), b.data() + ob, loop.inner_b(), out + at, n);
  });
  return y;
}

using kernels::table;
Array operator+(const Array& a, const Array& b) { return zip(table().add, a, b); }
Array operator-(const Array& a, const Array& b) { return zip(table().sub, a, b); }
Array operator*(const Array& a, const Array& b) { return zip(table().mul, a, b); }
Array operator/(const Array& a, const Array& b) { return zip(table().div, a, b); }
Array operator-(const Array& x) { return map(table().neg, x); }
Array operator+(const Array& a, real b) { return zip_scalar(table().add, a, b); }
Array operator-(const Array& a, real b) { return zip_scalar(table().sub, a, b); }
Array operator*(const Array& a, real b) { return zip_scalar(table().mul, a, b); }
Array operator/(const Array& a, real b) { return zip_scalar(table().div, a, b); }
Array operator+(real a, const Array& b) { return zip_scalar(table().add, a, b); }
Array operator-(real a, const Array& b) { return zip_scalar(table().sub, a, b); }
Array operator*(real a, const Array& b) { return zip_scalar(table().mul, a, b); }
Array operator/(real a, const Array& b) { return zip_scalar(table().div, a, b); }

void accumulate(Array& total, const Array& x) {
  check_in("accumulate", total.shape() == x.shape(), "shapes ", total.shape(), " and ", x.shape(), " differ");
  const Array add = x.contiguous();
  real* const out = total.mutate();
  const auto f = table().add;
  parallel_for(total.numel(), grain,
               [&](Index lo, Index hi) { f(out + lo, 1, add.data() + lo, 1, out + lo, hi - lo); });
}

void accumulate_slice(Array& total, int axis, Index start, Index end, Index step, const Array& x) {
  real* const base = total.mutate();
  const Array place = total.slice(axis, start, end, step);
  check_in("accumulate_slice", place.shape() == x.shape(), "shape ", x.shape(), " does not fit the slice ",
           place.shape());
  if (x.numel() == 0) return;
  real* const first = base + (place.data() - total.data());
  const Loop loop(x.shape(), place.strides(), x.strides());
  const auto f = table().add;
  loop.run(x.numel(), [&](Index to, Index from, Index, Index n) {
    if (loop.inner_a() == 1) return f(first + to, 1, x.data() + from, loop.inner_b(), first + to, n);
    for (Index i = 0; i < n; ++i) first[to + i * loop.inner_a()] += x.data()[from + i * loop.inner_b()];
  });
}

Array matmul(const Array& a, const Array& b) {
  check_in("matmul", a.rank() >= 1 && b.rank() >= 1, "shapes ", a.shape(), " and ", b.shape(),
           ": a single number has no rows or columns; multiply with * instead");
  if (a.rank() == 1) return matmul(a.unsqueeze(0), b).squeeze(b.rank() == 1 ? 0 : -2);
  if (b.rank() == 1) return matmul(a, b.unsqueeze(1)).squeeze(-1);
  const Index m = a.shape()[-2], k = a.shape()[-1], n = b.shape()[-1];
  check_in("matmul", b.shape()[-2] == k, "shapes ", a.shape(), " and ", b.shape(), " do not multiply (the ", k,
           " columns of the first against the ", b.shape()[-2], " rows of the second)");
  const Shape batch_a = a.shape().without(-1).without(-1), batch_b = b.shape().without(-1).without(-1);
  const Shape batch = broadcast(batch_a, batch_b);
  const Array x = a.expand(batch.insert(-1, m).insert(-1, k)), z = b.expand(batch.insert(-1, k).insert(-1, n));
  Array y = Array::empty(batch.insert(-1, m).insert(-1, n));
  real* const out = fresh(y);
  const Index count = batch.numel();
  const auto product = [&](Index i) {
    Index left = i, oa = 0, ob = 0;
    for (int axis = batch.rank() - 1; axis >= 0; --axis) {
      oa += left % batch[axis] * x.stride(axis), ob += left % batch[axis] * z.stride(axis);
      left /= batch[axis];
    }
    kernels::gemm(m, n, k, {x.data() + oa, x.stride(-2), x.stride(-1)}, {z.data() + ob, z.stride(-2), z.stride(-1)},
                  out + i * m * n, n);
  };
  if (count < threads()) {  // few large products: each is split over the threads by gemm itself
    for (Index i = 0; i < count; ++i) product(i);
  } else {
    parallel_for(count, std::max<Index>(1, (Index(1) << 17) / std::max<Index>(m * n * k, 1)), [&](Index lo, Index hi) {
      for (Index i = lo; i < hi; ++i) product(i);
    });
  }
  return y;
}

}  // namespace mote
