// Viridis, interpolated between nine points.
#include "engine/io/pictures/viridis.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace mote::detail {
namespace {

/// At nine evenly spaced points.
constexpr std::array<std::array<int, 3>, 9> points{{{68, 1, 84},
                                                    {71, 44, 122},
                                                    {59, 81, 139},
                                                    {44, 113, 142},
                                                    {33, 144, 141},
                                                    {39, 173, 129},
                                                    {92, 200, 99},
                                                    {170, 220, 50},
                                                    {253, 231, 37}}};
constexpr int between = 8;  // levels from one point to the next

}  // namespace

std::string viridis(int level) {
  const int left = std::min(7, level / between), right_share = level - left * between;
  const auto at = static_cast<std::size_t>(left);
  std::string text = "#";
  for (std::size_t c = 0; c < 3; ++c) {
    const int mixed = points[at][c] * (between - right_share) + points[at + 1][c] * right_share;
    const auto rounded = static_cast<std::size_t>((mixed + between / 2) / between);
    text += "0123456789abcdef"[rounded / 16];
    text += "0123456789abcdef"[rounded % 16];
  }
  return text;
}

}  // namespace mote::detail
