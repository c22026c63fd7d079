// MultiHeadAttention's construction and forward pass: project, split into heads, attend, join, project.
#include "nn/multi_head_attention.h"
#include "nn/attention_weights.h"

namespace mote {

/// The options with all widths filled in. Errors: a width below 1.
static MultiHeadAttentionOptions resolved(Index width, Index heads, const AttentionOptions& attention,
                                          MultiHeadAttentionOptions o) {
  o.n_kv_head = checked_heads("MultiHeadAttention", width, heads, o.n_kv_head, o.block_size, attention);
  const auto fill_in = [](const char* name, Index& size, Index otherwise) {
    if (size == 0) size = otherwise;
    check_in("MultiHeadAttention", size >= 1, name, " ", size, " must be at least 1, or 0 for its default");
  };
  fill_in("d_in", o.d_in, width);
  fill_in("key_width", o.key_width, o.d_in);
  fill_in("value_width", o.value_width, o.d_in);
  return o;
}

MultiHeadAttention::MultiHeadAttention(Integer width, Integer heads, const Init& init,
                                       const AttentionOptions& attention, const MultiHeadAttentionOptions& around)
    : MultiHeadAttention(resolved(width, heads, attention, around), width, heads, init, attention) {}

MultiHeadAttention::MultiHeadAttention(const MultiHeadAttentionOptions& o, Index width, Index heads, const Init& init,
                                       const AttentionOptions& attention)
    : n_head(heads),
      n_kv_head(o.n_kv_head),
      block_size(o.block_size),
      options(attention),
      q_proj(o.d_in, width, o.torch_init ? Init::none(init.random()) : init, o.bias),
      k_proj(o.key_width, n_kv_head * (width / heads), o.torch_init ? Init::none(init.random()) : init, o.bias),
      v_proj(o.value_width, n_kv_head * (width / heads), o.torch_init ? Init::none(init.random()) : init, o.bias),
      o_proj(width, width, init, o.out_bias.value_or(o.bias)),
      attn_dropout(attention.dropout.value_or(0), init.random()) {
  if (!o.torch_init || !init.draws()) return;
  if (o_proj.bias.defined()) init::constant(o_proj.bias, 0);
  // If all inputs have the same width, PyTorch keeps the weights of queries, keys and values in one matrix. Then one
  // Xavier bound applies to all three.
  const bool packed = o.key_width == o.d_in && o.value_width == o.d_in;
  init::Fans all{static_cast<double>(o.d_in), 0};
  for (const Linear* projection : {&q_proj, &k_proj, &v_proj})
    all.out += static_cast<double>(projection->weight.shape()[0]);
  for (const Linear* projection : {&q_proj, &k_proj, &v_proj}) {
    const Parameter& weight = projection->weight;
    init::xavier_uniform(weight, packed ? all : init::fans("MultiHeadAttention", weight), init.random());
  }
}

void MultiHeadAttention::check_input(const char* role, const Tensor& x, const Linear& projection) const {
  const Index width = projection.weight.shape()[1];
  check_in("MultiHeadAttention", x.dim() == 3 && x.size(2) == width, role, " ", x.shape(), " must be [B, T, ", width,
           "]");
  check_in("MultiHeadAttention", block_size == 0 || x.size(1) <= block_size, "the length T = ", x.size(1),
           " is above block_size ", block_size);
}

Tensor MultiHeadAttention::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                   const Mask& mask) const {
  AttentionOptions how = options;
  how.mask = mask;
  how.dropout = attn_dropout.now();
  check_input("query", query, q_proj);
  check_input("key", key, k_proj);
  check_input("value", value, v_proj);
  const Tensor q = q_proj(query);  // [B, T, H d], the heads side by side
  const Tensor k = k_proj(key);
  const Tensor v = v_proj(value);
  return o_proj(attention(q, k, v, {n_head, n_kv_head}, how, attn_dropout.random));
}

AttentionOutput MultiHeadAttention::with_weights(const Tensor& query, const Tensor& key, const Tensor& value,
                                                 const Mask& mask) const {
  const AttentionWeights seen;
  const Tensor output = (*this)(query, key, value, mask);
  return {output, seen.maps().back().weights, seen.maps().back().dropped};
}

}  // namespace mote
