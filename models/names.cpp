// The tables of names, built from the few that differ.
#include "models/names.h"

#include "models/gpt.h"

namespace mote {
namespace {

const std::vector<std::string> masks = {".attn.bias", ".attn.masked_bias"};  // buffers; c_attn.bias is a weight

}  // namespace

NameTable nanogpt_names(const GPTConfig& config) {
  NameTable names{{}, masks};
  const GPT model(config, Init::none(Generator()));
  for (const NamedParameter& p : named_parameters(model)) names.rules.push_back({p.name, p.name});
  if (config.tie_weights) names.rules.push_back({"lm_head.weight", "transformer.wte.weight"});
  return names;
}

NameTable huggingface_names(const GPTConfig& config, const std::string& prefix) {
  NameTable names{{}, masks};
  const std::string inside = "transformer.";
  const GPT model(config, Init::none(Generator()));
  for (const NamedParameter& p : named_parameters(model)) {
    const bool conv1d = p.name.find(".h.") != std::string::npos && p.parameter.shape().rank() == 2;
    const bool head = !p.name.starts_with(inside);
    names.rules.push_back({head ? p.name : prefix + p.name.substr(inside.size()), p.name, conv1d});
  }
  if (config.tie_weights)
    names.rules.push_back({.outside = "lm_head.weight", .inside = inside + "wte.weight", .alias = true});
  return names;
}

std::string huggingface_prefix(const StateDict& state) {
  for (const StateEntry& e : state)
    if (e.name.starts_with("transformer.")) return "transformer.";
  return "";
}

NameTable torch_attention_names(bool packed) {
  NameTable names;
  Index part = 0;
  for (const std::string which : {"q", "k", "v"}) {
    if (packed)
      names.rules.push_back({"in_proj_weight", which + "_proj.weight", false, part, 3});
    else
      names.rules.push_back({which + "_proj_weight", which + "_proj.weight"});
    names.rules.push_back({"in_proj_bias", which + "_proj.bias", false, part++, 3});
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
