// embedding, which looks up the rows of a table by id.
#pragma once

#include <algorithm>
#include <optional>

#include "engine/array/int_array.h"
#include "engine/autograd/op.h"
#include "engine/base/parallel.h"
#include "engine/ops/cost.h"

namespace mote {

/// The row that padding_idx names, counted from 0, or -1 if padding_idx is not given. Errors: padding_idx outside
/// [-V, V).
inline Index padding_row(const char* who, std::optional<Index> padding_idx, Index vocabulary) {
  if (!padding_idx) return -1;
  check_in(who, *padding_idx >= -vocabulary && *padding_idx < vocabulary, "padding_idx ", *padding_idx,
           " is out of range for V = ", vocabulary);
  return *padding_idx < 0 ? *padding_idx + vocabulary : *padding_idx;
}

namespace detail {
inline Tensor rows_by_id(const Tensor& weight, IntArray ids, std::optional<Index> padding_idx) {
  Op op("embedding", weight);
  ids = ids.contiguous();
  check(weight.dim() == 2, "the table must be [V, C], but has shape ", weight.shape());
  const Index vocabulary = weight.size(0), width = weight.size(1);
  const Index padding = padding_row("embedding", padding_idx, vocabulary);
  for (const Index id : ids.values())
    check(id >= 0 && id < vocabulary, "id ", id, " is out of range for V = ", vocabulary);
  const Array table = weight.array().contiguous();
  Array y = Array::empty(ids.shape().insert(-1, width));
  real* const out = y.mutate();
  parallel_for(ids.numel(), grain_for(cost::row + cost::simple * static_cast<double>(width)), [&](Index lo, Index hi) {
    for (Index i = lo; i < hi; ++i) std::copy_n(table.data() + ids.data()[i] * width, width, out + i * width);
  });
  return op.record(y, save(ids, vocabulary, width, padding),
                   [](const Array& dy, Grads& dx, const IntArray& ids, Index vocabulary, Index width, Index padding) {
                     const Array g = dy.contiguous();
                     Array d = Array::zeros({vocabulary, width});
                     real* const to = d.mutate();
                     const auto add = kernels::table().add;
                     // Each task owns some columns and loops over all tokens, so every row is summed in token order.
                     parallel_for(width,
                                  std::max<Index>(64, grain_for(cost::simple * static_cast<double>(ids.numel()))),
                                  [&](Index lo, Index hi) {
                                    for (Index i = 0; i < ids.numel(); ++i) {
                                      const Index id = ids.data()[i];
                                      if (id == padding) continue;
                                      real* const row = to + id * width;
                                      add(row + lo, 1, g.data() + i * width + lo, 1, row + lo, hi - lo);
                                    }
                                  });
                     dx.add(0, d);
                   });
}
}  // namespace detail

/// Looks up a row of the table `weight` for each id: weight [V, C], ids [...] -> [..., C]. The gradient of a row is
/// the sum over its occurrences, in token order. padding_idx names a row whose gradient stays zero. A negative
/// padding_idx counts from the end. Errors: an id outside [0, V), a padding_idx outside [-V, V).
inline Tensor embedding(const Tensor& weight, const IntArray& ids) { return detail::rows_by_id(weight, ids, {}); }
inline Tensor embedding(const Tensor& weight, const IntArray& ids, Integer padding_idx) {
  return detail::rows_by_id(weight, ids, padding_idx);
}

template <std::same_as<IntArray> I>
__attribute__((unavailable("the table stands first: write embedding(weight, ids)"))) Tensor embedding(const I&,
                                                                                                      const Tensor&);

}  // namespace mote
