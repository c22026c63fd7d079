// GPTs in the files of other projects. Hugging Face's folders and llm.c's model files are read and written. nanoGPT's
// ckpt.pt is read.
#pragma once

#include <map>
#include <string>

#include "engine/io/files/elements.h"
#include "models/gpt.h"

namespace mote {

/// Reads a model from a folder that save_pretrained() of GPT2LMHeadModel or LlamaForCausalLM has written. The folder
/// holds config.json and the weights. The weights are in model.safetensors, or in the files that
/// model.safetensors.index.json names. Without these, pytorch_model.bin is read. The model is in evaluation mode, as
/// after from_pretrained(). `random` is the stream of the model's dropout. Errors, which name the file: those of
/// reading; a config.json that asks for something that mote's GPT does not do.
GPT load_huggingface(const std::string& folder, const Generator& random = Generator());
/// Writes a model into a folder as save_pretrained() does. Makes the folder if there is none. GPT-2 has biases, so a
/// model without biases is written with biases of 0. Errors: those of huggingface_config() and of writing.
void save_huggingface(const GPT& model, const std::string& folder);

/// The text of Hugging Face's config.json for a model. It describes a Llama if the model has at least two of rotary
/// positions, RMSNorm and SwiGLU, otherwise a GPT-2. Errors: a model with settings that Llama (or GPT-2) does not have;
/// the message names all of them.
std::string huggingface_config(const GPTConfig& config);
/// The config that the text of a config.json describes. Entries that are missing have the defaults of transformers. For
/// GPT-2 these are dropout 0.1 (resid_pdrop, embd_pdrop, attn_pdrop), gelu_new, and an n_inner of 4 n_embd. For Llama
/// they are rms_norm_eps 1e-6, rope_theta 10000, as many heads of keys and values as of queries, and untied weights.
/// Entries that a GPT does not have are skipped. `what` names the text in error messages. Errors: a size that is
/// missing or below 1, a model_type that is neither gpt2 nor llama, an activation or a kind of attention that mote's
/// GPT does not have.
GPTConfig parse_huggingface_config(const std::string& text, const std::string& what = "config.json");

/// Reads the model in nanoGPT's ckpt.pt. `path` is that file, or a folder that holds it. The model is in evaluation
/// mode. An lm_head that is not tied, as nanoGPT had it until January 2023, stays a matrix of its own. Errors, in one
/// sentence that names the file: a file that is no ckpt.pt of nanoGPT; settings that nanoGPT does not have.
GPT load_nanogpt(const std::string& path, const Generator& random = Generator());

/// nanoGPT's model_args for a config: n_layer, n_head, n_embd, block_size, bias, vocab_size, dropout. nanoGPT has
/// exact GELU, tied weights and learned positions. Errors: a model that nanoGPT cannot express; the message names all
/// settings that differ.
FieldValues nanogpt_args(const GPTConfig& config);
/// The config of a model with these model_args of nanoGPT. Errors: a name that is no setting of a GPT.
GPTConfig nanogpt_config(const FieldValues& args);

/// Reads a model file of llm.c, such as gpt2_124M.bin, of version 3 (float32) or 5 (bfloat16). The rows that pad the
/// vocabulary to a multiple of 128 are dropped. Errors: a file that breaks a rule of the format; one sentence names
/// the file and the rule.
GPT load_llmc(const std::string& path, const Generator& random = Generator());
GPT load_llmc(const ByteSource& file, const Generator& random = Generator());
/// Writes a model file of llm.c in float32. A model without biases is written with biases of 0. Errors: a model that
/// is not a GPT-2, or one with dropout, which llm.c does not have; the message names all settings that differ.
void save_llmc(const GPT& model, const std::string& path);

}  // namespace mote
