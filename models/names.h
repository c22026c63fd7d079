// The names of weights in other libraries, for the models that mote can build. The tables are used for reading and for
// writing files.
#pragma once

#include "models/gpt.h"
#include "nn/state_dict.h"

namespace mote {

/// The names of weights in the state dict of nanoGPT and of minGPT. mote uses the same names. A tied matrix stands
/// under both of its names, because nanoGPT's load_state_dict() looks for both. The masks in files of minGPT and of
/// older versions of nanoGPT are skipped. minGPT, and nanoGPT until May 2023, have GELU in its tanh form
/// (Activation::gelu_tanh). minGPT, and nanoGPT until January 2023, have an untied lm_head (tie_weights = false).
/// Models with either setting can be read but not written, because today's nanoGPT would load them without an error and
/// compute something else. Errors: the model has another setting that nanoGPT lacks, as in nanogpt_args().
NameTable nanogpt_names(const GPT& model);

/// The names of weights in Hugging Face's transformers, for a GPT-2 or a Llama. GPT-2's Conv1D layers store their
/// matrices as [in, out], so these matrices are transposed. attn.c_proj.weight is square, and must be transposed
/// although both forms have the same shape. GPT-2's names are written with the prefix "transformer.", as
/// save_pretrained() does. Names without the prefix can be read as well, because OpenAI's file on the hub has none. A
/// Llama has the names of LlamaForCausalLM, in the order of that model's parameters. The rows of its q_proj, k_proj and
/// v_proj are rows of mote's c_attn. Both libraries rotate the same pairs of a head's columns, so the rows keep their
/// order. Errors: those of huggingface_config().
NameTable huggingface_names(const GPT& model);

/// The names of weights in torch.nn.MultiheadAttention. The projections of queries, keys and values are rows of one
/// in_proj_weight. If keys or values have an input of another width (kdim, vdim), there are three matrices instead.
/// Errors: a layer that torch.nn.MultiheadAttention cannot express, because heads share keys and values or because
/// d_in is not the width.
NameTable torch_attention_names(const MultiHeadAttention& layer);

/// The names of weights in torch.nn.TransformerEncoderLayer, for mote's TransformerBlock. torch's norm_first = true is
/// NormOrder::pre in mote, and torch's dim_feedforward is n_inner. Without a mask, torch's layer attends to all
/// positions. In mote's block, set attention.causal = false for that. With dropout the results differ, because torch
/// also applies dropout between linear1 and linear2.
NameTable torch_encoder_layer_names();

}  // namespace mote
