// GPTs in the files of other projects: Hugging Face's folders in both directions, llm.c's model files for reading.
#pragma once

#include <string>

#include "models/gpt.h"

namespace mote {

/// A folder with config.json and model.safetensors, as GPT2LMHeadModel.save_pretrained() writes it and from_pretrained()
/// reads it. Errors: one sentence with the file; a config.json that asks for what mote's GPT does not do.
GPT load_huggingface(const std::string& folder, const Generator& random = Generator());
/// Errors: a model that GPT-2 is not (rotary positions, no biases, ...): the settings that differ are named.
void save_huggingface(const GPT& model, const std::string& folder);

/// The text of config.json, and back. Dropout in `resid_pdrop`, `embd_pdrop` and `attn_pdrop`; an n_inner of null is
/// 4 n_embd; unknown entries are skipped, as transformers does. Errors: another model_type, an activation, a scaling of
/// attention or sizes that mote's GPT does not have.
std::string huggingface_config(const GPTConfig& config);
GPTConfig parse_huggingface_config(const std::string& text, const std::string& what = "config.json");

/// A model file of llm.c, version 3 (float32) or 5 (bfloat16): gpt2_124M.bin and the like. The rows that pad its
/// vocabulary to a multiple of 128 are dropped. Errors: one sentence with the file and the rule.
GPT load_llmc(const std::string& path, const Generator& random = Generator());

}  // namespace mote
