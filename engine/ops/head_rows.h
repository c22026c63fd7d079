// HeadRows, where the rows of heads lie: in an array's view of a projection, or in a cache.
#pragma once

#include <vector>

#include "engine/base/real.h"

namespace mote::detail {

/// Rows of elements in memory: row t of head h of batch entry b starts at data + batch[b] + h * head + t * row, and its
/// elements are `column` apart. Keeps nothing alive.
struct HeadRows {
  const real* data = nullptr;
  std::vector<Index> batch;
  Index head = 0, row = 0, column = 0;
  const real* at(Index b, Index h, Index t) const {
    return data + batch[static_cast<std::size_t>(b)] + h * head + t * row;
  }
};

}  // namespace mote::detail
