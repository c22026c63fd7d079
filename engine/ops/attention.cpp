// The attention op: what it computes, shows, records, and sends back.
#include "engine/ops/attention.h"

#include <algorithm>

#include "engine/autograd/op.h"
#include "engine/ops/attention_blocks.h"
#include "engine/ops/attention_guard.h"
#include "engine/ops/kv_cache.h"

namespace mote {
namespace {

using detail::AttentionGradients, detail::AttentionInputs, detail::AttentionPlan, detail::AttentionView,
    detail::HeadForm, detail::HeadRows, detail::HeadRowsOut, detail::weights_shape;

/// An array [batch..., T, heads, width]: outputs and gradients have the memory layout of joined heads.
Array empty_heads(const Shape& batch, Index heads, Index length, Index width) {
  return Array::empty(batch.insert(-1, length).insert(-1, heads).insert(-1, width));
}
/// It in the form of the inputs: [..., H, T, width], [T, width] or [B, T, H width].
Array in_form(const AttentionPlan& p, const Array& x) {
  if (p.form == HeadForm::joined || p.form == HeadForm::packed)
    return x.reshape({x.shape()[0], x.shape()[1], x.shape()[2] * x.shape()[3]});
  const Array y = x.transpose(-3, -2);
  return p.form == HeadForm::none ? y.squeeze(0) : y;
}

/// Pairs of a query and a key that may attend: the work is counted for these.
Index pairs_of(const AttentionView& p) {
  Index pairs = 0;
  for (Index row = 0; row < p.rows(); ++row) {
    const Index i = row % p.queries, first = p.first(i), end = std::max(first, p.end(i));
    pairs += end - first;
    if (p.mask) pairs -= std::count(p.mask->row(row) + first, p.mask->row(row) + end, std::uint8_t(0));
  }
  return pairs;
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

/// Gradients of q, k and v in one array, or in three.
void send_back(const Array& dy, Grads& dx, AttentionView p, const Array& kept, const Shape& batch) {
  Array parts[3], all;
  AttentionGradients to;
  if (p.form == HeadForm::packed) {
    const Index columns = (p.heads + 2 * p.kv_heads) * p.width;
    all = Array::empty({p.batch, p.queries, columns});
    to.q = {all.mutate(), p.queries * columns, p.width, columns};
    to.k = to.v = to.q;
    to.k.data += p.heads * p.width, to.v.data += (p.heads + p.kv_heads) * p.width;
  } else {
    const auto wanted = [&](std::size_t i, HeadRowsOut& out, Index heads, Index length, Index width) {
      if (!dx.wants(i)) return;
      parts[i] = empty_heads(batch, heads, length, width);
      out = {parts[i].mutate(), length * heads * width, width, heads * width};
    };
    wanted(0, to.q, p.heads, p.queries, p.width);
    wanted(1, to.k, p.kv_heads, p.keys, p.width);
    wanted(2, to.v, p.kv_heads, p.keys, p.value_width);
  }
  if (p.rows() > 0) {
    const HeadRows rows = result_rows(p, dy);
    p.guarded = backward_needs_guard(p, rows);
    attention_backward(p, rows, kept.data(), to);
  } else {
    for (Array* x : {&parts[0], &parts[1], &parts[2], &all})
      if (x->defined()) *x = Array::zeros(x->shape());
  }
  if (all.defined()) return dx.add(0, all);
  for (std::size_t i = 0; i < 3; ++i)
    if (parts[i].defined()) dx.add(i, in_form(p, parts[i]));
}

void state(Op& op, const AttentionView& p, const Shape& weights) {
  if (!op.watch()) return;
  const Index pairs = pairs_of(p), d = p.width, dv = p.value_width;
  const Index scores = 2 * d + 6 + (p.slopes ? 1 : 0), drop = p.drops ? 1 : 0;  // q k^T, scale, a softmax (5), alibi
  // Forward: scores and P V. Backward: scores again, dP = dY V^T, softmax (4) and dQ = dS K; dK = dS^T Q; dV = P^T dY.
  const Index forward = pairs * (scores + drop + 2 * dv), dq = forward + pairs * (4 + 2 * d);
  if (p.form == HeadForm::packed)
    op.flops(forward, {dq + pairs * 2 * (d + dv)});
  else
    op.flops(forward, {dq, pairs * 2 * d, pairs * 2 * dv});
  op.watch()->note("weights", weights);
}

/// Runs forward, shows what an observer wants, and returns the result [batch..., T, H, dv].
Array forward(Op& op, const AttentionView& view, const Array& q, real* kept) {
  Array y = empty_heads(batch_of(view, q), view.heads, view.queries, view.value_width);
  const Shape shape = weights_shape(view, q);
  Watch* const watch = op.watch();
  const auto wanted = [&](const char* value) {
    return watch && watch->wants(value) ? Array::zeros(shape) : Array();
  };
  Array weights = wanted("weights"), dropped = wanted("dropped_weights");
  const auto elements = [](Array& x) { return x.defined() ? x.mutate() : nullptr; };
  if (view.rows() > 0) attention_forward(view, y.mutate(), kept, elements(weights), elements(dropped));
  state(op, view, shape);
  if (weights.defined()) watch->show(op, "weights", weights);
  if (dropped.defined()) watch->show(op, "dropped_weights", dropped);
  if (watch && watch->wants("heads"))  // what enters a layer's output projection: all heads' results side by side
    watch->show(op, "heads", y.reshape(y.shape().without(-1).with(-1, view.heads * view.value_width)));
  return y;
}

Tensor attend(Op& op, const AttentionInputs& in, const AttentionOptions& options, const Generator* random) {
  AttentionPlan plan = in.with(options);
  const Array slopes = options.alibi.defined() ? options.alibi.contiguous() : Array();
  AttentionView view = view_of(plan, in.q, in.k, in.v, options.mask, slopes, {});
  const Storage bits = draw_dropout(view, options.dropout.value_or(0), random);  // after all checks
  view.bits = bits ? static_cast<const std::uint8_t*>(bits.data()) : nullptr;
  view.guarded = forward_needs_guard(view);
  const bool keeps = view.rows() > 0 && !NoGrad::active();
  view.keeps_weights = keeps && should_keep_weights(view);
  plan = view;  // what backward keeps, with
  Array kept;
  if (keeps) kept = Array::empty({plan.batch, plan.heads, detail::Kept<real>::size(plan)});
  const Array y = forward(op, view, in.q, keeps ? kept.mutate() : nullptr);
  return op.record(in_form(plan, y), save(plan, in.q, in.k, in.v, options.mask, slopes, kept, bits),
                   [](const Array& dy, Grads& dx, const AttentionPlan& plan, const Array& q, const Array& k,
                      const Array& v, const Mask& mask, const Array& slopes, const Array& kept, const Storage& bits) {
                     send_back(dy, dx, view_of(plan, q, k, v, mask, slopes, bits), kept, batch_of(plan, q));
                   });
}

Tensor attend(Op& op, const AttentionInputs& in, KeyValueCache& cache, const AttentionOptions& options) {
  check(NoGrad::active(), "a cache keeps values, not gradients: use it under NoGrad");
  check(options.causal.value_or(false), "a cache needs causal: later tokens must not change earlier ones");
  check(!options.mask.defined(), "a cache takes no mask");
  check(options.dropout.value_or(0) == 0, "a cache is for evaluation: call eval() first");
  check(cache.window() == options.window, "the cache is for a window of ", cache.window(), ", not ", options.window);
  check(in.plan.queries == in.plan.keys, "with a cache q ", in.q.shape(), " and k ", in.keys().shape(),
        " must have the same length");
  in.with(options);  // throws before the cache has the new rows
  cache.append(in.keys(), in.values());
  AttentionPlan plan = in.with(options, cache.count() - in.plan.keys);
  plan.first_key = cache.first();
  AttentionView view{plan, query_rows(plan, in.q), cache.keys(), cache.values()};
  const Array slopes = options.alibi.defined() ? options.alibi.contiguous() : Array();
  view.slopes = slopes.defined() ? slopes.data() : nullptr;
  view.guarded = forward_needs_guard(view);
  return op.record(in_form(plan, forward(op, view, in.q, nullptr)), [](const Array&, Grads&) {});  // never called
}

}  // namespace

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  Op op("attention", q, k, v);
  return attend(op, {q, k, v}, options, nullptr);
}
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options,
                 const Generator& random) {
  Op op("attention", q, k, v);
  return attend(op, {q, k, v}, options, &random);
}
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Heads& heads, const AttentionOptions& options,
                 const Generator& random) {
  Op op("attention", q, k, v);
  return attend(op, {q, k, v, heads}, options, &random);
}
Tensor attention(const Tensor& qkv, const Heads& heads, const AttentionOptions& options, const Generator& random) {
  Op op("attention", qkv);
  return attend(op, {qkv, heads}, options, &random);
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, KeyValueCache& cache,
                 const AttentionOptions& options) {
  Op op("attention", q, k, v);
  const AttentionInputs in(q, k, v);
  check(q.dim() == 4 && k.dim() == 4, "with a cache q ", q.shape(), " and k ", k.shape(), " must be [B, H, t, d]");
  return attend(op, in, cache, options);
}
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Heads& heads, KeyValueCache& cache,
                 const AttentionOptions& options) {
  Op op("attention", q, k, v);
  return attend(op, {q, k, v, heads}, cache, options);
}
Tensor attention(const Tensor& qkv, const Heads& heads, KeyValueCache& cache, const AttentionOptions& options) {
  Op op("attention", qkv);
  return attend(op, {qkv, heads}, cache, options);
}

}  // namespace mote
