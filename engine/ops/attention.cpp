// The attention op: what it takes, computes, shows, records, and sends back.
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

// Heads: the op works on views [B, H, T, width] of what the caller gave, and writes results and gradients with heads
// side by side, [B, T, H width], of which it returns views in the caller's form.

/// q, k and v as such views, whose rows have adjacent elements; and the shape of the result as the caller gets it.
struct Inputs {
  Array q, k, v;
  Shape result;
  bool joined = false, packed = false;  // see AttentionPlan
};

Array with_rows(const Array& x) { return x.shape()[-1] <= 1 || x.stride(-1) == 1 ? x : x.contiguous(); }

/// x [B, T, heads width] as [B, H, T, width].
Array joined_heads(const Array& x, Index heads) {
  const Shape& s = x.shape();
  return with_rows(x.reshape(Shape{s[0], s[1], heads, s[2] / heads}).transpose(1, 2));
}

/// The axes before heads.
Shape leading(const Shape& s) { return s.rank() > 3 ? s.without(-1).without(-1).without(-1) : Shape{}; }

/// x [..., H, T, width], or [T, width] with one head, as [B, H, T, width]: a copy if no stride leads over all axes
/// before H.
Array heads_axis(const Array& x) {
  const Shape& s = x.shape();
  const Index heads = s.rank() > 2 ? s[-3] : 1;
  return with_rows(s.rank() == 4 ? x : x.reshape({leading(s).numel(), heads, s[-2], s[-1]}));
}

/// A result or gradient [B, T, heads width] as the caller gets it, with the axes of `result` before heads.
Array in_form(const AttentionPlan& p, const Array& x, Index heads, Index width, const Shape& result) {
  if (p.joined) return x;
  const Shape &s = x.shape(), shape = result.with(-2, s[1]).with(-1, width);
  const Array y = x.reshape({s[0], s[1], heads, width}).transpose(1, 2);
  return y.reshape(shape.rank() > 2 ? shape.with(-3, heads) : shape);
}

Inputs inputs_with_axis(const Tensor& q, const Tensor& k, const Tensor& v) {
  for (const Tensor* x : {&q, &k, &v}) x->array().require();
  check(q.dim() >= 2 && k.dim() >= 2 && v.dim() >= 2, "q ", q.shape(), ", k ", k.shape(), " and v ", v.shape(),
        " need a length and a width");
  check(q.size(-1) == k.size(-1), "q ", q.shape(), " and k ", k.shape(), " differ in their last extent");
  check(k.size(-2) == v.size(-2), "k ", k.shape(), " and v ", v.shape(), " differ in their length");
  const auto heads_of = [](const Tensor& x) { return x.dim() > 2 ? x.size(-3) : 1; };
  check(heads_of(k) == heads_of(v), "k ", k.shape(), " and v ", v.shape(), " differ in their heads");
  check(heads_of(k) > 0 ? heads_of(q) % heads_of(k) == 0 : heads_of(q) == 0, "the ", heads_of(q), " heads of q ",
        q.shape(), " cannot share the ", heads_of(k), " of k ", k.shape());
  const Shape batch = broadcast(broadcast(leading(q.shape()), leading(k.shape())), leading(v.shape()));
  const auto view = [&](const Tensor& x) {
    const Shape full = batch.insert(-1, heads_of(x)).insert(-1, x.size(-2)).insert(-1, x.size(-1));
    return heads_axis(leading(x.shape()) == batch ? x.array() : x.array().expand(full));
  };
  const bool headless = q.dim() == 2 && k.dim() == 2 && v.dim() == 2;
  const Shape outer = headless ? Shape{} : batch.insert(-1, heads_of(q));
  return {view(q), view(k), view(v), outer.insert(-1, q.size(-2)).insert(-1, v.size(-1))};
}

void require_heads(const Heads& heads) {
  check(heads.queries >= 1 && heads.keys >= 1 && heads.queries % heads.keys == 0, heads.queries,
        " heads of queries cannot share ", heads.keys, " of keys");
}

Inputs inputs_joined(const Tensor& q, const Tensor& k, const Tensor& v, const Heads& heads) {
  require_heads(heads);
  check(q.dim() == 3 && k.dim() == 3 && v.dim() == 3, "q ", q.shape(), ", k ", k.shape(), " and v ", v.shape(),
        " of joined heads must be [B, T, C]");
  check(q.size(2) % heads.queries == 0 && k.size(2) % heads.keys == 0 && v.size(2) % heads.keys == 0 &&
            q.size(2) / heads.queries == k.size(2) / heads.keys,
        "q ", q.shape(), ", k ", k.shape(), " and v ", v.shape(), " do not hold ", heads.queries, ", ", heads.keys,
        " and ", heads.keys, " heads, of one width in q and k");
  check(k.size(1) == v.size(1), "k ", k.shape(), " and v ", v.shape(), " differ in their length");
  const Index batch = broadcast(broadcast(Shape{q.size(0)}, Shape{k.size(0)}), Shape{v.size(0)})[0];
  const auto view = [batch](const Array& x, Index count) {
    return joined_heads(x.shape()[0] == batch ? x : x.expand(x.shape().with(0, batch)), count);
  };
  return {.q = view(q.array(), heads.queries),
          .k = view(k.array(), heads.keys),
          .v = view(v.array(), heads.keys),
          .result = {batch, q.size(1), v.size(2) / heads.keys * heads.queries},
          .joined = true};
}

Inputs inputs_packed(const Tensor& qkv, const Heads& heads) {
  require_heads(heads);
  const Index all = heads.queries + 2 * heads.keys;
  check(qkv.dim() == 3 && qkv.size(2) % all == 0, "qkv ", qkv.shape(), " must be [B, T, C] with C a multiple of ", all,
        " heads: ", heads.queries, " of queries, ", heads.keys, " of keys and ", heads.keys, " of values");
  const Array x = joined_heads(qkv.array(), all);
  const Index k = heads.queries, v = k + heads.keys;
  return {.q = x.slice(1, 0, k),
          .k = x.slice(1, k, v),
          .v = x.slice(1, v, all),
          .result = {qkv.size(0), qkv.size(1), heads.queries * x.shape()[3]},
          .joined = true,
          .packed = true};
}

AttentionPlan plan_of(const Inputs& in, const AttentionOptions& o) {
  o.require("attention");
  const Shape &q = in.q.shape(), &k = in.k.shape();
  AttentionPlan p;
  p.batch = q[0], p.heads = q[1], p.kv_heads = k[1], p.queries = q[2], p.keys = k[2];
  p.width = q[3], p.value_width = in.v.shape()[3], p.joined = in.joined, p.packed = in.packed;
  p.formula = o.formula(p.width);
  p.kept_scale = detail::kept_scale(o.dropout.value_or(0));
  p.causal = o.causal.value_or(false);
  p.window = o.window;
  check(!p.causal || p.keys >= p.queries, "causal: ", p.queries, " queries need at least as many keys, not ", p.keys);
  if (o.alibi.defined())
    check(o.alibi.shape() == Shape{p.heads}, "alibi ", o.alibi.shape(), " needs one slope for each of ", p.heads,
          " heads");
  return p;
}

/// [..., H, Tq, Tk], without H if the result has none.
Shape weights_shape(const AttentionPlan& p, const Shape& result) {
  return p.joined ? Shape{p.batch, p.heads, p.queries, p.keys} : result.with(-1, p.keys);
}

HeadView<const real> view_of(const Array& x) { return {x.data(), x.stride(0), x.stride(1), x.stride(2)}; }
/// The columns of x [B, T, columns] from `first` on, as rows of heads to be filled.
HeadView<real> view_to_fill(Array& x, Index first, Index width) {
  const Index columns = x.shape()[2];
  return {x.mutate() + first, x.shape()[1] * columns, width, columns};
}

AttentionPass pass_of(const AttentionPlan& p, const Array& q, const Array& k, const Array& v, const Mask& mask,
                      const Array& slopes, const Storage& bits, const Shape& result) {
  AttentionPass pass{p, view_of(q), view_of(k), view_of(v)};
  if (mask.defined()) {
    const Shape weights = weights_shape(p, result), full = weights.rank() > 2 ? weights : weights.insert(0, 1);
    check(mask.layout().expands_to(full), "mask ", mask.shape(), " does not broadcast to [..., H, Tq, Tk] = ", full,
          "; key_padding() makes one of a mask [B, Tk] of the keys that may be attended to");
    pass.mask.emplace(mask, full);
  }
  if (slopes.defined()) pass.slopes = slopes.data();
  if (bits) pass.bits = static_cast<const std::uint8_t*>(bits.data());
  return pass;
}

/// Gradients of q, k and v in three arrays, or side by side in one.
void send_back(const Array& dy, Grads& dx, AttentionPass p, const Array& saved) {
  const std::array<Index, 3> heads{p.heads, p.kv_heads, p.kv_heads}, lengths{p.queries, p.keys, p.keys},
      widths{p.width, p.width, p.value_width};
  std::array<Array, 3> sums;
  std::array<HeadView<real>, 3> to;
  Index first = 0;  // of the columns in the array of all
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t at = p.packed ? 0 : i;
    if (!dx.wants(at)) continue;
    const Index columns = p.packed ? (p.heads + 2 * p.kv_heads) * p.width : heads[i] * widths[i];
    const Shape shape{p.batch, lengths[i], columns};
    if (!sums[at].defined()) sums[at] = Array::empty(shape);
    to[i] = view_to_fill(sums[at], first, widths[i]);
    if (p.packed) first += heads[i] * widths[i];
  }
  const Array rows = p.joined ? joined_heads(dy, p.heads) : heads_axis(dy);
  attention_backward(p, view_of(rows), saved.data(), to[0], to[1], to[2]);
  for (std::size_t i = 0; i < 3; ++i)
    if (sums[i].defined()) dx.add(i, in_form(p, sums[i], heads[i], widths[i], dy.shape()));
}

/// Runs forward and shows what an observer wants. Returns the result.
Array forward(AttentionPass& p, const Inputs& in, const AttentionOptions& options, real* saved) {
  const Shape& result = in.result;
  Array y = Array::empty({p.batch, p.queries, p.heads * p.value_width});
  const Shape shape = weights_shape(p, result);
  const auto wants = [](const char* value) { return wanted_value(value) != Want::nothing; };
  const bool drops = p.bits != nullptr, shows_dropped = wants("dropped_weights");
  Array weights, dropped;
  if (wants("weights") || (shows_dropped && !drops)) weights = Array::empty(shape);
  if (shows_dropped && drops) dropped = Array::empty(shape);
  const auto elements = [](Array& x) { return x.defined() ? x.mutate() : nullptr; };
  attention_forward(p, view_to_fill(y, 0, p.value_width), saved, elements(weights), elements(dropped));
  if (wants("scores")) show_value("scores", reshape(plain_scores(in.q, repeat_heads(in.k, p.heads), options), shape));
  if (weights.defined()) show_value("weights", weights);
  if (shows_dropped) show_value("dropped_weights", drops ? dropped : weights);
  const Array out = in_form(p, y, p.heads, p.value_width, result);
  if (wants("heads")) show_value("heads", p.joined ? joined_heads(out, p.heads) : out);
  return out;
}

/// What a cache does not go together with.
void require_cacheable(const Inputs& in, const AttentionOptions& o, const KeyValueCache& cache) {
  check(NoGrad::active(), "a cache keeps values, not gradients: use it under NoGrad");
  check(o.causal.value_or(false), "a cache needs causal: later tokens must not change earlier ones");
  check(!o.mask.defined(), "a cache takes no mask");
  check(o.dropout.value_or(0) == 0, "a cache is for evaluation: call eval() first");
  check(cache.window() == o.window, "the cache is for a window of ", cache.window(), ", not ", o.window);
  check(in.q.shape()[2] == in.k.shape()[2], "with a cache q ", in.q.shape(), " and k ", in.k.shape(),
        " must have the same length");
}

/// Whether an observer changes a value inside: then the op runs as its formula.
bool reached_inside() {
  for (const char* const value : {"scores", "weights", "dropped_weights", "heads"})
    if (wanted_value(value) == Want::to_change) return true;
  return false;
}
/// For heads on an axis of their own.
Tensor by_formula(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options,
                  const Generator* random, KeyValueCache* cache) {
  const Op op("attention");
  const Inputs in = inputs_with_axis(q, k, v);
  plan_of(in, options);  // for its checks
  check(random != nullptr || options.dropout.value_or(0) == 0, "dropout needs a generator");
  const Generator& draws = random ? *random : Generator();
  if (!cache) return reshape(plain_attention(q, k, v, options, draws), in.result);
  require_cacheable(in, options, *cache);
  KeyValueCache next = cache->appended(k.array(), v.array());
  const Tensor y = plain_attention(q, next.keys(), next.values(), options, draws);
  *cache = std::move(next);
  return y;
}

Tensor attend(Op& op, Inputs in, const AttentionOptions& options, const Generator* random, KeyValueCache* cache) {
  std::optional<KeyValueCache> next;
  if (cache) {
    require_cacheable(in, options, *cache);
    next = cache->appended(in.k, in.v);
    in.k = next->keys(), in.v = next->values();
  }
  AttentionPlan plan = plan_of(in, options);
  if (next) plan.first_key = next->first();
  Array saved;
  plan.saves_weights = !NoGrad::active() && detail::SavedBlock<real>::should_save_weights(plan);
  if (!NoGrad::active()) saved = Array::empty({plan.batch, plan.heads, detail::SavedBlock<real>::size(plan)});
  const Array slopes = options.alibi.defined() ? options.alibi.contiguous() : Array();
  AttentionPass pass = pass_of(plan, in.q, in.k, in.v, options.mask, slopes, {}, in.result);
  Storage bits;
  if (const double p = options.dropout.value_or(0); p > 0) {  // after all other checks
    check(random != nullptr, "dropout needs a generator");
    bits = detail::draw_kept(pass.rows() * pass.keys, p, *random);
    pass.bits = static_cast<const std::uint8_t*>(bits.data());
  }
  const Array y = forward(pass, in, options, saved.defined() ? saved.mutate() : nullptr);
  const Tensor result =
      op.record(y, save(plan, in.q, in.k, in.v, options.mask, slopes, saved, bits),
                [](const Array& dy, Grads& dx, const AttentionPlan& plan, const Array& q, const Array& k,
                   const Array& v, const Mask& mask, const Array& slopes, const Array& saved, const Storage& bits) {
                  send_back(dy, dx, pass_of(plan, q, k, v, mask, slopes, bits, dy.shape()), saved);
                });
  if (next) *cache = *std::move(next);  // nothing can fail from here on
  return result;
}

/// For heads on an axis of their own.
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options,
              const Generator* random, KeyValueCache* cache) {
  if (reached_inside()) [[unlikely]]
    return by_formula(q, k, v, options, random, cache);
  Op op("attention", q, k, v);
  check(!cache || (q.dim() == 4 && k.dim() == 4), "with a cache q ", q.shape(), " and k ", k.shape(),
        " must be [B, H, t, d]");
  return attend(op, inputs_with_axis(q, k, v), options, random, cache);
}

}  // namespace

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  return attend(q, k, v, options, nullptr, nullptr);
}
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options,
                 const Generator& random, KeyValueCache* cache) {
  return attend(q, k, v, options, &random, cache);
}
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Heads& heads, const AttentionOptions& options,
                 const Generator& random, KeyValueCache* cache) {
  if (reached_inside()) [[unlikely]] {
    const Op op("attention");
    inputs_joined(q, k, v, heads);  // for its checks
    return join_heads(by_formula(split_heads(q, heads.queries), split_heads(k, heads.keys), split_heads(v, heads.keys),
                                 options, &random, cache));
  }
  Op op("attention", q, k, v);
  return attend(op, inputs_joined(q, k, v, heads), options, &random, cache);
}
Tensor attention(const Tensor& qkv, const Heads& heads, const AttentionOptions& options, const Generator& random,
                 KeyValueCache* cache) {
  if (reached_inside()) [[unlikely]] {
    const Op op("attention");
    inputs_packed(qkv, heads);
    const Tensor all = split_heads(qkv, heads.queries + 2 * heads.keys);
    const std::vector<Tensor> parts = split(all, {heads.queries, heads.keys, heads.keys}, 1);
    return join_heads(by_formula(parts[0], parts[1], parts[2], options, &random, cache));
  }
  Op op("attention", qkv);
  return attend(op, inputs_packed(qkv, heads), options, &random, cache);
}

}  // namespace mote
