// Selection by index: gather, with an index for every element along an axis; take_rows, for whole rows.
#pragma once

#include "engine/array/int_array.h"
#include "engine/autograd/op.h"
#include "engine/ops/along.h"
#include "engine/ops/embedding.h"
#include "engine/ops/view.h"

namespace mote {

/// y[..., i, ...] = x[..., index[..., i, ...], ...] along `axis`. index has x's rank and nowhere a larger extent except
/// along `axis`; the result has index's shape. Gradients of duplicated indices accumulate in row-major order.
/// Errors: another rank, an index outside [0, extent).
inline Tensor gather(const Tensor& x, Integer axis, IntArray index) {
  Op op("gather", x);
  index = index.contiguous();
  const int a = x.shape().axis(axis);
  check(index.rank() == x.dim(), "index ", index.shape(), " must have the rank of x ", x.shape());
  for (int i = 0; i < x.dim(); ++i)
    check(i == a || index.shape()[i] <= x.shape()[i], "index ", index.shape(), " is larger than x ", x.shape(),
          " along axis ", i);
  const Index extent = x.shape()[a];
  for (const Index i : index.values())
    check(i >= 0 && i < extent, "index ", i, " is out of range for axis ", axis, " of ", x.shape());
  const detail::Along along(x.shape(), a, index.shape());
  return op.record(along.take(x.array(), index), save(x.shape(), index, along),
                   [](const Array& dy, Grads& dx, const Shape& shape, const IntArray& index,
                      const detail::Along& along) { dx.add(0, along.put(shape, index, dy)); });
}

namespace detail {
inline void check_rows(const Shape& shape, const std::vector<Index>& rows) {
  check_in("take_rows", shape.rank() > 0, "a scalar has no rows");
  for (const Index row : rows)
    check_in("take_rows", row >= 0 && row < shape[0], "row ", row, " is out of range for ", shape);
}
}  // namespace detail

/// x[rows] in PyTorch: [N, ...] -> [rows, ...]. Gradients of a duplicated row accumulate.
/// Errors: rank 0, a row outside [0, N).
inline Tensor take_rows(const Tensor& x, const std::vector<Index>& rows) {
  x.array().require("take_rows");
  detail::check_rows(x.shape(), rows);
  const Index count = static_cast<Index>(rows.size()), width = x.shape().without(0).numel();
  return reshape(embedding(reshape(x, {x.size(0), width}), IntArray({count}, rows)), x.shape().with(0, count));
}
inline IntArray take_rows(const IntArray& x, const std::vector<Index>& rows) {
  x.require("take_rows");
  detail::check_rows(x.shape(), rows);
  const Index width = x.shape().without(0).numel();
  IntArray y(x.shape().with(0, static_cast<Index>(rows.size())));
  const IntArray in = x.contiguous();
  Index* to = y.mutate();
  for (const Index row : rows) to = std::copy_n(in.data() + row * width, width, to);
  return y;
}

}  // namespace mote
