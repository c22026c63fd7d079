// HeadRows, the rows of heads in memory: in a view of a projection, or in a cache.
#pragma once

#include <vector>

#include "engine/array/array.h"

namespace mote::detail {

/// Rows of elements in memory: row t of head h of batch entry b starts at data + entry(b) + h * head + t * row, and its
/// elements are `column` apart. Owns nothing.
struct HeadRows {
  const real* data = nullptr;
  Index batch = 0, head = 0, row = 0, column = 0;
  std::vector<Index> entries = {};  // starts of batch entries, if not every `batch` elements: several leading axes
  Index entry(Index b) const { return entries.empty() ? b * batch : entries[static_cast<std::size_t>(b)]; }
  const real* at(Index b, Index h, Index t) const { return data + entry(b) + h * head + t * row; }
};

/// x [batch..., H, T, width] as rows.
inline HeadRows rows_of(const Array& x) {
  HeadRows rows{x.data(), x.rank() > 3 ? x.stride(-4) : 0, x.stride(-3), x.stride(-2), x.stride(-1)};
  if (x.rank() <= 4) return rows;
  Index batch = 1;
  for (int axis = 0; axis < x.rank() - 3; ++axis) batch *= x.shape()[axis];
  for (Index b = 0; b < batch; ++b) rows.entries.push_back(x.layout().offset_of_part(b, 3));
  return rows;
}

}  // namespace mote::detail
