// MultiHeadAttention's construction and forward pass: project, split into heads, attend, join, project.
#include "nn/multi_head_attention.h"
#include "nn/attention_weights.h"

namespace mote {

/// All widths, with defaults in place of 0; those of projections are a head's times the number. Errors: one below 1.
struct MultiHeadAttention::Widths {
  Index kv_heads, d_in, d_out, key_width, value_width, queries, keys, values, joined;
  Widths(Index width, Index heads, const AttentionOptions& options, const MultiHeadAttentionOptions& o)
      : kv_heads(checked_heads("MultiHeadAttention", width, heads, o.n_kv_head, o.block_size, options)) {
    const auto given = [](Index size, Index otherwise) {
      const Index used = size != 0 ? size : otherwise;
      check_in("MultiHeadAttention", used >= 1, "a width of ", used, " must be at least 1");
      return used;
    };
    d_in = given(o.d_in, width), d_out = given(o.d_out, width);
    key_width = given(o.key_width, d_in), value_width = given(o.value_width, d_in);
    const Index head = width / heads, value_head = given(o.value_head, head);
    queries = width, keys = kv_heads * head, values = kv_heads * value_head, joined = heads * value_head;
  }
};

MultiHeadAttention::MultiHeadAttention(Index width, Index heads, const Init& init, const AttentionOptions& attention,
                                       const MultiHeadAttentionOptions& around)
    : MultiHeadAttention(width, heads, init, attention, around, Widths(width, heads, attention, around)) {}

MultiHeadAttention::MultiHeadAttention(Index width, Index heads, const Init& init, const AttentionOptions& attention,
                                       const MultiHeadAttentionOptions& o, const Widths& w)
    : n_head(heads),
      n_kv_head(w.kv_heads),
      block_size(o.block_size),
      options(attention),
      q_proj(w.d_in, w.queries, o.torch_init ? Init::none(init.random()) : init, o.bias),
      k_proj(w.key_width, w.keys, o.torch_init ? Init::none(init.random()) : init, o.bias),
      v_proj(w.value_width, w.values, o.torch_init ? Init::none(init.random()) : init, o.bias),
      o_proj(w.joined, w.d_out, init, o.out_bias.value_or(o.bias)),
      attn_dropout(attention.dropout.value_or(0), init.random()),
      resid_dropout(o.resid_dropout, init.random()) {
  if (o.rotary) rotary.emplace(width / heads, *o.rotary, block_size);
  if (!o.torch_init || !init.draws()) return;
  if (o_proj.bias.defined()) init::constant(o_proj.bias, 0);
  // PyTorch keeps the three in one matrix when all inputs have the same width; one bound then applies to all.
  const bool packed = w.key_width == w.d_in && w.value_width == w.d_in;
  const init::Fans all{static_cast<double>(w.d_in), static_cast<double>(w.queries + w.keys + w.values)};
  for (const Linear* projection : {&q_proj, &k_proj, &v_proj}) {
    const Parameter& weight = projection->weight;
    init::xavier_uniform(weight, packed ? all : init::fans("MultiHeadAttention", weight), init.random());
  }
}

void MultiHeadAttention::check_input(const char* role, const Tensor& x, const Linear& projection, Index start) const {
  const Index width = projection.weight.shape()[1];
  check_in("MultiHeadAttention", x.dim() == 3 && x.size(2) == width, role, " ", x.shape(), " must be [B, T, ", width,
           "]");
  check_in("MultiHeadAttention", block_size == 0 || start + x.size(1) <= block_size, "T = ", start + x.size(1),
           " is above block_size ", block_size);
}

Tensor MultiHeadAttention::forward(const Tensor& query, const Tensor& key, const Tensor& value, const Mask& mask,
                                   KeyValueCache* cache) const {
  check_in("MultiHeadAttention", !cache || !drops(), "a cache is for evaluation: call eval() first");
  AttentionOptions how = options;
  how.mask = mask;
  how.dropout = attn_dropout.training() ? attn_dropout.p : 0;
  const Index start = cache ? cache->length() : 0;  // the position of the first token
  check_input("query", query, q_proj, start);
  check_input("key", key, k_proj, start);
  check_input("value", value, v_proj, start);
  Tensor q = q_proj(query);  // [B, T, H d], head beside head
  Tensor k = k_proj(key);
  const Tensor v = v_proj(value);
  if (rotary) {
    q = (*rotary)(q, start, n_head);
    k = (*rotary)(k, start, n_kv_head);
  }
  return resid_dropout(o_proj(attention(q, k, v, {n_head, n_kv_head}, how, attn_dropout.random, cache)));
}

Attended MultiHeadAttention::with_weights(const Tensor& query, const Tensor& key, const Tensor& value,
                                          const Mask& mask) const {
  const AttentionWeights seen;
  const Tensor output = (*this)(query, key, value, mask);
  return {output, seen.maps().back().weights, seen.maps().back().dropped};
}

}  // namespace mote
