// The colour map of pictures of attention.
#pragma once

#include <string>

namespace mote::detail {

/// Viridis at level / 64, from 0 (dark blue) to 64 (yellow), as "#440154". Source: S. van der Walt and N. Smith,
/// matplotlib.
std::string viridis(int level);

}  // namespace mote::detail
