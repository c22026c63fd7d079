// GPTs in the files of other projects: Hugging Face's folders and llm.c's model files in both directions, and nanoGPT's
// ckpt.pt.
#pragma once

#include <map>
#include <string>

#include "engine/io/files/elements.h"
#include "models/gpt.h"

namespace mote {

/// Reads a folder as save_pretrained() of GPT2LMHeadModel or LlamaForCausalLM writes it. The folder holds config.json
/// and the weights. The weights are in model.safetensors, or in the files that model.safetensors.index.json names.
/// Without these, pytorch_model.bin is read. The model is in evaluation mode, as after from_pretrained(). `random` is
/// the stream of the model's dropout. Errors name the file. config.json asks for what mote's GPT does not do.
GPT load_huggingface(const std::string& folder, const Generator& random = Generator());
/// Makes the folder if there is none. GPT-2 has biases: those of a model without are written as 0. Errors: those of
/// huggingface_config() and of writing.
void save_huggingface(const GPT& model, const std::string& folder);

/// The text of config.json: Llama's for a model with two of rotary positions, RMSNorm and SwiGLU, otherwise GPT-2's.
/// Errors: a model that neither is: all settings that differ from that one are named.
std::string huggingface_config(const GPTConfig& config);
/// The config that such a text describes, with the defaults of transformers. Those are dropout 0.1 (resid_pdrop,
/// embd_pdrop, attn_pdrop), gelu_new, and an n_inner of 4 n_embd. Of a Llama they are rms_norm_eps 1e-6, rope_theta
/// 10000, as many heads of keys and values as of queries, and nothing tied. Entries that a GPT does not have are
/// skipped. `what` opens errors: a size that is missing or below 1, another model_type. Also an activation or a kind of
/// attention that mote's GPT does not have.
GPTConfig parse_huggingface_config(const std::string& text, const std::string& what = "config.json");

/// The model in nanoGPT's ckpt.pt, or in a folder with one; in evaluation mode. A head that is not tied, as nanoGPT had
/// it until January 2023, stays a matrix of its own. Errors: one sentence with the file; settings that nanoGPT does not
/// have.
GPT load_nanogpt(const std::string& path, const Generator& random = Generator());

/// nanoGPT's model_args: n_layer, n_head, n_embd, block_size, bias, vocab_size, dropout. Errors: a model that nanoGPT
/// is not, which has exact GELU, tied weights and learned positions: all settings that differ are named.
FieldValues nanogpt_args(const GPTConfig& config);
GPTConfig nanogpt_config(const FieldValues& args);

/// A model file of llm.c, version 3 (float32) or 5 (bfloat16): gpt2_124M.bin and the like. The rows that pad its
/// vocabulary to a multiple of 128 are dropped. Errors: one sentence with the file and the rule.
GPT load_llmc(const std::string& path, const Generator& random = Generator());
GPT load_llmc(const ByteSource& file, const Generator& random = Generator());
/// Writes one, in float32. Biases of a model without are written as 0. Errors: a model that GPT-2 is not, or with
/// dropout, which llm.c does not have: all settings that differ are named.
void save_llmc(const GPT& model, const std::string& path);

}  // namespace mote
