// Attention without the [Tq, Tk] matrix: blocks of query rows, forward and backward.
#include "engine/ops/attention_blocks.h"

#include <algorithm>

#include "engine/base/parallel.h"
#include "engine/kernels/gemm.h"
#include "engine/ops/attention_guard.h"

namespace mote::detail {
namespace {

/// s[r, j] = q k^T * scale - alibi for the block: rows of `columns` elements.
void scores(const AttentionView& p, const Block& at, real* s) {
  const Index n = at.columns(), g = at.h / p.group();
  kernels::gemm(at.rows(), n, p.width, {p.q.at(at.b, at.h, at.begin), p.q.row, p.q.column},
                {p.k.at(at.b, g, at.lo), p.k.column, p.k.row}, s, n);
  const kernels::Table& t = kernels::table();
  t.mul(s, 1, &p.scale, 0, s, at.rows() * n);
  if (!p.bias) return;
  // bias[h, Tk - 1 + m] is for a key m positions after its query
  const real* const bias = p.bias + at.h * p.span() + p.keys - 1;
  for (Index r = 0; r < at.rows(); ++r) t.add(s + r * n, 1, bias + at.lo - (at.begin + r + p.shift()), 1, s + r * n, n);
}

/// Converts scores to weights, row by row: `softmax(row, keep, n)` processes one row of n; elements beyond n become 0.
template <class Softmax>
void each_row(const AttentionView& p, const Block& at, real* s, Scratch& scratch, const Softmax& softmax) {
  const Index n = at.columns();
  for (Index r = 0; r < at.rows(); ++r) {
    const auto [keep, count] = seen_by(p, at, at.begin + r, scratch);
    softmax(s + r * n, keep, count, at.begin + r);
    std::fill(s + r * n + count, s + (r + 1) * n, real(0));
  }
}

/// out = w times the dropout factors of the block's weights: 0 or 1 / (1 - p).
void drop(const AttentionView& p, const Block& at, const real* w, real* out) {
  const Index n = at.columns();
  for (Index r = 0; r < at.rows(); ++r) {
    const Index first = p.weight_row(at.b, at.h, at.begin + r) * p.keys + at.lo;
    for (Index j = 0; j < n; ++j) {
      const Index bit = first + j;
      const bool kept = !p.drops_all && (p.bits[bit / 8] >> (bit % 8) & 1);
      out[r * n + j] = w[r * n + j] * (kept ? p.kept_scale : real(0));
    }
  }
}

/// The gradient of one head's keys or values, a sum over all rows of queries in order, those of the first head of the
/// group before those of the next. gemm's blocks of such a sum end within no Block; the unfinished one is kept apart.
class KeySums {
 public:
  /// `total` [keys, width] of zeros, rows `row` apart; null: not wanted.
  KeySums(const AttentionView& p, real* total, Index row, Index width)
      : p_(p), total_(total), sum_(total), row_(row), sum_row_(row), width_(width) {
    if (!total || p.group() * p.queries <= kernels::sum_block) return;
    partial_ = Storage(static_cast<std::size_t>(p.keys * width) * sizeof(real));
    sum_ = static_cast<real*>(partial_.data()), sum_row_ = width;
    std::fill_n(sum_, p.keys * width, real(0));
  }
  explicit operator bool() const { return total_ != nullptr; }

  /// Adds w^T x for one block's weights w and a row of x per query.
  void add(const Block& at, const real* w, const HeadRows& x, Scratch& scratch) {
    const Index n = at.columns(), first = at.h % p_.group() * p_.queries + at.begin, end = first + at.rows();
    real* const c = sum_ + at.lo * sum_row_;
    if (p_.guarded)
      guarded_transposed(p_, at, w, x, width_, c, sum_row_, scratch);
    else
      kernels::gemm(n, width_, at.rows(), {w, 1, n}, {x.at(at.b, at.h, at.begin), x.row, x.column}, c, sum_row_,
                    {.first_k = first, .resume = true});
    if (!partial_ || (end % kernels::sum_block != 0 && end < p_.group() * p_.queries)) return;
    for (Index j = 0; j < p_.keys; ++j)
      kernels::table().add(total_ + j * row_, 1, sum_ + j * width_, 1, total_ + j * row_, width_);
    std::fill_n(sum_, p_.keys * width_, real(0));
  }

 private:
  const AttentionView& p_;
  real *total_, *sum_;  // the same, unless there are several blocks
  Index row_, sum_row_, width_;
  Storage partial_;
};

void weights_times(const AttentionView& p, const Block& at, const real* w, const HeadRows& x, Index width, real* c,
                   Index c_row, Scratch& scratch) {
  const Index g = at.h / p.group();
  if (p.guarded) return guarded_product(p, at, w, x, g, width, c, c_row, scratch);
  kernels::gemm(at.rows(), width, at.columns(), {w, at.columns(), 1}, {x.at(at.b, g, at.lo), x.row, x.column}, c, c_row,
                {.first_k = at.lo});
}

/// Copies the block's weights to their places in an array [B, H, Tq, Tk] of zeros.
void copy_block(const AttentionView& p, const Block& at, const real* w, real* all) {
  for (Index r = 0; r < at.rows(); ++r)
    std::copy_n(w + r * at.columns(), at.columns(), all + p.weight_row(at.b, at.h, at.begin + r) * p.keys + at.lo);
}

}  // namespace

void attention_forward(const AttentionView& p, real* y, real* stats, real* weights, real* dropped) {
  const Index step = rows_at_once(p), blocks = (p.queries + step - 1) / step;
  const Index work = std::max<Index>(1, step * p.keys * (p.width + p.value_width));
  parallel_for(p.batch * p.heads * blocks, std::max<Index>(1, (Index(1) << 17) / work), [&](Index lo, Index hi) {
    Scratch scratch(p);
    for (Index task = lo; task < hi; ++task) {
      const Index b = task / blocks / p.heads, h = task / blocks % p.heads, begin = task % blocks * step;
      const Block at(p, b, h, begin, std::min(begin + step, p.queries));
      real* w = scratch.weights();
      scores(p, at, w);
      each_row(p, at, w, scratch, [&](real* row, const std::uint8_t* keep, Index n, Index i) {
        kernels::table().softmax(row, keep, row, stats ? stats + 2 * p.weight_row(b, h, i) : nullptr, n);
      });
      if (weights) copy_block(p, at, w, weights);
      if (p.drops) {
        drop(p, at, w, scratch.dropped());
        w = scratch.dropped();
      }
      if (dropped) copy_block(p, at, w, dropped);
      weights_times(p, at, w, p.v, p.value_width, y + ((b * p.queries + begin) * p.heads + h) * p.value_width,
                    p.heads * p.value_width, scratch);
    }
  });
}

/// dV = P'^T dY, dP = dY V^T, dS = P (dP' - sum(dP' P)) scale, dQ = dS K, dK = dS^T Q, where ' applies dropout.
/// One task processes all queries that attend to one head of k and v, in order, so that every sum has one order.
void attention_backward(const AttentionView& p, const HeadRows& dy, const real* stats, const AttentionGradients& to) {
  const Index step = rows_at_once(p);
  const kernels::Table& t = kernels::table();
  const Index work = std::max<Index>(1, p.group() * p.queries * p.keys * (3 * p.width + 2 * p.value_width));
  parallel_for(p.batch * p.kv_heads, std::max<Index>(1, (Index(1) << 17) / work), [&](Index lo, Index hi) {
    Scratch scratch(p);
    for (Index task = lo; task < hi; ++task) {
      const Index b = task / p.kv_heads, g = task % p.kv_heads;
      const auto sums = [&](real* all, Index width) {
        const Index row = p.kv_heads * width;
        return KeySums(p, all ? all + b * p.keys * row + g * width : nullptr, row, width);
      };
      KeySums dk = sums(to.dk, p.width), dv = sums(to.dv, p.value_width);
      for (Index h = g * p.group(); h < (g + 1) * p.group(); ++h)
        for (Index begin = 0, end = 0; begin < p.queries; begin = end) {
          const Index before = h % p.group() * p.queries;
          const Index border = ((before + begin) / kernels::sum_block + 1) * kernels::sum_block - before;
          end = std::min({begin + step, p.queries, border});
          const Block at(p, b, h, begin, end);
          const Index n = at.columns(), rows = at.rows();
          real* const w = scratch.weights();
          scores(p, at, w);
          each_row(p, at, w, scratch, [&](real* row, const std::uint8_t* keep, Index seen, Index i) {
            t.softmax_again(row, keep, stats + 2 * p.weight_row(b, h, i), row, seen);
          });
          if (dv) {
            const real* used = w;
            if (p.drops) drop(p, at, w, scratch.dropped()), used = scratch.dropped();
            dv.add(at, used, dy, scratch);
          }
          if (!to.dq && !dk) continue;
          real* const d = scratch.gradient();
          kernels::gemm(rows, n, p.value_width, {dy.at(b, h, begin), dy.row, dy.column},
                        {p.v.at(b, g, at.lo), p.v.column, p.v.row}, d, n);
          if (p.drops) drop(p, at, d, d);
          if (p.guarded) zero_masked(p, at, d, scratch);
          for (Index r = 0; r < rows; ++r) t.softmax_backward(d + r * n, w + r * n, d + r * n, n);
          t.mul(d, 1, &p.scale, 0, d, rows * n);
          if (to.dq)
            weights_times(p, at, d, p.k, p.width, to.dq + ((b * p.queries + begin) * p.heads + h) * p.width,
                          p.heads * p.width, scratch);
          if (dk) dk.add(at, d, p.q, scratch);
        }
    }
  });
}

}  // namespace mote::detail
