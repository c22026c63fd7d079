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
        if (x.column == 1)  // nearly always: separate, so that the compiler vectorizes it
          for (Index i = 0; i < width; ++i) harmful |= !(std::abs(row[i]) <= largest);
        else
          for (Index i = 0; i < width; ++i) harmful |= !(std::abs(row[i * x.column]) <= largest);
        if (harmful) return false;
      }
  return true;
}

/// Whether any query may not see some key. A cache's newest token alone sees all keys.
bool hides(const AttentionView& p) { return p.mask || (p.causal && (p.queries > 1 || p.window > 0)); }

}  // namespace

bool forward_needs_guard(const AttentionView& p) {
  return hides(p) && (!harmless(p.v, p.batch, p.kv_heads, p.keys, p.value_width) ||
                      !harmless(p.k, p.batch, p.kv_heads, p.keys, p.width));
}

bool backward_needs_guard(const AttentionView& p, const HeadRows& dy) {
  return p.guarded || (hides(p) && (!harmless(p.q, p.batch, p.heads, p.queries, p.width) ||
                                    !harmless(dy, p.batch, p.heads, p.queries, p.value_width)));
}

void guarded_product(const AttentionView& p, const Block& at, const real* w, const HeadRows& x, Index head, Index width,
                     real* c, Index c_row, Scratch& scratch) {
  const Index n = at.columns();
  for (Index r = 0; r < at.rows(); ++r) {
    const auto [keep, count] = seen_by(p, at, at.begin + r, scratch);
    for (Index col = 0; col < width; ++col) {
      real total = -real(0), sum = 0;  // -0 + x is x, whatever the sign of a zero
      for (Index j = 0; j < count; ++j) {
        if (j > 0 && (at.lo + j) % kernels::sum_block == 0) total += sum, sum = 0;
        if (!keep || keep[j]) sum = std::fma(w[r * n + j], x.at(at.b, head, at.lo + j)[col * x.column], sum);
      }
      c[r * c_row + col] = total + sum;
    }
  }
}

void guarded_transposed(const AttentionView& p, const Block& at, const real* w, const HeadRows& x, Index width, real* c,
                        Index c_row, Scratch& scratch) {
  const Index n = at.columns();
  for (Index r = 0; r < at.rows(); ++r) {
    const auto [keep, count] = seen_by(p, at, at.begin + r, scratch);
    const real* const row = x.at(at.b, at.h, at.begin + r);
    for (Index j = 0; j < count; ++j)
      for (Index col = 0; col < width && (!keep || keep[j]); ++col)
        c[j * c_row + col] = std::fma(w[r * n + j], row[col * x.column], c[j * c_row + col]);
  }
}

void zero_masked(const AttentionView& p, const Block& at, real* w, Scratch& scratch) {
  const Index n = at.columns();
  for (Index r = 0; r < at.rows(); ++r) {
    const auto [keep, count] = seen_by(p, at, at.begin + r, scratch);
    for (Index j = 0; j < n; ++j)
      if (j >= count || (keep && !keep[j])) w[r * n + j] = 0;
  }
}

}  // namespace mote::detail
