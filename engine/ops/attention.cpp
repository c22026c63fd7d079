// What is here: attention without its square matrix: blocks of query rows, forward and backward.
// What is not: the formula with all its weights at once, which the tests compare this with.
// Read next: ../../nn/attention.h.
#include "engine/ops/attention.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>

#include "engine/kernels/gemm.h"
#include "engine/ops/softmax.h"
#include "engine/parallel.h"

namespace mote {

Mask causal_mask(Index queries, Index keys) {
  check_in("causal_mask", keys >= queries, queries, " queries need at least as many keys, not ", keys);
  Mask m({queries, keys});
  std::uint8_t* const out = m.mutate();
  for (Index i = 0; i < queries; ++i)
    for (Index j = 0; j < keys; ++j) out[i * keys + j] = j <= i + keys - queries;
  return m;
}

Mask padding_mask(const std::vector<Index>& lengths, Index longest) {
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
  std::uint8_t* const out = m.mutate();
  for (Index i = 0; i < x.numel(); ++i) {
    const real b = x.data()[i];
    check_in("from_blocked", b == 0 || b == 1, "a mask has only 0 (may attend) and 1 (blocked), not ", b);
    out[i] = b == 0;
  }
  return m;
}

namespace {

using detail::HeadRows;

/// Where the numbers of one attention lie, and what it was told. H heads of queries, G = H / kv_heads to each of k.
struct Plan {
  Index batch = 1, heads = 1, kv_heads = 1, queries = 0, keys = 0, width = 0, value_width = 0;
  HeadRows q, k, v;
  real scale = 1;
  bool causal = false;
  Index window = 0;
  std::optional<detail::MaskRows> mask;  // rows [B, H, Tq, Tk]
  Array bias;                            // alibi: [H, 2 Tk - 1], by the distance of key and query; see scores()
  std::vector<std::uint8_t, CachedAllocator<std::uint8_t>> bits;  // dropout: 1 = kept, one bit per weight
  real kept_scale = 1;                   // 1 / (1 - p)
  bool drops = false, drops_all = false;
  bool guarded = false;  // something masked may not be finite: never multiply by it, not even by 0

  Index group() const { return heads / kv_heads; }
  /// Positions count from the first key; query i stands at i + shift().
  Index shift() const { return keys - queries; }
  /// Keys that query i may see for its position: [first, end).
  Index first(Index i) const { return window > 0 ? std::max<Index>(0, i + shift() - window + 1) : 0; }
  Index end(Index i) const { return causal ? i + shift() + 1 : keys; }
  Index weight_row(Index b, Index h, Index i) const { return (b * heads + h) * queries + i; }
};

/// Query rows taken at once. The number shows in no bit: a row's sums do not know of the other rows.
Index rows_at_once(const Plan& p) { return std::clamp<Index>(65536 / std::max<Index>(p.keys, 1), 14, 84); }

/// One block of query rows [begin, end) of head h of batch entry b, and the keys [lo, hi) that any of them sees.
struct Block {
  Index b, h, begin, end, lo, hi;
  Index rows() const { return end - begin; }
  Index columns() const { return hi - lo; }
};
Block block_of(const Plan& p, Index b, Index h, Index begin, Index end) {
  // Sums over keys run in 16 lanes by absolute position, so a block starts at a multiple of 16.
  return {b, h, begin, end, p.first(begin) / 16 * 16, p.end(end - 1)};
}

/// Numbers that one task needs again and again.
struct Scratch {
  explicit Scratch(const Plan& p) : block_(rows_at_once(p) * p.keys), keys_(p.keys) {}
  real* weights() { return part(weights_); }
  real* dropped() { return part(dropped_); }
  real* gradient() { return part(gradient_); }
  std::uint8_t* keep() {
    if (!keep_) keep_ = Storage(static_cast<std::size_t>(keys_));
    return static_cast<std::uint8_t*>(keep_.data());
  }

 private:
  real* part(Storage& numbers) {
    if (!numbers) numbers = Storage(static_cast<std::size_t>(block_) * sizeof(real));
    return static_cast<real*>(numbers.data());
  }
  Index block_, keys_;
  Storage weights_, dropped_, gradient_, keep_;
};

/// Which keys of [lo, hi) query i may see; null when all of them up to its own end.
const std::uint8_t* keep_row(const Plan& p, const Block& at, Index i, Scratch& scratch) {
  const Index first = p.first(i), end = p.end(i);
  if (!p.mask && first <= at.lo) return nullptr;
  std::uint8_t* const keep = scratch.keep();
  const std::uint8_t* const mask = p.mask ? p.mask->row(p.weight_row(at.b, at.h, i)) : nullptr;
  for (Index j = at.lo; j < at.hi; ++j) keep[j - at.lo] = j >= first && j < end && (!mask || mask[j]);
  return keep;
}

/// s[r, j] = q k^T * scale - alibi for the block: rows of `columns` numbers.
void scores(const Plan& p, const Block& at, real* s) {
  const Index n = at.columns(), g = at.h / p.group();
  kernels::gemm(at.rows(), n, p.width, {p.q.at(at.b, at.h, at.begin), p.q.row, p.q.column},
                {p.k.at(at.b, g, at.lo), p.k.column, p.k.row}, s, n);
  const kernels::Table& t = kernels::table();
  t.mul(s, 1, &p.scale, 0, s, at.rows() * n);
  if (!p.bias.defined()) return;
  // bias[h, Tk - 1 + m] belongs to a key m positions after its query
  const real* const bias = p.bias.data() + at.h * (2 * p.keys - 1) + p.keys - 1;
  for (Index r = 0; r < at.rows(); ++r)
    t.add(s + r * n, 1, bias + at.lo - (at.begin + r + p.shift()), 1, s + r * n, n);
}

/// Turns scores into weights, row by row: `softmax(row, keep, n)` does one row of n; what is beyond n becomes 0.
template <class Softmax>
void each_row(const Plan& p, const Block& at, real* s, Scratch& scratch, const Softmax& softmax) {
  const Index n = at.columns();
  for (Index r = 0; r < at.rows(); ++r) {
    const std::uint8_t* const keep = keep_row(p, at, at.begin + r, scratch);
    const Index seen = keep ? n : p.end(at.begin + r) - at.lo;
    softmax(s + r * n, keep, seen, at.begin + r);
    std::fill(s + r * n + seen, s + (r + 1) * n, real(0));
  }
}

/// out = w times the dropout factors of the block's weights: 0 or 1 / (1 - p).
void drop(const Plan& p, const Block& at, const real* w, real* out) {
  const Index n = at.columns();
  for (Index r = 0; r < at.rows(); ++r) {
    const Index first = p.weight_row(at.b, at.h, at.begin + r) * p.keys + at.lo;
    for (Index j = 0; j < n; ++j) {
      const Index bit = first + j;
      const bool kept = !p.drops_all && (p.bits[static_cast<std::size_t>(bit / 8)] >> (bit % 8) & 1);
      out[r * n + j] = w[r * n + j] * (kept ? p.kept_scale : real(0));
    }
  }
}

/// c (+)= w x for weights w [rows, columns] (or their transpose) and rows x: the product, but where masked numbers may
/// be NaN the pairs that a mask separates are left out one by one, in the same order of sums.
void guarded_product(const Plan& p, const Block& at, const real* w, const HeadRows& x, Index head, Index width, real* c,
                     Index c_row, Scratch& scratch) {
  const Index n = at.columns();
  for (Index r = 0; r < at.rows(); ++r) {
    const std::uint8_t* const keep = keep_row(p, at, at.begin + r, scratch);
    const Index seen = keep ? n : p.end(at.begin + r) - at.lo;
    for (Index col = 0; col < width; ++col) {
      real sum = 0;
      for (Index j = 0; j < seen; ++j)
        if (!keep || keep[j]) sum = std::fma(w[r * n + j], x.at(at.b, head, at.lo + j)[col * x.column], sum);
      c[r * c_row + col] = sum;
    }
  }
}

void weights_times(const Plan& p, const Block& at, const real* w, const HeadRows& x, Index width, real* c, Index c_row,
                   Scratch& scratch) {
  const Index g = at.h / p.group();
  if (p.guarded) return guarded_product(p, at, w, x, g, width, c, c_row, scratch);
  kernels::gemm(at.rows(), width, at.columns(), {w, at.columns(), 1}, {x.at(at.b, g, at.lo), x.row, x.column}, c, c_row);
}

/// Copies the block's weights to their places in an array [B, H, Tq, Tk] of zeros.
void hand_out(const Plan& p, const Block& at, const real* w, real* all) {
  for (Index r = 0; r < at.rows(); ++r)
    std::copy_n(w + r * at.columns(), at.columns(), all + p.weight_row(at.b, at.h, at.begin + r) * p.keys + at.lo);
}

/// y [B, Tq, H, dv], and stats [B, H, Tq, 2]: each row's maximum and sum, from which backward finds its weights again.
void forward(const Plan& p, real* y, real* stats, real* weights, real* dropped) {
  const Index step = rows_at_once(p), blocks = (p.queries + step - 1) / step;
  const Index work = std::max<Index>(1, step * p.keys * (p.width + p.value_width));
  parallel_for(p.batch * p.heads * blocks, std::max<Index>(1, (Index(1) << 17) / work), [&](Index lo, Index hi) {
    Scratch scratch(p);
    for (Index task = lo; task < hi; ++task) {
      const Index b = task / blocks / p.heads, h = task / blocks % p.heads, begin = task % blocks * step;
      const Block at = block_of(p, b, h, begin, std::min(begin + step, p.queries));
      real* w = scratch.weights();
      scores(p, at, w);
      each_row(p, at, w, scratch, [&](real* row, const std::uint8_t* keep, Index n, Index i) {
        kernels::table().softmax(row, keep, row, stats ? stats + 2 * p.weight_row(b, h, i) : nullptr, n);
      });
      if (weights) hand_out(p, at, w, weights);
      if (p.drops) {
        drop(p, at, w, scratch.dropped());
        w = scratch.dropped();
      }
      if (dropped) hand_out(p, at, w, dropped);
      weights_times(p, at, w, p.v, p.value_width, y + ((b * p.queries + begin) * p.heads + h) * p.value_width,
                    p.heads * p.value_width, scratch);
    }
  });
}

/// Where the gradients go: dq [B, Tq, H, d], dk [B, Tk, Hkv, d], dv [B, Tk, Hkv, dv], each null when nobody wants it.
struct Gradients {
  real *dq, *dk, *dv;
};

/// dV = P'^T dY, dP = dY V^T, dS = P (dP' - sum(dP' P)) scale, dQ = dS K, dK = dS^T Q, where ' applies dropout.
/// One task does all queries that look at one head of k and v, in order, so that every sum has one order.
void backward(const Plan& p, const HeadRows& dy, const real* stats, const Gradients& to) {
  const Index step = rows_at_once(p);
  const kernels::Table& t = kernels::table();
  const Index work = std::max<Index>(1, p.group() * p.queries * p.keys * (3 * p.width + 2 * p.value_width));
  parallel_for(p.batch * p.kv_heads, std::max<Index>(1, (Index(1) << 17) / work), [&](Index lo, Index hi) {
    Scratch scratch(p);
    for (Index task = lo; task < hi; ++task) {
      const Index b = task / p.kv_heads, g = task % p.kv_heads;
      for (Index h = g * p.group(); h < (g + 1) * p.group(); ++h)
        for (Index begin = 0; begin < p.queries; begin += step) {
          const Block at = block_of(p, b, h, begin, std::min(begin + step, p.queries));
          const Index n = at.columns(), rows = at.rows();
          real* const w = scratch.weights();
          scores(p, at, w);
          each_row(p, at, w, scratch, [&](real* row, const std::uint8_t* keep, Index seen, Index i) {
            t.softmax_again(row, keep, stats + 2 * p.weight_row(b, h, i), row, seen);
          });
          if (to.dv) {
            const real* used = w;
            if (p.drops) drop(p, at, w, scratch.dropped()), used = scratch.dropped();
            kernels::gemm(n, p.value_width, rows, {used, 1, n}, {dy.at(b, h, begin), dy.row, dy.column},
                          to.dv + ((b * p.keys + at.lo) * p.kv_heads + g) * p.value_width, p.kv_heads * p.value_width,
                          true);
          }
          if (!to.dq && !to.dk) continue;
          real* const d = scratch.gradient();
          kernels::gemm(rows, n, p.value_width, {dy.at(b, h, begin), dy.row, dy.column},
                        {p.v.at(b, g, at.lo), p.v.column, p.v.row}, d, n);
          if (p.drops) drop(p, at, d, d);
          if (p.guarded)  // 0 where a mask separates, whatever lies there
            each_row(p, at, d, scratch, [&](real* row, const std::uint8_t* keep, Index seen, Index) {
              for (Index j = 0; keep && j < seen; ++j) row[j] = keep[j] ? row[j] : real(0);
            });
          for (Index r = 0; r < rows; ++r) t.softmax_backward(d + r * n, w + r * n, d + r * n, n);
          t.mul(d, 1, &p.scale, 0, d, rows * n);
          if (to.dq)
            weights_times(p, at, d, p.k, p.width, to.dq + ((b * p.queries + begin) * p.heads + h) * p.width,
                          p.heads * p.width, scratch);
          if (to.dk)
            kernels::gemm(n, p.width, rows, {d, 1, n}, {p.q.at(b, h, begin), p.q.row, p.q.column},
                          to.dk + ((b * p.keys + at.lo) * p.kv_heads + g) * p.width, p.kv_heads * p.width, true);
        }
    }
  });
}

/// x [batch..., H, T, width] as rows. `batch` is the shape that x's leading axes were expanded to.
HeadRows rows_of(const Array& x, const Shape& batch) {
  HeadRows rows{x.data(), std::vector<Index>(static_cast<std::size_t>(batch.numel())), x.stride(-3), x.stride(-2),
                x.stride(-1)};
  for (Index b = 0; b < batch.numel(); ++b) {
    Index left = b, offset = 0;
    for (int axis = batch.rank() - 1; axis >= 0; left /= batch[axis], --axis) offset += left % batch[axis] * x.stride(axis);
    rows.batch[static_cast<std::size_t>(b)] = offset;
  }
  return rows;
}

bool all_finite(const HeadRows& x, Index batch, Index heads, Index length, Index width) {
  for (Index b = 0; b < batch; ++b)
    for (Index h = 0; h < heads; ++h)
      for (Index t = 0; t < length; ++t) {
        const real* const row = x.at(b, h, t);
        bool finite = true;
        for (Index i = 0; i < width; ++i) finite &= std::abs(row[i * x.column]) <= std::numeric_limits<real>::max();
        if (!finite) return false;
      }
  return true;
}

/// Masked keys or values that are NaN or infinite must not be multiplied by their weight of 0.
void guard(Plan& p) {
  if (!p.causal && !p.mask) return;
  p.guarded = !all_finite(p.v, p.batch, p.kv_heads, p.keys, p.value_width) ||
              !all_finite(p.k, p.batch, p.kv_heads, p.keys, p.width);
}

/// The bias of alibi for every head and distance: -slope |m| at [h, Tk - 1 + m].
Array alibi_bias(const Array& slopes, Index keys) {
  const Index span = std::max<Index>(1, 2 * keys - 1);
  Array bias = Array::empty({slopes.numel(), span});
  real* out = bias.mutate();
  for (const real slope : slopes.to_vector())
    for (Index m = 0; m < span; ++m) *out++ = -slope * static_cast<real>(std::abs(m - (keys - 1)));
  return bias;
}

/// An array [batch..., T, heads, width] and the view of it with heads before T: what a layer joins its heads from, and
/// what gradients are sent to, then lies in memory as the layer wants it.
Array empty_heads(const Shape& batch, Index heads, Index length, Index width, bool zeroed) {
  const Shape shape = batch.insert(-1, length).insert(-1, heads).insert(-1, width);
  return zeroed ? Array::zeros(shape) : Array::empty(shape);
}

/// Floating-point operations of the pairs that may attend: two products, the scale, a softmax (5), a bias, a dropout.
/// The blocks also multiply some pairs that may not, and leave their products out.
Index flops_of(const Plan& p) {
  Index pairs = 0;
  for (Index row = 0; row < p.batch * p.heads * p.queries; ++row) {
    const Index i = row % p.queries, first = p.first(i), end = std::max(first, p.end(i));
    pairs += end - first;
    if (p.mask) pairs -= std::count(p.mask->row(row) + first, p.mask->row(row) + end, std::uint8_t(0));
  }
  return pairs * (2 * p.width + 2 * p.value_width + 6 + (p.bias.defined() ? 1 : 0) + (p.drops ? 1 : 0));
}

void read_options(Plan& p, const AttentionOptions& o, const Shape& weights_shape) {
  p.scale = o.scale ? static_cast<real>(*o.scale) : real(1) / std::sqrt(static_cast<real>(p.width));
  p.causal = o.causal;
  p.window = o.window;
  check(o.window >= 0, "window ", o.window, " must be 0 or above");
  check(o.window == 0 || o.causal, "a window of recent keys needs causal");
  check(!o.causal || p.keys >= p.queries, "causal: ", p.queries, " queries need at least as many keys, not ", p.keys);
  check(o.dropout >= 0 && o.dropout <= 1, "dropout = ", o.dropout, " is not a probability");
  check(o.dropout == 0 || o.random, "dropout needs a generator");
  if (o.mask.defined()) p.mask.emplace(o.mask, weights_shape);
  if (o.alibi.defined()) {
    check(o.alibi.shape() == Shape{p.heads}, "alibi ", o.alibi.shape(), " needs one slope for each of ", p.heads,
          " heads");
    p.bias = alibi_bias(o.alibi, p.keys);
  }
}

}  // namespace

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  Op op("attention", q, k, v);
  check(q.dim() >= 2 && k.dim() >= 2 && v.dim() >= 2, "q ", q.shape(), ", k ", k.shape(), " and v ", v.shape(),
        " need a length and a width");
  check(q.size(-1) == k.size(-1), "q ", q.shape(), " and k ", k.shape(), " differ in their last extent");
  check(k.size(-2) == v.size(-2), "k ", k.shape(), " and v ", v.shape(), " differ in their length");
  const auto with_heads = [](const Array& x) { return x.rank() == 2 ? x.unsqueeze(0) : x; };
  Array qa = with_heads(q.array()), ka = with_heads(k.array()), va = with_heads(v.array());
  const auto lead = [](const Array& x) { return x.shape().without(-1).without(-1).without(-1); };
  const Shape batch = broadcast(broadcast(lead(qa), lead(ka)), lead(va));
  check(ka.shape()[-3] == va.shape()[-3], "k ", k.shape(), " and v ", v.shape(), " differ in their heads");
  check(ka.shape()[-3] > 0 ? qa.shape()[-3] % ka.shape()[-3] == 0 : qa.shape()[-3] == 0, "the ", qa.shape()[-3],
        " heads of q ", q.shape(), " cannot share the ", ka.shape()[-3], " of k ", k.shape());
  const auto expanded = [&](const Array& x) {
    const Shape s = x.shape();
    return x.expand(batch.insert(-1, s[-3]).insert(-1, s[-2]).insert(-1, s[-1]));
  };
  qa = expanded(qa), ka = expanded(ka), va = expanded(va);

  auto plan = std::make_shared<Plan>();
  Plan& p = *plan;
  p.batch = batch.numel(), p.heads = qa.shape()[-3], p.kv_heads = ka.shape()[-3];
  p.queries = qa.shape()[-2], p.keys = ka.shape()[-2], p.width = qa.shape()[-1], p.value_width = va.shape()[-1];
  p.q = rows_of(qa, batch), p.k = rows_of(ka, batch), p.v = rows_of(va, batch);
  const Shape weights_shape = batch.insert(-1, p.heads).insert(-1, p.queries).insert(-1, p.keys);
  read_options(p, options, weights_shape);
  guard(p);
  if (options.dropout > 0) {
    p.drops = true;
    p.drops_all = options.dropout == 1;
    p.kept_scale = real(1) / static_cast<real>(1 - options.dropout);
    const std::size_t n = static_cast<std::size_t>(weights_shape.numel());
    if (!p.drops_all) {
      p.bits.resize((n + 7) / 8);
      options.random->bernoulli_bits(p.bits, n, 1 - options.dropout);
    }
  }

  const bool headless = q.dim() == 2 && k.dim() == 2 && v.dim() == 2;
  const auto shaped = [headless](const Array& x) {  // [..., T, H, width] as [..., H, T, width]
    const Array y = x.transpose(-3, -2);
    return headless ? y.squeeze(0) : y;
  };
  Array y = empty_heads(batch, p.heads, p.queries, p.value_width, false), stats;
  const auto storage_for = [&](Array* out) {
    if (!out) return static_cast<real*>(nullptr);
    *out = Array::zeros(headless ? weights_shape.without(0) : weights_shape);
    return out->mutate();
  };
  real* const weights = storage_for(options.weights);
  real* const dropped = storage_for(options.dropped_weights);
  if (p.batch * p.heads * p.queries > 0) {
    stats = Array::empty({p.batch, p.heads, p.queries, 2});
    forward(p, y.mutate(), stats.mutate(), weights, dropped);
  }
  if (op.observed()) {
    op.flops(flops_of(p));
    op.note("weights", headless ? weights_shape.without(0) : weights_shape);
  }
  return op.record(shaped(y), [plan, qa, ka, va, stats, batch, shaped](const Array& dy, Grads& dx) {
    const Plan& made = *plan;
    const Array g = dy.rank() == batch.rank() + 3 ? dy : dy.unsqueeze(0);
    Array dq, dk, dv;
    Gradients to{};
    const auto wanted = [&](std::size_t i, Array& d, Index heads, Index length, Index width) -> real* {
      if (!dx.wants(i)) return nullptr;
      d = empty_heads(batch, heads, length, width, true);
      return d.mutate();
    };
    to.dq = wanted(0, dq, made.heads, made.queries, made.width);
    to.dk = wanted(1, dk, made.kv_heads, made.keys, made.width);
    to.dv = wanted(2, dv, made.kv_heads, made.keys, made.value_width);
    if (made.batch * made.heads * made.queries > 0) backward(made, rows_of(g, batch), stats.data(), to);
    if (to.dq) dx.add(0, shaped(dq));
    if (to.dk) dx.add(1, shaped(dk));
    if (to.dv) dx.add(2, shaped(dv));
  });
}

Array detail::attend_cached(const Array& q, const HeadRows& k, const HeadRows& v, Index kv_heads, Index keys,
                            Index value_width, const AttentionOptions& options) {
  const Tensor queries = q;
  Op op("attention", queries);
  Plan p;
  p.batch = q.shape()[0], p.heads = q.shape()[1], p.kv_heads = kv_heads;
  p.queries = q.shape()[2], p.keys = keys, p.width = q.shape()[3], p.value_width = value_width;
  p.q = rows_of(q, Shape{p.batch}), p.k = k, p.v = v;
  read_options(p, options, {p.batch, p.heads, p.queries, p.keys});
  guard(p);
  Array y = empty_heads(Shape{p.batch}, p.heads, p.queries, value_width, false);
  forward(p, y.mutate(), nullptr, nullptr, nullptr);
  if (op.observed()) {
    op.flops(flops_of(p));
    op.note("weights", {p.batch, p.heads, p.queries, p.keys});
  }
  return op.record(y.transpose(1, 2), [](const Array&, Grads&) {}).array();  // no input is tracked: never called
}

}  // namespace mote
