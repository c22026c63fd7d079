// The usual masks for attention, and the slopes of ALiBi.
#include "engine/ops/masks.h"

#include <algorithm>

#include "engine/base/math.h"

namespace mote {

Mask causal_mask(Integer queries, Integer keys, Integer window) {
  check_in("causal_mask", queries >= 0, "queries ", queries, " must be at least 0");
  check_in("causal_mask", keys >= queries, queries, " queries need at least as many keys, not ", keys);
  check_in("causal_mask", window >= 0, "window ", window, " must be at least 0");
  Mask m({queries, keys});
  std::uint8_t* const out = m.mutate();
  for (Index i = 0; i < queries; ++i) {
    const Index end = i + keys - queries + 1, first = window == 0 ? 0 : std::max<Index>(0, end - window);
    std::fill_n(out + i * keys + first, end - first, std::uint8_t(1));
  }
  return m;
}

Mask padding_mask(const std::vector<Index>& lengths, Integer longest) {
  check_in("padding_mask", longest >= 0, "longest ", longest, " must be at least 0");
  Mask m({static_cast<Index>(lengths.size()), 1, 1, longest});
  std::uint8_t* row = m.mutate();
  for (const Index length : lengths) {
    check_in("padding_mask", length >= 0 && length <= longest, "length ", length, " is outside [0, ", longest, "]");
    std::fill_n(row, length, std::uint8_t(1));
    row += longest;
  }
  return m;
}

Mask from_blocked(const Tensor& blocked) {
  const Array x = blocked.array().contiguous();
  Mask m(x.shape());
  const auto odd = std::find_if(x.data(), x.data() + x.numel(), [](real b) { return b != 0 && b != 1; });
  if (odd != x.data() + x.numel()) {
    // an additive mask holds only 0 and values far below 0, and needs another error message
    const bool added = std::all_of(x.data(), x.data() + x.numel(), [](real b) { return b == 0 || b <= -1000; });
    check_in("from_blocked", !added, "this is an additive mask m, of 0 and ", *odd, ": write m == 0 instead");
    check_in("from_blocked", false, "elements must be 0 (may attend) or 1 (blocked), not ", *odd);
  }
  std::transform(x.data(), x.data() + x.numel(), m.mutate(), [](real b) { return std::uint8_t(b == 0); });
  return m;
}

Array alibi_slopes(Integer heads) {
  check_in("alibi_slopes", heads >= 1, "heads ", heads, " must be at least 1");
  Array slopes = Array::empty({heads});
  Index power = 1;
  while (power <= heads / 2) power *= 2;
  const auto slope = [](Index i, Index of) {
    return math::exp(-8.0 * static_cast<double>(i) / static_cast<double>(of) * math::log(2.0));
  };
  real* const out = slopes.mutate();
  for (Index h = 0; h < heads; ++h)
    out[h] = static_cast<real>(h < power ? slope(h + 1, power) : slope(2 * (h - power) + 1, 2 * power));
  return slopes;
}

}  // namespace mote
