// The names under which other libraries keep the weights of the models that mote can build, for files in both
// directions.
#pragma once

#include "models/gpt.h"
#include "nn/state_dict.h"

namespace mote {

/// The state dict of nanoGPT and of minGPT. The names are mote's. A tied matrix stands under two names:
/// load_state_dict() of nanoGPT looks for both. Skipped: the masks of minGPT and of older versions. minGPT, and nanoGPT
/// until May 2023, have GELU in its tanh form (Activation::gelu_tanh). minGPT, and nanoGPT until January 2023, have a
/// head of its own (tie_weights = false). Such models are read and not written. Today's nanoGPT would load them without
/// an error and compute something else. Errors: the model has another setting that nanoGPT lacks, as in nanogpt_args().
NameTable nanogpt_names(const GPT& model);

/// GPT-2 as Hugging Face's transformers keeps it. Its Conv1D layers store matrices as [in, out], the square
/// attn.c_proj.weight among them, where no shape would tell. Written with the prefix "transformer.", as
/// save_pretrained() does; read with or without it, as in the file on the hub. A model of Llama's kind under its names
/// there. q_proj, k_proj and v_proj are rows of c_attn. Both turn the same pairs of a head's columns. In the order of
/// the parameters there. Errors: those of huggingface_config().
NameTable huggingface_names(const GPT& model);

/// torch.nn.MultiheadAttention, with in_proj_weight, or, if keys or values come from another width (kdim, vdim), with
/// three matrices. Errors: a layer that is none there (shared keys and values, d_in or d_out that is not the width).
NameTable torch_attention_names(const MultiHeadAttention& layer);

/// Names for torch.nn.TransformerEncoderLayer. norm_first = true in torch is NormOrder::pre in mote. dim_feedforward is
/// n_inner. For is_causal = false give mote's block a mask, or attention.causal = false. With dropout the results
/// differ: torch also drops between linear1 and linear2.
NameTable torch_encoder_layer_names();

}  // namespace mote
