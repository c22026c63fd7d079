// Guards attention's masks against NaN and infinity.
#include "engine/ops/attention_guard.h"

#include <cmath>
#include <limits>

#include "engine/kernels/gemm.h"

namespace mote::detail {
namespace {

/// Whether no element is NaN, infinite, or so large that a sum of products of two such elements may overflow: 2e14 in
/// float leaves room for a width and a dropout factor of about ten thousand each.
bool harmless(const HeadRows& x, Index batch, Index heads, Index length, Index width) {
  const real largest = std::sqrt(std::numeric_limits<real>::max()) / 65536;
  for (Index b = 0; b < batch; ++b)
    for (Index h = 0; h < heads; ++h)
      for (Index t = 0; t < length; ++t) {
        const real* const row = x.at(b, h, t);
        int harmful = 0;
        for (Index i = 0; i < width; ++i) harmful |= !(std::abs(row[i * x.column]) <= largest);
        if (harmful) return false;
      }
  return true;
}

/// Whether a mask or a window may hide a key from a query that its position lets see it.
bool hides(const AttentionView& p) { return p.mask || p.window > 0; }

}  // namespace

bool forward_needs_guard(const AttentionView& p) {
  return hides(p) && (!harmless(p.v, p.batch, p.kv_heads, p.keys, p.value_width) ||
                      !harmless(p.k, p.batch, p.kv_heads, p.keys, p.width));
}

bool backward_needs_guard(const AttentionView& p, const HeadRows& dy) {
  return p.guarded || (hides(p) && (!harmless(p.q, p.batch, p.heads, p.queries, p.width) ||
                                    !harmless(dy, p.batch, p.heads, p.queries, p.value_width)));
}

void guarded_sum_keys(const AttentionView& p, const Block& at, const real* w, const HeadRows& x, Index width, real* y,
                      Index y_row) {
  for (Index r = 0; r < at.rows(); ++r)
    for (Index c = 0; c < width; ++c) {
      real total = -real(0), sum = 0;  // -0 + x is x, whatever the sign of a zero
      for (Index j = at.lo; j < at.hi; ++j) {
        if (j > at.lo && (p.first_key + j) % kernels::sum_block == 0) total += sum, sum = 0;
        if (!p.sees(at.b, at.h, at.begin + r, j)) continue;
        sum = std::fma(w[(j - at.lo) * 16 + r], x.at(at.b, at.h / p.group(), j)[c], sum);
      }
      y[r * y_row + c] = total + sum;
    }
}

void guarded_sum_queries(const AttentionView& p, const Block& at, const real* w, const real* x, Index x_row,
                         Index width, real* y, Index y_row, Index lo, Index hi) {
  for (Index r = 0; r < at.rows(); ++r) {
    const real* const row = x + r * x_row;
    for (Index j = lo; j < hi; ++j) {
      if (!p.sees(at.b, at.h, at.begin + r, j)) continue;
      real* const to = y + (j - lo) * y_row;
      for (Index c = 0; c < width; ++c) to[c] = std::fma(w[(j - lo) * 16 + r], row[c], to[c]);
    }
  }
}

}  // namespace mote::detail
