// The floating-point type of the whole library, and the type of sizes and positions.
#pragma once

#include <cstdint>

namespace mote {

#ifdef MOTE_REAL_DOUBLE
/// The library `mote_f64`: the same sources with `real` = double. It answers "is the mathematics right?".
using real = double;
#else
/// The library `mote`: `real` = float. It answers "is the fast code the same mathematics?".
using real = float;
#endif

/// Sizes, positions and token ids: 64 bits everywhere, so that no product of extents is silently truncated.
using Index = std::int64_t;

}  // namespace mote
