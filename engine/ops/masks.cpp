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
  for (Index i = 0; i < queries; ++i)
    for (Index j = 0; j < keys; ++j) {
      const Index distance = i + keys - queries - j;
      out[i * keys + j] = distance >= 0 && (window == 0 || distance < window);
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
  std::transform(x.data(), x.data() + x.numel(), m.mutate(), [](real b) {
    check_in("from_blocked", b == 0 || b == 1, "elements must be 0 (may attend) or 1 (blocked), not ", b);
    return std::uint8_t(b == 0);
  });
  return m;
}

Array alibi_slopes(Integer heads) {
  check_in("alibi_slopes", heads >= 1, "heads ", heads, " must be at least 1");
  Index power = 1;
  while (2 * power <= heads) power *= 2;
  const auto slope = [](Index i, Index of) {
    return math::exp(-8.0 * static_cast<double>(i) / static_cast<double>(of) * math::log(2.0));
  };
  Array slopes = Array::empty({heads});
  real* const out = slopes.mutate();
  for (Index h = 0; h < heads; ++h)
    out[h] = static_cast<real>(h < power ? slope(h + 1, power) : slope(2 * (h - power) + 1, 2 * power));
  return slopes;
}

}  // namespace mote
