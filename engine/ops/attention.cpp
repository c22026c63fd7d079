// The attention op: its checks, the plan it makes from inputs and options, and what it records.
#include "engine/ops/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/autograd/shown.h"
#include "engine/ops/attention_blocks.h"
#include "engine/ops/attention_guard.h"
#include "engine/ops/kv_cache.h"

namespace mote {
namespace {

using detail::AttentionGradients, detail::AttentionPlan, detail::AttentionView, detail::HeadRows, detail::rows_of;

/// The bias of alibi for every head and distance: -slope |m| at [h, Tk - 1 + m]. With more queries than keys, the first
/// query precedes the first key. Undefined without slopes.
Array alibi_bias(const AttentionPlan& p, const Array& slopes) {
  if (!slopes.defined()) return {};
  Array bias = Array::empty({p.heads, p.span()});
  real* out = bias.mutate();
  for (const real slope : slopes.to_vector())
    for (Index m = 0; m < p.span(); ++m) *out++ = -slope * static_cast<real>(std::abs(m - (p.keys - 1)));
  return bias;
}

/// An array [batch..., T, heads, width], of which heads_first is the view with heads before T: outputs and gradients
/// then have the memory layout from which a layer joins its heads.
Array empty_heads(const Shape& batch, Index heads, Index length, Index width, bool zeroed) {
  const Shape shape = batch.insert(-1, length).insert(-1, heads).insert(-1, width);
  return zeroed ? Array::zeros(shape) : Array::empty(shape);
}
/// That view: [..., T, H, width] as [..., H, T, width], or [T, width] if no input had heads.
Array heads_first(const AttentionPlan& p, const Array& x) {
  const Array y = x.transpose(-3, -2);
  return p.headless ? y.squeeze(0) : y;
}

/// Pairs of a query and a key that may attend: the work is counted for these. The blocks also multiply some that may
/// not, and leave their products out.
Index pairs_of(const AttentionView& p) {
  Index pairs = 0;
  for (Index row = 0; row < p.rows(); ++row) {
    const Index i = row % p.queries, first = p.first(i), end = std::max(first, p.end(i));
    pairs += end - first;
    if (p.mask) pairs -= std::count(p.mask->row(row) + first, p.mask->row(row) + end, std::uint8_t(0));
  }
  return pairs;
}

/// The axes before the last three.
Shape leading(const Array& x) { return x.shape().without(-1).without(-1).without(-1); }

/// q, k and v with heads and equal leading axes.
struct Inputs {
  Array q, k, v;
  bool headless;
  Shape batch() const { return leading(q); }
};

Inputs inputs_of(const Tensor& q, const Tensor& k, const Tensor& v) {
  for (const Tensor* x : {&q, &k, &v}) x->array().require();
  check(q.dim() >= 2 && k.dim() >= 2 && v.dim() >= 2, "q ", q.shape(), ", k ", k.shape(), " and v ", v.shape(),
        " need a length and a width");
  check(q.size(-1) == k.size(-1), "q ", q.shape(), " and k ", k.shape(), " differ in their last extent");
  check(k.size(-2) == v.size(-2), "k ", k.shape(), " and v ", v.shape(), " differ in their length");
  const auto with_heads = [](const Array& x) { return x.rank() == 2 ? x.unsqueeze(0) : x; };
  Inputs in{with_heads(q.array()), with_heads(k.array()), with_heads(v.array()),
            q.dim() == 2 && k.dim() == 2 && v.dim() == 2};
  const Index heads = in.q.shape()[-3], kv_heads = in.k.shape()[-3];
  check(kv_heads == in.v.shape()[-3], "k ", k.shape(), " and v ", v.shape(), " differ in their heads");
  check(kv_heads > 0 ? heads % kv_heads == 0 : heads == 0, "the ", heads, " heads of q ", q.shape(),
        " cannot share the ", kv_heads, " of k ", k.shape());
  const Shape batch = broadcast(broadcast(leading(in.q), leading(in.k)), leading(in.v));
  for (Array* x : {&in.q, &in.k, &in.v}) {
    const Shape s = x->shape();
    *x = x->expand(batch.insert(-1, s[-3]).insert(-1, s[-2]).insert(-1, s[-1]));
  }
  return in;
}

/// `keys` more keys than k has are in a cache.
AttentionPlan plan_of(const Inputs& in, const AttentionOptions& o, Index cached = 0) {
  AttentionPlan p;
  p.batch = in.batch().numel(), p.heads = in.q.shape()[-3], p.kv_heads = in.k.shape()[-3];
  p.queries = in.q.shape()[-2], p.keys = cached + in.k.shape()[-2], p.width = in.q.shape()[-1];
  p.value_width = in.v.shape()[-1];
  p.headless = in.headless;
  o.require("attention");
  p.scale = o.scale ? static_cast<real>(*o.scale) : real(1) / std::sqrt(static_cast<real>(std::max<Index>(p.width, 1)));
  p.causal = o.causal.value_or(false);
  p.window = o.window;
  check(!p.causal || p.keys >= p.queries, "causal: ", p.queries, " queries need at least as many keys, not ", p.keys);
  if (o.alibi.defined())
    check(o.alibi.shape() == Shape{p.heads}, "alibi ", o.alibi.shape(), " needs one slope for each of ", p.heads,
          " heads");
  return p;
}

Shape weights_shape(const AttentionPlan& p, const Shape& batch) {
  return batch.insert(-1, p.heads).insert(-1, p.queries).insert(-1, p.keys);
}
Shape shown_shape(const AttentionPlan& p, const Shape& batch) {
  return p.headless ? weights_shape(p, batch).without(0) : weights_shape(p, batch);
}

/// One bit per weight: whether it is kept.
Storage draw_dropout(AttentionPlan& p, double dropout, const Generator* random) {
  check(dropout == 0 || random, "dropout needs a generator");
  p.drops = dropout > 0;
  p.drops_all = dropout == 1;
  if (!p.drops || p.drops_all) return {};
  p.kept_scale = real(1) / static_cast<real>(1 - dropout);
  const std::size_t n = static_cast<std::size_t>(p.rows() * p.keys);
  const Storage bits((n + 7) / 8);
  random->bernoulli_bits({static_cast<std::uint8_t*>(bits.data()), bits.bytes()}, n, 1 - dropout);
  return bits;
}

AttentionView view_of(const AttentionPlan& p, const Array& q, const Array& k, const Array& v, const Mask& mask,
                      const Array& bias, const Storage& bits) {
  AttentionView view{p, rows_of(q), rows_of(k), rows_of(v)};
  if (mask.defined()) {
    const Shape full = weights_shape(p, leading(q));
    const bool padding = mask.rank() == 2 && mask.shape()[-1] == p.keys && mask.shape()[0] == p.batch;
    const char* const axes = full.rank() == 3 ? "[H, Tq, Tk] = " : full.rank() == 4 ? "[B, H, Tq, Tk] = " : "";
    check(mask.layout().expands_to(full), "mask ", mask.shape(), " does not broadcast to ", axes, full,
          padding ? "; key_padding(mask) makes [B, 1, 1, Tk] of one that says which keys of each row are padding" : "");
    view.mask.emplace(mask, full);
  }
  view.bias = bias.defined() ? bias.data() : nullptr;
  view.bits = bits ? static_cast<const std::uint8_t*>(bits.data()) : nullptr;
  return view;
}

/// The backward rule, from what forward saved.
void send_back(const Array& dy, Grads& dx, AttentionView p, const Array& stats, const Shape& batch) {
  Array dq, dk, dv;
  const auto wanted = [&](std::size_t i, Array& d, Index heads, Index length, Index width) -> real* {
    if (!dx.wants(i)) return nullptr;
    d = empty_heads(batch, heads, length, width, true);
    return d.mutate();
  };
  AttentionGradients to{};
  to.dq = wanted(0, dq, p.heads, p.queries, p.width);
  to.dk = wanted(1, dk, p.kv_heads, p.keys, p.width);
  to.dv = wanted(2, dv, p.kv_heads, p.keys, p.value_width);
  if (p.rows() > 0) {
    const HeadRows rows = rows_of(p.headless ? dy.unsqueeze(0) : dy);
    p.guarded = backward_needs_guard(p, rows);
    attention_backward(p, rows, stats.data(), to);
  }
  if (to.dq) dx.add(0, heads_first(p, dq));
  if (to.dk) dx.add(1, heads_first(p, dk));
  if (to.dv) dx.add(2, heads_first(p, dv));
}

void state(Op& op, const AttentionView& p, const Shape& batch) {
  if (!op.watched()) return;
  const Index pairs = pairs_of(p), d = p.width, dv = p.value_width;
  const Index scores = 2 * d + 6 + (p.bias ? 1 : 0), drop = p.drops ? 1 : 0;  // q k^T, the scale, a softmax (5), alibi
  // Forward: scores and P V. Backward: scores again, dP = dY V^T, softmax (4) and dQ = dS K; dK = dS^T Q; dV = P^T dY.
  op.flops(pairs * (scores + drop + 2 * dv),
           {pairs * (scores + drop + 2 * dv + 4 + 2 * d), pairs * 2 * d, pairs * 2 * dv});
  op.note("weights", shown_shape(p, batch));
}

/// What enters a layer's output projection: the results of all heads side by side, [..., T, H dv]. y [..., T, H, dv].
void show_heads(const Op& op, const Array& y) {
  if (op.wants("heads")) op.show("heads", y.reshape(y.shape().without(-1).with(-1, y.shape()[-2] * y.shape()[-1])));
}

Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options,
              const Generator* random) {
  Op op("attention", q, k, v);
  const Inputs in = inputs_of(q, k, v);
  const Shape batch = in.batch();
  const AttentionPlan asked = plan_of(in, options);
  const Array bias = alibi_bias(asked, options.alibi);
  AttentionView view = view_of(asked, in.q, in.k, in.v, options.mask, bias, {});
  const Storage bits = draw_dropout(view, options.dropout.value_or(0), random);  // after all checks
  view.bits = bits ? static_cast<const std::uint8_t*>(bits.data()) : nullptr;
  view.guarded = forward_needs_guard(view);
  const AttentionPlan plan = view;  // what backward keeps

  Array y = empty_heads(batch, plan.heads, plan.queries, plan.value_width, false), stats;
  Shown weights(op, "weights", shown_shape(plan, batch)), dropped(op, "dropped_weights", shown_shape(plan, batch));
  if (plan.rows() > 0) {
    stats = Array::empty({plan.batch, plan.heads, plan.queries, 2});
    attention_forward(view, y.mutate(), stats.mutate(), weights.mutate(), dropped.mutate());
  }
  state(op, view, batch);
  weights.show();
  dropped.show();
  show_heads(op, y);
  return op.record(heads_first(plan, y), save(plan, in.q, in.k, in.v, options.mask, bias, stats, bits),
                   [](const Array& dy, Grads& dx, const AttentionPlan& plan, const Array& q, const Array& k,
                      const Array& v, const Mask& mask, const Array& bias, const Array& stats, const Storage& bits) {
                     send_back(dy, dx, view_of(plan, q, k, v, mask, bias, bits), stats, leading(q));
                   });
}

}  // namespace

void AttentionOptions::require(const char* who) const {
  check_in(who, !scale || std::abs(*scale) <= static_cast<double>(std::numeric_limits<real>::max()), "scale ",
           scale.value_or(0), " is not finite");
  check_in(who, window >= 0, "window ", window, " must be at least 0");
  check_in(who, window == 0 || causal.value_or(false), "a window of recent keys needs causal");
  check_in(who, !dropout || (*dropout >= 0 && *dropout <= 1), "dropout = ", dropout.value_or(0),
           " is not a probability");
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  return attend(q, k, v, options, nullptr);
}
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options,
                 const Generator& random) {
  return attend(q, k, v, options, &random);
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, KeyValueCache& cache,
                 const AttentionOptions& options) {
  Op op("attention", q, k, v);
  check(NoGrad::active(), "a cache keeps values, not gradients: use it under NoGrad");
  check(options.causal.value_or(false), "a cache needs causal: later tokens must not change earlier ones");
  check(!options.mask.defined(), "a cache takes no mask");
  check(options.dropout.value_or(0) == 0, "a cache is for evaluation: call eval() first");
  check(cache.window() == options.window, "the cache is for a window of ", cache.window(), ", not ", options.window);
  const Inputs in = inputs_of(q, k, v);
  check(q.dim() == 4 && k.dim() == 4, "with a cache q ", q.shape(), " and k ", k.shape(), " must be [B, H, t, d]");
  check(q.size(-2) == k.size(-2), "with a cache q ", q.shape(), " and k ", k.shape(), " must have the same length");
  plan_of(in, options);  // throws before the cache has the new rows
  cache.append(in.k, in.v);
  const AttentionPlan plan = plan_of(in, options, cache.count() - in.k.shape()[-2]);
  const Array bias = alibi_bias(plan, options.alibi);
  AttentionView view{plan, rows_of(in.q), cache.keys(), cache.values()};
  view.bias = bias.defined() ? bias.data() : nullptr;
  view.guarded = forward_needs_guard(view);
  Array y = empty_heads(in.batch(), plan.heads, plan.queries, plan.value_width, false);
  const Shape shape = shown_shape(plan, in.batch());
  Shown weights(op, "weights", shape), dropped(op, "dropped_weights", shape);
  attention_forward(view, y.mutate(), nullptr, weights.mutate(), dropped.mutate());
  state(op, view, in.batch());
  weights.show();
  dropped.show();
  show_heads(op, y);
  return op.record(heads_first(plan, y), [](const Array&, Grads&) {});  // under NoGrad: never called
}

}  // namespace mote
