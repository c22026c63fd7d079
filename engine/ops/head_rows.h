// HeadRows, the rows of heads in memory: in a view of a projection, or in a cache.
#pragma once

#include <vector>

#include "engine/base/real.h"

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

}  // namespace mote::detail
