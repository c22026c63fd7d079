// The attention op: what it refuses, the plan it makes of its inputs and options, what it records.
#include "engine/ops/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "engine/ops/attention_plan.h"

namespace mote {
namespace {

using detail::HeadRows;
using detail::Plan;

/// x [batch..., H, T, width] as rows. `batch` is the shape that x's leading axes were expanded to.
HeadRows rows_of(const Array& x, const Shape& batch) {
  HeadRows rows{x.data(), std::vector<Index>(static_cast<std::size_t>(batch.numel())), x.stride(-3), x.stride(-2),
                x.stride(-1)};
  for (Index b = 0; b < batch.numel(); ++b) {
    Index left = b, offset = 0;
    for (int axis = batch.rank() - 1; axis >= 0; left /= batch[axis], --axis)
      offset += left % batch[axis] * x.stride(axis);
    rows.batch[static_cast<std::size_t>(b)] = offset;
  }
  return rows;
}

/// Whether nothing is NaN, infinite, or so large that a sum of products of two such numbers may be: 2e14 in float
/// leaves room for a width and a dropout factor of some ten thousand each.
bool all_harmless(const HeadRows& x, Index batch, Index heads, Index length, Index width) {
  const real largest = std::sqrt(std::numeric_limits<real>::max()) / 65536;
  for (Index b = 0; b < batch; ++b)
    for (Index h = 0; h < heads; ++h)
      for (Index t = 0; t < length; ++t) {
        const real* const row = x.at(b, h, t);
        int harmful = 0;
        if (x.column == 1)  // nearly always: written out, so that the compiler takes several numbers at once
          for (Index i = 0; i < width; ++i) harmful |= !(std::abs(row[i]) <= largest);
        else
          for (Index i = 0; i < width; ++i) harmful |= !(std::abs(row[i * x.column]) <= largest);
        if (harmful) return false;
      }
  return true;
}

/// Whether some query may not see some key. A cache's newest token alone sees all.
bool hides(const Plan& p) { return p.mask || (p.causal && (p.queries > 1 || p.window > 0)); }

/// Masked keys or values that are NaN, infinite or huge must not be multiplied by their weight of 0.
void guard(Plan& p) {
  if (!hides(p)) return;
  p.guarded = !all_harmless(p.v, p.batch, p.kv_heads, p.keys, p.value_width) ||
              !all_harmless(p.k, p.batch, p.kv_heads, p.keys, p.width);
}

/// Nor, in backward, may queries and their gradients be, for the keys that they do not see.
void guard_backward(Plan& p, const HeadRows& dy) {
  if (p.guarded || !hides(p)) return;
  p.guarded = !all_harmless(p.q, p.batch, p.heads, p.queries, p.width) ||
              !all_harmless(dy, p.batch, p.heads, p.queries, p.value_width);
}

/// The bias of alibi for every head and distance: -slope |m| at [h, Tk - 1 + m]. The first of more queries than keys
/// stands before the first key.
Array alibi_bias(const Array& slopes, Index queries, Index keys) {
  const Index span = keys + std::max(queries, keys);
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
  check(!o.scale || std::abs(*o.scale) <= static_cast<double>(std::numeric_limits<real>::max()), "scale ",
        o.scale.value_or(0), " is not finite");
  p.scale = o.scale ? static_cast<real>(*o.scale) : real(1) / std::sqrt(static_cast<real>(std::max<Index>(p.width, 1)));
  p.causal = o.causal;
  p.window = o.window;
  check(o.window >= 0, "window ", o.window, " must be 0 or above");
  check(o.window == 0 || o.causal, "a window of recent keys needs causal");
  check(!o.causal || p.keys >= p.queries, "causal: ", p.queries, " queries need at least as many keys, not ", p.keys);
  check(o.dropout >= 0 && o.dropout <= 1, "dropout = ", o.dropout, " is not a probability");
  check(o.dropout == 0 || o.random, "dropout needs a generator");
  check(!o.weights || o.weights != o.dropped_weights, "weights and dropped_weights need an Array each");
  if (o.mask.defined()) p.mask.emplace(o.mask, weights_shape);
  if (o.alibi.defined()) {
    check(o.alibi.shape() == Shape{p.heads}, "alibi ", o.alibi.shape(), " needs one slope for each of ", p.heads,
          " heads");
    p.bias = alibi_bias(o.alibi, p.queries, p.keys);
  }
}

/// q, k and v with heads, and leading axes that are equal.
struct Inputs {
  Array q, k, v;
  Shape batch;    // the leading axes
  bool headless;  // none of the three had heads: nor has the result
  Shape weights() const { return batch.insert(-1, q.shape()[-3]).insert(-1, q.shape()[-2]).insert(-1, k.shape()[-2]); }
  Shape shown_weights() const { return headless ? weights().without(0) : weights(); }
};

Inputs inputs_of(const Tensor& q, const Tensor& k, const Tensor& v) {
  for (const Tensor* x : {&q, &k, &v}) x->array().require();
  check(q.dim() >= 2 && k.dim() >= 2 && v.dim() >= 2, "q ", q.shape(), ", k ", k.shape(), " and v ", v.shape(),
        " need a length and a width");
  check(q.size(-1) == k.size(-1), "q ", q.shape(), " and k ", k.shape(), " differ in their last extent");
  check(k.size(-2) == v.size(-2), "k ", k.shape(), " and v ", v.shape(), " differ in their length");
  const auto with_heads = [](const Array& x) { return x.rank() == 2 ? x.unsqueeze(0) : x; };
  Inputs in{with_heads(q.array()), with_heads(k.array()), with_heads(v.array()), {}, false};
  in.headless = q.dim() == 2 && k.dim() == 2 && v.dim() == 2;
  const Index heads = in.q.shape()[-3], kv_heads = in.k.shape()[-3];
  check(kv_heads == in.v.shape()[-3], "k ", k.shape(), " and v ", v.shape(), " differ in their heads");
  check(kv_heads > 0 ? heads % kv_heads == 0 : heads == 0, "the ", heads, " heads of q ", q.shape(),
        " cannot share the ", kv_heads, " of k ", k.shape());
  const auto lead = [](const Array& x) { return x.shape().without(-1).without(-1).without(-1); };
  in.batch = broadcast(broadcast(lead(in.q), lead(in.k)), lead(in.v));
  for (Array* x : {&in.q, &in.k, &in.v}) {
    const Shape s = x->shape();
    *x = x->expand(in.batch.insert(-1, s[-3]).insert(-1, s[-2]).insert(-1, s[-1]));
  }
  return in;
}

void draw_dropout(Plan& p, const AttentionOptions& o, Index weights) {
  if (o.dropout == 0) return;
  p.drops = true;
  p.drops_all = o.dropout == 1;
  p.kept_scale = real(1) / static_cast<real>(1 - o.dropout);
  if (p.drops_all) return;
  const std::size_t n = static_cast<std::size_t>(weights);
  p.bits.resize((n + 7) / 8);
  o.random->bernoulli_bits(p.bits, n, 1 - o.dropout);
}

std::shared_ptr<Plan> plan_of(const Inputs& in, const AttentionOptions& options) {
  auto plan = std::make_shared<Plan>();
  Plan& p = *plan;
  p.batch = in.batch.numel(), p.heads = in.q.shape()[-3], p.kv_heads = in.k.shape()[-3];
  p.queries = in.q.shape()[-2], p.keys = in.k.shape()[-2], p.width = in.q.shape()[-1];
  p.value_width = in.v.shape()[-1];
  p.q = rows_of(in.q, in.batch), p.k = rows_of(in.k, in.batch), p.v = rows_of(in.v, in.batch);
  read_options(p, options, in.weights());
  guard(p);
  draw_dropout(p, options, in.weights().numel());
  return plan;
}

}  // namespace
template <>
inline constexpr bool is_saveable<std::shared_ptr<Plan>> = true;
template <>
inline constexpr bool is_saveable<Inputs> = true;

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  Op op("attention", q, k, v);
  const Inputs in = inputs_of(q, k, v);
  const std::shared_ptr<Plan> plan = plan_of(in, options);
  const Plan& p = *plan;
  const bool headless = in.headless;
  const auto shaped = [headless](const Array& x) {  // [..., T, H, width] as [..., H, T, width]
    const Array y = x.transpose(-3, -2);
    return headless ? y.squeeze(0) : y;
  };
  Array y = empty_heads(in.batch, p.heads, p.queries, p.value_width, false), stats;
  const auto storage_for = [&](Array* out) {
    if (!out) return static_cast<real*>(nullptr);
    *out = Array::zeros(in.shown_weights());
    return out->mutate();
  };
  real* const weights = storage_for(options.weights);
  real* const dropped = storage_for(options.dropped_weights);
  if (p.batch * p.heads * p.queries > 0) {
    stats = Array::empty({p.batch, p.heads, p.queries, 2});
    detail::attention_forward(p, y.mutate(), stats.mutate(), weights, dropped);
  }
  if (op.watched()) {
    op.flops(flops_of(p));
    op.note("weights", in.shown_weights());
  }
  // The plan points into in's arrays, so they are held as long as it is.
  return op.record(
      shaped(y), save(plan, in, stats),
      [](const Array& dy, Grads& dx, const std::shared_ptr<Plan>& plan, const Inputs& in, const Array& stats) {
        Plan& made = *plan;
        const bool headless = in.headless;
        const auto shaped = [headless](const Array& x) {
          const Array y = x.transpose(-3, -2);
          return headless ? y.squeeze(0) : y;
        };
        const Shape& batch = in.batch;
        const Array g = dy.rank() == batch.rank() + 3 ? dy : dy.unsqueeze(0);
        Array dq, dk, dv;
        detail::Gradients to{};
        const auto wanted = [&](std::size_t i, Array& d, Index heads, Index length, Index width) -> real* {
          if (!dx.wants(i)) return nullptr;
          d = empty_heads(batch, heads, length, width, true);
          return d.mutate();
        };
        to.dq = wanted(0, dq, made.heads, made.queries, made.width);
        to.dk = wanted(1, dk, made.kv_heads, made.keys, made.width);
        to.dv = wanted(2, dv, made.kv_heads, made.keys, made.value_width);
        if (made.batch * made.heads * made.queries > 0) {
          const HeadRows rows = rows_of(g, batch);
          guard_backward(made, rows);
          detail::attention_backward(made, rows, stats.data(), to);
        }
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
  detail::attention_forward(p, y.mutate(), nullptr, nullptr, nullptr);
  if (op.watched()) {
    op.flops(flops_of(p));
    op.note("weights", {p.batch, p.heads, p.queries, p.keys});
  }
  return op.record(y.transpose(1, 2), [](const Array&, Grads&) {}).array();  // no input is tracked: never called
}

}  // namespace mote
