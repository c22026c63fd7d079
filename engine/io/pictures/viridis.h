// The colour map of pictures of attention.
#pragma once

#include <string>

#include "engine/io/text/utf8.h"

namespace mote::detail {

/// Viridis at level / 64, from 0 (dark blue) to 64 (yellow), as "#440154", between nine colours. Source: S. van der
/// Walt and N. Smith, matplotlib.
inline std::string viridis(int level) {
  static constexpr int colours[] = {0x440154, 0x472c7a, 0x3b518b, 0x2c718e, 0x21908d,
                                    0x27ad81, 0x5cc863, 0xaadc32, 0xfde725};
  const int left = level < 64 ? level / 8 : 7, share = level - 8 * left;
  std::string text = "#";
  for (int shift = 16; shift >= 0; shift -= 8) {
    const int from = colours[left] >> shift & 255, to = colours[left + 1] >> shift & 255;
    text += hex_text(static_cast<unsigned>((from * (8 - share) + to * share + 4) / 8), 2);
  }
  return text;
}

}  // namespace mote::detail
