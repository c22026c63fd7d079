// How attention's inputs and options become a plan.
#include "engine/ops/attention_plan.h"

#include <cmath>
#include <limits>

namespace mote {

void AttentionOptions::require(const char* who) const {
  check_in(who, !scale || std::abs(*scale) <= static_cast<double>(std::numeric_limits<real>::max()), "scale ",
           scale.value_or(0), " is not finite");
  check_in(who, window >= 0, "window ", window, " must be at least 0");
  check_in(who, window == 0 || causal.value_or(false), "a window of recent keys needs causal");
  check_in(who, !dropout || (*dropout >= 0 && *dropout <= 1), "dropout = ", dropout.value_or(0),
           " is not a probability");
}

namespace detail {
namespace {

/// The kernels read rows whose elements are adjacent.
Array with_rows(const Array& x) { return x.shape()[-1] <= 1 || x.stride(-1) == 1 ? x : x.contiguous(); }

/// The axes before the last three.
Shape leading(const Array& x) { return x.shape().without(-1).without(-1).without(-1); }

void require_heads(const Heads& heads) {
  check(heads.queries >= 1 && heads.keys >= 1 && heads.queries % heads.keys == 0, heads.queries,
        " heads of queries cannot share ", heads.keys, " of keys");
}

/// Heads `first` on, side by side in the rows of x [B, T, heads * width].
HeadRows joined_rows(const Array& x, Index first, Index width) {
  return {x.data() + first * width, x.stride(0), width * x.stride(2), x.stride(1), x.stride(2)};
}

}  // namespace

AttentionInputs::AttentionInputs(const Tensor& q_in, const Tensor& k_in, const Tensor& v_in) {
  for (const Tensor* x : {&q_in, &k_in, &v_in}) x->array().require();
  check(q_in.dim() >= 2 && k_in.dim() >= 2 && v_in.dim() >= 2, "q ", q_in.shape(), ", k ", k_in.shape(), " and v ",
        v_in.shape(), " need a length and a width");
  check(q_in.size(-1) == k_in.size(-1), "q ", q_in.shape(), " and k ", k_in.shape(), " differ in their last extent");
  check(k_in.size(-2) == v_in.size(-2), "k ", k_in.shape(), " and v ", v_in.shape(), " differ in their length");
  const auto with_heads = [](const Tensor& x) {
    const Array rows = with_rows(x.array());
    return rows.rank() == 2 ? rows.unsqueeze(0) : rows;
  };
  q = with_heads(q_in), k = with_heads(k_in), v = with_heads(v_in);
  if (q_in.dim() == 2 && k_in.dim() == 2 && v_in.dim() == 2) plan.form = HeadForm::none;
  plan.heads = q.shape()[-3], plan.kv_heads = k.shape()[-3];
  check(plan.kv_heads == v.shape()[-3], "k ", k_in.shape(), " and v ", v_in.shape(), " differ in their heads");
  check(plan.kv_heads > 0 ? plan.heads % plan.kv_heads == 0 : plan.heads == 0, "the ", plan.heads, " heads of q ",
        q_in.shape(), " cannot share the ", plan.kv_heads, " of k ", k_in.shape());
  if (!(leading(q) == leading(k) && leading(k) == leading(v))) {
    const Shape batch = broadcast(broadcast(leading(q), leading(k)), leading(v));
    for (Array* x : {&q, &k, &v}) {
      const Shape s = x->shape();
      *x = x->expand(batch.insert(-1, s[-3]).insert(-1, s[-2]).insert(-1, s[-1]));
    }
  }
  plan.batch = leading(q).numel(), plan.queries = q.shape()[-2], plan.keys = k.shape()[-2];
  plan.width = q.shape()[-1], plan.value_width = v.shape()[-1];
}

AttentionInputs::AttentionInputs(const Tensor& q_in, const Tensor& k_in, const Tensor& v_in, const Heads& heads)
    : q(with_rows(q_in.array())), k(with_rows(k_in.array())), v(with_rows(v_in.array())) {
  require_heads(heads);
  plan.form = HeadForm::joined;
  check(q.rank() == 3 && k.rank() == 3 && v.rank() == 3, "q ", q.shape(), ", k ", k.shape(), " and v ", v.shape(),
        " of joined heads must be [B, T, C]");
  check(q.shape()[2] % heads.queries == 0 && k.shape()[2] % heads.keys == 0 && v.shape()[2] % heads.keys == 0 &&
            q.shape()[2] / heads.queries == k.shape()[2] / heads.keys,
        "q ", q.shape(), ", k ", k.shape(), " and v ", v.shape(), " do not hold ", heads.queries, ", ", heads.keys,
        " and ", heads.keys, " heads, of one width in q and k");
  check(k.shape()[1] == v.shape()[1], "k ", k.shape(), " and v ", v.shape(), " differ in their length");
  const Index batch = broadcast(broadcast(Shape{q.shape()[0]}, Shape{k.shape()[0]}), Shape{v.shape()[0]})[0];
  for (Array* x : {&q, &k, &v})
    if (x->shape()[0] != batch) *x = x->expand(x->shape().with(0, batch));
  plan.heads = heads.queries, plan.kv_heads = heads.keys, plan.batch = batch;
  plan.queries = q.shape()[1], plan.keys = k.shape()[1];
  plan.width = q.shape()[2] / heads.queries, plan.value_width = v.shape()[2] / heads.keys;
}

AttentionInputs::AttentionInputs(const Tensor& qkv, const Heads& heads) : q(with_rows(qkv.array())) {
  require_heads(heads);
  plan.form = HeadForm::packed;
  const Index all = heads.queries + 2 * heads.keys;
  check(q.rank() == 3 && q.shape()[2] % all == 0, "qkv ", q.shape(), " must be [B, T, C] with C a multiple of ", all,
        " heads: ", heads.queries, " of queries, ", heads.keys, " of keys and ", heads.keys, " of values");
  plan.heads = heads.queries, plan.kv_heads = heads.keys, plan.batch = q.shape()[0];
  plan.queries = plan.keys = q.shape()[1];
  plan.width = plan.value_width = q.shape()[2] / all;
}

AttentionPlan AttentionInputs::with(const AttentionOptions& o, Index cached) const {
  AttentionPlan p = plan;
  p.keys += cached;
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

namespace {
Array split(const Array& x, Index first, Index heads, Index width) {
  return x.slice(2, first * width, (first + heads) * width)
      .reshape({x.shape()[0], x.shape()[1], heads, width})
      .transpose(1, 2);
}
}  // namespace

Array AttentionInputs::keys() const {
  if (plan.form == HeadForm::packed) return split(q, plan.heads, plan.kv_heads, plan.width);
  return plan.form == HeadForm::joined ? split(k, 0, plan.kv_heads, plan.width) : k;
}
Array AttentionInputs::values() const {
  if (plan.form == HeadForm::packed) return split(q, plan.heads + plan.kv_heads, plan.kv_heads, plan.width);
  return plan.form == HeadForm::joined ? split(v, 0, plan.kv_heads, plan.value_width) : v;
}

Shape batch_of(const AttentionPlan& p, const Array& q) {
  return p.form == HeadForm::axis || p.form == HeadForm::none ? leading(q) : Shape{p.batch};
}

Shape weights_shape(const AttentionPlan& p, const Array& q) {
  if (p.form == HeadForm::none) return {p.queries, p.keys};
  return batch_of(p, q).insert(-1, p.heads).insert(-1, p.queries).insert(-1, p.keys);
}

AttentionView view_of(const AttentionPlan& p, const Array& q, const Array& k, const Array& v, const Mask& mask,
                      const Array& slopes, const Storage& bits) {
  AttentionView view{p, query_rows(p, q), {}, {}};
  if (p.form == HeadForm::packed) {
    view.k = joined_rows(q, p.heads, p.width);
    view.v = joined_rows(q, p.heads + p.kv_heads, p.width);
  } else if (p.form == HeadForm::joined) {
    view.k = joined_rows(k, 0, p.width), view.v = joined_rows(v, 0, p.value_width);
  } else {
    view.k = rows_of(k), view.v = rows_of(v);
  }
  if (mask.defined()) {
    const Shape full = batch_of(p, q).insert(-1, p.heads).insert(-1, p.queries).insert(-1, p.keys);
    const bool padding = mask.rank() == 2 && mask.shape()[-1] == p.keys && mask.shape()[0] == p.batch;
    const char* const axes = full.rank() == 3 ? "[H, Tq, Tk] = " : full.rank() == 4 ? "[B, H, Tq, Tk] = " : "";
    check(mask.layout().expands_to(full), "mask ", mask.shape(), " does not broadcast to ", axes, full,
          padding ? "; key_padding(mask) makes [B, 1, 1, Tk] of one that says which keys of each row are padding" : "");
    view.mask.emplace(mask, full);
  }
  view.slopes = slopes.defined() ? slopes.data() : nullptr;
  view.bits = bits ? static_cast<const std::uint8_t*>(bits.data()) : nullptr;
  return view;
}

HeadRows query_rows(const AttentionPlan& p, const Array& q) {
  return p.form == HeadForm::joined || p.form == HeadForm::packed ? joined_rows(q, 0, p.width) : rows_of(q);
}

HeadRows result_rows(const AttentionPlan& p, const Array& y) {
  if (p.form == HeadForm::joined || p.form == HeadForm::packed) return joined_rows(y, 0, p.value_width);
  return rows_of(p.form == HeadForm::none ? y.unsqueeze(0) : y);
}

}  // namespace detail
}  // namespace mote
