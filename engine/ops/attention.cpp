// The attention op: checks the inputs, brings them into one form, and records the op and its backward rule.
#include "engine/ops/attention.h"

#include <algorithm>
#include <array>

#include "engine/ops/attention_pass.h"
#include "engine/ops/attention_plain.h"
#include "engine/ops/dropout.h"
#include "engine/ops/kv_cache.h"

namespace mote {
namespace {

using detail::AttentionPass, detail::AttentionPlan, detail::HeadView;

template <class A>
HeadView<const typename A::Element> view_of(const A& x) {
  return {x.data(), x.stride(0), x.stride(1), x.stride(2)};
}
/// A view for writing to x [B, T, heads, width], from head `first` on.
HeadView<real> view_to_fill(Array& x, Index first = 0) {
  real* const data = x.mutate() + first * x.stride(2);
  return {data, x.stride(0), x.stride(2), x.stride(1)};
}
/// Splits heads that lie side by side, as a view: [B, T, heads width] -> [B, heads, T, width].
Array apart(const Array& x, Index heads) {
  const Shape& s = x.shape();
  return x.reshape({s[0], s[1], heads, s[2] / heads}).transpose(1, 2);
}
/// x, copied if the elements of its rows are not adjacent.
Array with_rows(const Array& x) { return x.shape()[-1] <= 1 || x.stride(-1) == 1 ? x : x.contiguous(); }

void require_heads(const Heads& heads) {
  check_in("attention", heads.queries <= Shape::max_numel, heads.queries, " heads are too many");
  check_in("attention", heads.queries >= 1 && heads.keys >= 1 && heads.queries % heads.keys == 0, "the ", heads.queries,
           " heads of queries must be a multiple of the ", heads.keys, " heads of keys, and both at least 1");
}

void require_mask(const Mask& mask, const Shape& weights) {
  if (!mask.defined() || mask.layout().expands_to(weights)) return;
  const bool padding = mask.rank() == 2 && weights.rank() > 3 && mask.shape() == Shape{weights[0], weights[-1]};
  check_in("attention", false, "mask ", mask.shape(), " does not broadcast to the weights ", weights,
           padding ? ", [B, H, Tq, Tk]: pass a mask [B, Tk] of padding as key_padding(mask)"
                   : ", [..., H, Tq, Tk]: each of its extents must be 1 or that of the weights");
}

/// Checks that q, k and the options can be used with the key-value cache.
void require_cacheable(const Array& q, const Array& k, const AttentionOptions& o, const KeyValueCache& cache) {
  check(NoGrad::active(), "a cache keeps values, not gradients: use it under NoGrad");
  check(o.causal.value_or(false), "a cache needs causal: later tokens must not change earlier ones");
  check(!o.mask.defined(), "a cache takes no mask");
  check(o.dropout.value_or(0) == 0, "a cache takes no dropout: set dropout to 0, or call eval() on the model");
  check(cache.window() == o.window, "the cache was made with window ", cache.window(), ", but options.window is ",
        o.window);
  check(q.shape()[2] == k.shape()[2], "with a cache q ", q.shape(), " and k ", k.shape(),
        " must have the same length, the last extent but one");
}

/// The arrays q, k and v of one attention, each [B, H, T, width], and its sizes and switches. The constructor checks
/// the inputs and the options.
struct Inputs {
  Array q, k, v;                           // with a cache, k and v include the cached rows
  std::optional<KeyValueCache> next = {};  // the cache with the new rows appended
  AttentionPlan plan = {};

  Inputs(const Array& queries, const Array& keys, const Array& values, const AttentionOptions& o,
         const Generator* random, KeyValueCache* cache)
      : q(with_rows(queries)), k(with_rows(keys)), v(with_rows(values)) {
    o.require("attention");
    check(random != nullptr || o.dropout.value_or(0) == 0,
          "dropout needs a Generator: attention(q, k, v, options, random)");
    if (cache) {
      require_cacheable(q, k, o, *cache);
      next = cache->appended(k, v);
      k = next->keys();
      v = next->values();
      plan.first_key = next->first();
    }
    plan.batch = q.shape()[0];
    plan.heads = q.shape()[1];
    plan.kv_heads = k.shape()[1];
    plan.queries = q.shape()[2];
    plan.keys = k.shape()[2];
    plan.width = q.shape()[3];
    plan.value_width = v.shape()[3];
    plan.scale = o.scale_for(plan.width);
    plan.kept_scale = detail::kept_scale(o.dropout.value_or(0));
    plan.window = o.window;
    plan.causal = o.causal.value_or(false);
    check(!plan.causal || plan.keys >= plan.queries, "causal: ", plan.queries,
          " queries need at least as many keys, not ", plan.keys);
    check(!o.alibi.defined() || o.alibi.shape() == Shape{plan.heads}, "alibi ",
          o.alibi.defined() ? o.alibi.shape() : Shape{}, " needs one slope for each of ", plan.heads, " heads");
  }
};

AttentionPass pass_of(const AttentionPlan& plan, const Array& q, const Array& k, const Array& v, const Mask& mask,
                      const Array& slopes, const Storage& bits) {
  AttentionPass pass{plan, view_of(q), view_of(k), view_of(v)};
  if (mask.defined()) pass.mask = view_of(mask);
  if (slopes.defined()) pass.slopes = slopes.data();
  if (bits) pass.bits = static_cast<const std::uint8_t*>(bits.data());
  return pass;
}

/// Computes the gradients of q, k and v, and adds them to dx. Each gradient has its own array [B, T, heads, width].
/// If q, k and v are packed, one array holds all three gradients, side by side along the axis of heads.
void send_back(const Array& dy, Grads& dx, AttentionPass p, const Array& saved) {
  const Array rows = with_rows(p.packed ? apart(dy, p.heads) : dy);
  if (p.packed) {
    Array all = Array::empty({p.batch, p.queries, p.heads + 2 * p.kv_heads, p.width});
    detail::attention_backward(p, view_of(rows), saved.data(), view_to_fill(all), view_to_fill(all, p.heads),
                               view_to_fill(all, p.heads + p.kv_heads));
    return dx.add(0, all.reshape({p.batch, p.queries, (p.heads + 2 * p.kv_heads) * p.width}));
  }
  std::array<Array, 3> sums;
  std::array<HeadView<real>, 3> to;
  const Shape shapes[] = {{p.batch, p.queries, p.heads, p.width},
                          {p.batch, p.keys, p.kv_heads, p.width},
                          {p.batch, p.keys, p.kv_heads, p.value_width}};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!dx.wants(i)) continue;
    sums[i] = Array::empty(shapes[i]);
    to[i] = view_to_fill(sums[i]);
  }
  detail::attention_backward(p, view_of(rows), saved.data(), to[0], to[1], to[2]);
  for (std::size_t i = 0; i < 3; ++i)
    if (sums[i].defined()) dx.add(i, sums[i].transpose(1, 2));
}

/// Shows observers the scores and weights that they want to see. plain_weights() computes these values.
void show_weights(const Inputs& in, const AttentionOptions& o, const Generator* random) {
  const auto wanted = [](const char* value) { return wanted_value(value) != Want::nothing; };
  if (!wanted("scores") && !wanted("weights") && !wanted("dropped_weights")) return;

  std::vector<std::pair<const char*, Tensor>> values;
  {
    const NoGrad no_grad;
    const During<Observer*> unseen(thread_context.observer, nullptr);  // hides the separate ops from observers
    const Generator same;
    if (random) same.set_state(random->get_state());
    plain_weights(in.q, in.k, o, same, [&](const char* value, const Tensor& x) {
      values.emplace_back(value, x);
      return x;
    });
  }
  for (const auto& [value, x] : values)
    if (wanted(value)) show_value(value, x);
}

void show_heads(const Array& y) {
  if (wanted_value("heads") != Want::nothing) show_value("heads", y);
}

/// Whether an observer wants to change a value inside attention. If so, plain_attention() runs instead of the fused
/// op.
bool changed_inside() {
  for (const char* const value : {"scores", "weights", "dropped_weights", "heads"})
    if (wanted_value(value) == Want::to_change) return true;
  return false;
}

/// Computes and records the fused op. The caller has created `op` already.
Tensor attend(Op& op, Inputs in, const AttentionOptions& o, const Generator* random, KeyValueCache* cache) {
  const AttentionPlan& p = in.plan;
  show_weights(in, o, random);
  const Array slopes = o.alibi.defined() ? o.alibi.contiguous() : Array();
  Mask mask;
  if (o.mask.defined()) mask = detail::MaskRows(o.mask, {p.batch, p.heads, p.queries, p.keys}).mask;
  Storage bits;
  if (const double drop = o.dropout.value_or(0); drop > 0)
    bits = detail::draw_kept(p.batch * p.heads * p.queries * p.keys, drop, *random);
  Array saved;
  if (!NoGrad::active()) saved = Array::empty({p.batch, p.heads, p.saved_size()});
  Array y = Array::empty({p.batch, p.queries, p.heads, p.value_width});
  AttentionPass pass = pass_of(p, in.q, in.k, in.v, mask, slopes, bits);
  detail::attention_forward(pass, view_to_fill(y), saved.defined() ? saved.mutate() : nullptr);
  show_heads(y.transpose(1, 2));
  const Tensor result =
      op.record(p.packed ? y.reshape({p.batch, p.queries, p.heads * p.value_width}) : y.transpose(1, 2),
                save(p, in.q, in.k, in.v, mask, slopes, saved, bits),
                [](const Array& dy, Grads& dx, const AttentionPlan& plan, const Array& q, const Array& k,
                   const Array& v, const Mask& mask, const Array& slopes, const Array& saved,
                   const Storage& bits) { send_back(dy, dx, pass_of(plan, q, k, v, mask, slopes, bits), saved); });
  if (cache) *cache = *std::move(in.next);  // comes last, so that an error leaves the cache unchanged
  return result;
}

/// Attention of q [B, H, Tq, d], k [B, Hkv, Tk, d] and v [B, Hkv, Tk, dv]. The functions below bring their inputs
/// into this form.
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o, const Generator* random,
              KeyValueCache* cache) {
  if (changed_inside()) [[unlikely]] {
    const Op op("attention");
    Inputs in(q.array(), k.array(), v.array(), o, random, cache);
    const Tensor y = offer_value("heads", plain_attention(q, cache ? Tensor(in.k) : k, cache ? Tensor(in.v) : v, o,
                                                          random ? *random : Generator()));
    if (cache) *cache = *std::move(in.next);
    return y;
  }
  Op op("attention", q, k, v);
  return attend(op, Inputs(q.array(), k.array(), v.array(), o, random, cache), o, random, cache);
}

/// The extents of the axes before heads.
Shape leading(const Tensor& x) { return x.dim() > 3 ? x.shape().without(-1).without(-1).without(-1) : Shape{}; }
Index heads_of(const Tensor& x) { return x.dim() > 2 ? x.size(-3) : 1; }
Shape joined(const Shape& lead, Index heads, Index length, Index width) {
  return lead.insert(-1, heads).insert(-1, length).insert(-1, width);
}

/// The leading axes of q, k and v, broadcast together. Errors: sizes that do not fit each other.
Shape checked_leading(const Tensor& q, const Tensor& k, const Tensor& v) {
  const During<const char*> named(thread_context.op, "attention");
  for (const Tensor* x : {&q, &k, &v}) x->array().require();
  check(q.dim() >= 2, "q ", q.shape(), " needs at least 2 axes, [..., length, width]");
  check(k.dim() >= 2, "k ", k.shape(), " needs at least 2 axes, [..., length, width]");
  check(v.dim() >= 2, "v ", v.shape(), " needs at least 2 axes, [..., length, width]");
  check(q.size(-1) == k.size(-1), "q ", q.shape(), " and k ", k.shape(), " must have the same width, the last extent");
  check(k.size(-2) == v.size(-2), "k ", k.shape(), " and v ", v.shape(),
        " must have the same length, the last extent but one");
  check(heads_of(k) == heads_of(v), "k ", k.shape(), " and v ", v.shape(),
        " must have the same number of heads, the third extent from the end");
  check(heads_of(k) > 0 ? heads_of(q) % heads_of(k) == 0 : heads_of(q) == 0, "the ", heads_of(q), " heads of q ",
        q.shape(), " must be a multiple of the ", heads_of(k), " heads of k ", k.shape());
  return broadcast(broadcast(leading(q), leading(k)), leading(v));
}

/// Attention with heads on an axis of their own. If the leading axes are not a single B, they are merged into one,
/// and the result gets them back.
Tensor over_axis(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o, const Generator* random,
                 KeyValueCache* cache) {
  const Shape lead = checked_leading(q, k, v);
  const Shape weights = joined(lead, heads_of(q), q.size(-2), k.size(-2));
  if (!cache) require_mask(o.mask, weights);
  const auto fits = [&](const Tensor& x) { return x.dim() == 4 && leading(x) == lead; };
  if (fits(q) && fits(k) && fits(v)) return attend(q, k, v, o, random, cache);
  check_in("attention", !cache, "with a cache q ", q.shape(), " and k ", k.shape(), " must be [B, H, t, d]");
  const Index batch = lead.numel();
  const auto in_form = [&](const Tensor& x) {
    const Index heads = heads_of(x), length = x.size(-2), width = x.size(-1);
    return reshape(expand(x, joined(lead, heads, length, width)), {batch, heads, length, width});
  };
  const Tensor queries = in_form(q);
  const Tensor keys = in_form(k);
  const Tensor values = in_form(v);
  AttentionOptions options = o;
  if (o.mask.defined()) options.mask = o.mask.expand(weights).reshape({batch, heads_of(q), q.size(-2), k.size(-2)});
  const bool headless = q.dim() == 2 && k.dim() == 2 && v.dim() == 2;
  const Shape result = headless ? Shape{q.size(-2), v.size(-1)} : weights.with(-1, v.size(-1));
  return reshape(attend(queries, keys, values, options, random, nullptr), result);
}

/// Attention with heads side by side in the last axis.
Tensor over_heads(const Tensor& q, const Tensor& k, const Tensor& v, const Heads& heads, const AttentionOptions& o,
                  const Generator* random, KeyValueCache* cache) {
  require_heads(heads);
  const Tensor queries = split_heads(q, heads.queries);
  const Tensor keys = split_heads(k, heads.keys);
  const Tensor values = split_heads(v, heads.keys);
  return join_heads(over_axis(queries, keys, values, o, random, cache));
}

}  // namespace

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  return over_axis(q, k, v, options, nullptr, nullptr);
}
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options,
                 const Generator& random, KeyValueCache* cache) {
  return over_axis(q, k, v, options, &random, cache);
}
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Heads& heads, const AttentionOptions& options,
                 const Generator& random, KeyValueCache* cache) {
  return over_heads(q, k, v, heads, options, &random, cache);
}
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Heads& heads,
                 const AttentionOptions& options) {
  return over_heads(q, k, v, heads, options, nullptr, nullptr);
}
Tensor attention(const Tensor& qkv, const Heads& heads, const AttentionOptions& options, const Generator& random,
                 KeyValueCache* cache) {
  require_heads(heads);
  qkv.array().require("attention");
  const Index k = heads.queries, v = k + heads.keys, all = v + heads.keys;
  check_in("attention", qkv.dim() == 3 && qkv.size(2) % all == 0, "qkv ", qkv.shape(),
           " must be [B, T, C] with C a multiple of ", all, " heads: ", heads.queries, " of queries, ", heads.keys,
           " of keys and ", heads.keys, " of values");
  if (!cache) require_mask(options.mask, {qkv.size(0), heads.queries, qkv.size(1), qkv.size(1)});
  if (changed_inside()) [[unlikely]] {
    const std::vector<Tensor> parts = split(split_heads(qkv, all), {heads.queries, heads.keys, heads.keys}, 1);
    return join_heads(attend(parts[0], parts[1], parts[2], options, &random, cache));
  }
  Op op("attention", qkv);
  const Array x = apart(qkv.array(), all);
  Inputs in(x.slice(1, 0, k), x.slice(1, k, v), x.slice(1, v, all), options, &random, cache);
  in.plan.packed = true;
  return attend(op, std::move(in), options, &random, cache);
}

}  // namespace mote
