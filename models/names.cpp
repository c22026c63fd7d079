// The tables of names, made from the names of a model's own parameters.
#include "models/names.h"

#include "models/gpt_files.h"

namespace mote {
namespace {

const std::vector<std::string> masks = {".attn.bias", ".attn.masked_bias"};  // buffers; c_attn.bias is a parameter

/// The names in LlamaForCausalLM, in the order of its parameters().
NameTable llama_names(const GPT& model) {
  NameTable names{{{"model.embed_tokens.weight", "transformer.wte.weight"}}, {".rotary_emb.inv_freq"}};
  const GPTConfig& c = model.config;
  const Index shared = c.block.projections.n_kv_head ? c.block.projections.n_kv_head : c.n_head;
  const Index queries = c.n_embd, keys = shared * (c.n_embd / c.n_head);
  for (std::size_t i = 0; i < model.transformer.h.size(); ++i) {
    const std::string layer = std::to_string(i) + ".";
    const auto add = [&](const std::string& there, const std::string& here, Index rows = 0, Index from = 0) {
      names.rules.push_back({"model.layers." + layer + there, "transformer.h." + layer + here, false, rows, from});
    };
    for (const std::string kind : {"weight", "bias"}) {
      add("self_attn.q_proj." + kind, "attn.c_attn." + kind, queries);
      add("self_attn.k_proj." + kind, "attn.c_attn." + kind, keys, queries);
      add("self_attn.v_proj." + kind, "attn.c_attn." + kind, keys, queries + keys);
      add("self_attn.o_proj." + kind, "attn.c_proj." + kind);
    }
    add("mlp.gate_proj.weight", "mlp.c_gate.weight");
    add("mlp.up_proj.weight", "mlp.c_fc.weight");
    add("mlp.down_proj.weight", "mlp.c_proj.weight");
    add("input_layernorm.weight", "ln_1.weight");
    add("post_attention_layernorm.weight", "ln_2.weight");
  }
  names.rules.push_back({"model.norm.weight", "transformer.ln_f.weight"});
  names.rules.push_back({.there = "lm_head.weight", .here = "lm_head.weight", .read_only = model.config.tie_weights});
  return names;
}

}  // namespace

NameTable nanogpt_names(const GPT& model) {
  NameTable names{{}, masks};
  GPTConfig today = model.config;
  if (today.block.activation == Activation::gelu_tanh) {
    today.block.activation = Activation::gelu;
    names.unwritable = "nanoGPT of today has exact GELU: a model with gelu_tanh can only be loaded";
  }
  if (!today.tie_weights) {
    today.tie_weights = true;
    names.unwritable = "nanoGPT of today has tied weights: a model with an lm_head of its own can only be loaded";
  }
  static_cast<void>(nanogpt_args(today));  // only for its checks
  for (const NamedParameter& p : named_parameters(model, true)) names.rules.push_back({p.name, p.name});
  return names;
}

NameTable huggingface_names(const GPT& model) {
  static_cast<void>(huggingface_config(model.config));
  if (model.config.position == Position::rotary) return llama_names(model);
  NameTable names{{}, masks};
  const std::string prefix = "transformer.";
  for (const NamedParameter& p : named_parameters(model, true)) {
    const bool block = p.name.starts_with(prefix + "h."), head = !p.name.starts_with(prefix);
    const bool conv1d = block && p.parameter.shape().rank() == 2;
    const bool tied_head = head && model.config.tie_weights;
    names.rules.push_back({.there = p.name, .here = p.name, .transposed = conv1d, .read_only = tied_head});
    if (!head)
      names.rules.push_back(
          {.there = p.name.substr(prefix.size()), .here = p.name, .transposed = conv1d, .read_only = true});
  }
  return names;
}

NameTable torch_attention_names(const MultiHeadAttention& layer) {
  const auto in = [](const Linear& l) { return l.weight.shape()[1]; };
  const auto out = [](const Linear& l) { return l.weight.shape()[0]; };
  const Index width = out(layer.q_proj);
  check_in("torch_attention_names", in(layer.q_proj) == width && out(layer.k_proj) == width,
           "torch.nn.MultiheadAttention has one width for queries, keys and values of all heads, and for its input: ",
           "this layer maps ", in(layer.q_proj), " columns to queries of ", width, " and keys of ", out(layer.k_proj));
  const bool packed = in(layer.k_proj) == width && in(layer.v_proj) == width;
  NameTable names;
  Index from = 0;
  for (const std::string which : {"q", "k", "v"}) {
    if (packed)
      names.rules.push_back({"in_proj_weight", which + "_proj.weight", false, width, 0, from});
    else
      names.rules.push_back({which + "_proj_weight", which + "_proj.weight"});
    names.rules.push_back({"in_proj_bias", which + "_proj.bias", false, width, 0, from});
    from += width;
  }
  names.rules.push_back({"out_proj.weight", "o_proj.weight"});
  names.rules.push_back({"out_proj.bias", "o_proj.bias"});
  return names;
}

NameTable torch_encoder_layer_names() {
  NameTable names;
  for (const std::string kind : {"weight", "bias"}) {
    names.rules.push_back({"self_attn.in_proj_" + kind, "attn.c_attn." + kind});
    names.rules.push_back({"self_attn.out_proj." + kind, "attn.c_proj." + kind});
    names.rules.push_back({"linear1." + kind, "mlp.c_fc." + kind});
    names.rules.push_back({"linear2." + kind, "mlp.c_proj." + kind});
    names.rules.push_back({"norm1." + kind, "ln_1." + kind});
    names.rules.push_back({"norm2." + kind, "ln_2." + kind});
  }
  return names;
}

}  // namespace mote
