// The names under which other libraries keep the weights of the models that mote can build, for files in both directions.
#pragma once

#include "models/gpt_config.h"
#include "nn/state_dict.h"

namespace mote {

/// nanoGPT's state dict: mote's names, with a tied matrix under both of its own ("transformer.wte.weight" and
/// "lm_head.weight"), and masks among the weights of older versions, which are skipped.
NameTable nanogpt_names(const GPTConfig& config);

/// GPT-2 as Hugging Face's transformers keeps it. Its Conv1D layers store matrices as [in, out], the square
/// attn.c_proj.weight among them, where no shape would tell. `prefix` is "transformer." in what save_pretrained() writes
/// and "" in the file on the hub; huggingface_prefix() tells from the names in a file.
NameTable huggingface_names(const GPTConfig& config, const std::string& prefix = "transformer.");
std::string huggingface_prefix(const StateDict& state);

/// torch.nn.MultiheadAttention into mote's MultiHeadAttention: one in_proj_weight, or, with kdim or vdim, three.
NameTable torch_attention_names(bool packed = true);

/// torch.nn.TransformerEncoderLayer into mote's TransformerBlock: with norm_first = false its norms come last, with
/// activation = "gelu" or "relu" as in mote; mote's `attention.causal` must be false.
NameTable torch_encoder_layer_names();

}  // namespace mote
