// MultiHeadAttention's construction and forward pass: project, cut into heads, attend, join, project.
#include "nn/attention.h"

#include <optional>

#include "engine/ops/view.h"

namespace mote {
namespace {

/// The sizes with every 0 filled in. Errors: those that cannot be.
MultiHeadAttentionOptions filled(Index width, Index heads, MultiHeadAttentionOptions o) {
  check_in("MultiHeadAttention", width >= 1 && heads >= 1, "width ", width, " and heads ", heads,
           " must be at least 1");
  check_in("MultiHeadAttention", width % heads == 0, "width ", width, " is not divisible by ", heads, " heads");
  const auto fill = [](Index& size, Index otherwise) { size = size != 0 ? size : otherwise; };
  fill(o.n_kv_head, heads);
  check_in("MultiHeadAttention", o.n_kv_head >= 1 && heads % o.n_kv_head == 0, heads,
           " heads cannot share n_kv_head = ", o.n_kv_head, " evenly");
  check_in("MultiHeadAttention", !o.fused || (o.key_width == 0 && o.value_width == 0),
           "key_width and value_width need fused = false: one projection has one input");
  check_in("MultiHeadAttention", o.block_size >= 0, "block_size ", o.block_size, " must be 0 (any length) or above");
  check_in("MultiHeadAttention", o.window >= 0 && (o.window == 0 || o.causal), "window ", o.window,
           " needs causal and must not be negative");
  fill(o.d_in, width);
  fill(o.d_out, width);
  fill(o.key_width, o.d_in);
  fill(o.value_width, o.d_in);
  fill(o.value_head, width / heads);
  for (const Index size : {o.d_in, o.d_out, o.key_width, o.value_width, o.value_head})
    check_in("MultiHeadAttention", size >= 1, "a width of ", size, " is not possible");
  return o;
}

std::optional<Linear> projection(bool there, Index in, Index out, const Init& init, bool bias) {
  if (!there) return std::nullopt;
  return Linear(in, out, init, bias);
}

/// The slopes of ALiBi: 2^(-8/H), 2^(-16/H), ... for a power of two; for other H those of the next lower power, and
/// then every other one of the next higher. Source: Press et al. 2022.
Array alibi_slopes(Index heads) {
  Index power = 1;
  while (2 * power <= heads) power *= 2;
  const auto slope = [](Index i, Index of) {
    return math::exp(-8.0 * static_cast<double>(i) / static_cast<double>(of) * math::log(2.0));
  };
  Array slopes = Array::empty({heads});
  real* const out = slopes.mutate();
  for (Index h = 0; h < heads; ++h)
    out[h] = static_cast<real>(h < power ? slope(h + 1, power) : slope(2 * (h - power) + 1, 2 * power));
  return slopes;
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(Index width, Index heads, const Init& init,
                                       const MultiHeadAttentionOptions& given)
    : c_proj(1, 1, Init::none(init.random())),
      attn_dropout(given.dropout, init.random()),
      resid_dropout(given.resid_dropout.value_or(given.dropout), init.random()),
      n_head(heads),
      n_embd(width),
      options(filled(width, heads, given)) {
  const MultiHeadAttentionOptions& o = options;
  n_kv_head = o.n_kv_head, head_width = width / heads, value_head = o.value_head;
  const Index keys = n_kv_head * head_width, values = n_kv_head * value_head;
  const Init first = o.torch_init ? Init::none(init.random()) : init;
  c_attn = projection(o.fused, o.d_in, width + keys + values, first, o.bias);
  q_proj = projection(!o.fused, o.d_in, width, first, o.bias);
  k_proj = projection(!o.fused, o.key_width, keys, first, o.bias);
  v_proj = projection(!o.fused, o.value_width, values, first, o.bias);
  c_proj = Linear(heads * value_head, o.d_out, init, o.out_bias.value_or(o.bias));
  if (options.alibi) slopes_ = alibi_slopes(heads);
  if (options.rotary) {
    if (options.rotary->length == 0) options.rotary->length = o.block_size;
    rotary.emplace(head_width, *options.rotary);
  }
  if (!o.torch_init || !init.draws()) return;
  if (c_proj.bias.defined()) init::constant(c_proj.bias, 0);
  // PyTorch keeps the three in one matrix when all inputs are equally wide: then one bound holds for all.
  const bool packed = o.key_width == o.d_in && o.value_width == o.d_in;
  const double in = static_cast<double>(o.d_in), out = static_cast<double>(width + keys + values);
  for (const std::optional<Linear>* p : {&c_attn, &q_proj, &k_proj, &v_proj}) {
    if (!*p) continue;
    if (packed)
      init::xavier_uniform((*p)->weight, {in, out}, init.random());
    else
      init::xavier_uniform((*p)->weight, init.random());
  }
}

void MultiHeadAttention::check_input(const char* role, const Tensor& x, Index width) const {
  check_in("MultiHeadAttention", x.dim() == 3 && x.size(2) == width, role, " ", x.shape(), " must be [B, T, ", width,
           "]");
  check_in("MultiHeadAttention", options.block_size == 0 || x.size(1) <= options.block_size, "T = ", x.size(1),
           " is above block_size ", options.block_size);
}

MultiHeadAttention::Projected MultiHeadAttention::project(const Tensor& query, const Tensor& key, const Tensor& value,
                                                          Index position) const {
  // [B, T, H * width] -> [B, H, T, width]: a view, nothing is copied
  const auto heads = [](const Tensor& x, Index count, Index width) {
    return transpose(reshape(x, {x.size(0), x.size(1), count, width}), 1, 2);
  };
  Projected p;
  if (c_attn) {
    const auto same = [](const Tensor& a, const Tensor& b) {
      const Array &x = a.array(), &y = b.array();  // the same numbers with the same history: a detached copy has none
      return a.node() == b.node() && x.data() == y.data() && x.shape() == y.shape() && x.strides() == y.strides();
    };
    check_in("MultiHeadAttention", same(query, key) && same(query, value),
             "query, key and value are three inputs; construct it with fused = false");
    const Tensor qkv = (*c_attn)(query);  // [B, T, queries | keys | values]
    const Index keys = n_embd + n_kv_head * head_width;
    p.q = heads(slice(qkv, 2, 0, n_embd), n_head, head_width);
    p.k = heads(slice(qkv, 2, n_embd, keys), n_kv_head, head_width);
    p.v = heads(slice(qkv, 2, keys, qkv.size(2)), n_kv_head, value_head);
  } else {
    p.q = heads((*q_proj)(query), n_head, head_width);
    p.k = heads((*k_proj)(key), n_kv_head, head_width);
    p.v = heads((*v_proj)(value), n_kv_head, value_head);
  }
  if (rotary) {
    p.q = (*rotary)(p.q, position);
    p.k = (*rotary)(p.k, position);
  }
  return p;
}

AttentionOptions MultiHeadAttention::how(const Mask& mask) const {
  AttentionOptions o;
  o.causal = options.causal;
  o.mask = mask;
  o.window = options.window;
  o.alibi = slopes_;
  if (attn_dropout.training()) o.dropout = attn_dropout.p, o.random = &attn_dropout.random;
  return o;
}

Tensor MultiHeadAttention::output_of(const Tensor& y) const {  // [B, H, T, value_head] -> [B, T, d_out]
  return resid_dropout(c_proj(reshape(transpose(y, 1, 2), {y.size(0), y.size(2), n_head * value_head})));
}

Attended MultiHeadAttention::run(const Tensor& query, const Tensor& key, const Tensor& value, const Mask& mask,
                                 bool weights) const {
  check_input(c_attn ? "x" : "query", query, options.d_in);
  if (!c_attn) {
    check_input("key", key, options.key_width);
    check_input("value", value, options.value_width);
  }
  const Projected p = project(query, key, value, 0);
  AttentionOptions o = how(mask);
  Attended result;
  if (weights) o.weights = &result.weights, o.dropped_weights = &result.dropped_weights;
  const Tensor y = attention(p.q, p.k, p.v, o);
  result.output = output_of(y);
  return result;
}

Tensor MultiHeadAttention::forward(const Tensor& x, KeyValueCache& cache) const {
  check_in("MultiHeadAttention", options.causal, "a cache needs causal: later tokens must not change earlier ones");
  check_in("MultiHeadAttention", NoGrad::active(), "a cache keeps numbers, not gradients: use it under NoGrad");
  check_in("MultiHeadAttention", x.dim() == 3 && x.size(2) == options.d_in, "x ", x.shape(), " must be [B, T, ",
           options.d_in, "]");
  check_in("MultiHeadAttention", options.block_size == 0 || cache.length() + x.size(1) <= options.block_size,
           "T = ", cache.length() + x.size(1), " is above block_size ", options.block_size);
  check_in("MultiHeadAttention", cache.window() == options.window, "the cache is for a window of ", cache.window(),
           ", this layer's is ", options.window, "; take it from cache()");
  const AttentionOptions o = how({});
  const bool drops = o.dropout > 0 || (resid_dropout.training() && resid_dropout.p > 0);
  check_in("MultiHeadAttention", !drops, "a cache is for evaluation: call eval() first");
  const Projected p = project(x, x, x, cache.length());
  cache.append(p.k.array(), p.v.array());
  return output_of(
      detail::attend_cached(p.q.array(), cache.keys(), cache.values(), n_kv_head, cache.count(), value_head, o));
}

namespace {
[[noreturn]] void refuse_numbers(const Tensor& mask) {
  detail::fail_with("MultiHeadAttention", "the mask ", mask.shape(),
                    " is made of numbers; a Mask says true = may attend: compare (m > 0), or from_blocked(m) if 1 "
                    "means blocked; cross-attention takes query, key and value");
}
}  // namespace
Tensor MultiHeadAttention::forward(const Tensor&, const Tensor& mask) const { refuse_numbers(mask); }
Tensor MultiHeadAttention::forward(const Tensor&, const Tensor&, const Tensor&, const Tensor& mask) const {
  refuse_numbers(mask);
}
Attended MultiHeadAttention::with_weights(const Tensor&, const Tensor& mask) const {
  const detail::OpenLayer here(*this);
  refuse_numbers(mask);
}
Attended MultiHeadAttention::with_weights(const Tensor& query, const Tensor&, const Tensor&, const Tensor& mask) const {
  return with_weights(query, mask);
}

Attended MultiHeadAttention::with_weights(const Tensor& query, const Tensor& key, const Tensor& value,
                                          const Mask& mask) const {
  const detail::OpenLayer here(*this);
  return run(query, key, value, mask, true);
}

void MultiHeadAttention::visit(Visitor& v) {
  v("c_attn", c_attn);
  v("q_proj", q_proj);
  v("k_proj", k_proj);
  v("v_proj", v_proj);
  v(options.fused ? "c_proj" : "o_proj", c_proj);
  v("attn_dropout", attn_dropout);
  v("resid_dropout", resid_dropout);
}

}  // namespace mote
