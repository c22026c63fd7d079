// Opens a trained GPT: a run of train, nanoGPT's ckpt.pt, a folder of Hugging Face's, llm.c's file, or weights alone.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "examples/programs/saved_run.h"
#include "models/gpt_files.h"
#include "models/names.h"
#include "nn/torch_state.h"
#include "train/text/tokenizer.h"

namespace mote {

/// A model, with its task and its tokenizer if they are known. `task` is null unless a run of train made the model.
/// `tokenizer` is null unless the model's tokens are those of a text.
struct OpenedModel {
  GPT model;
  std::shared_ptr<const Task> task = nullptr;
  std::shared_ptr<const Tokenizer> tokenizer = nullptr;
};

/// Opens a checkpoint of a run, with its task. If the run has averaged weights, the model has the averages.
inline OpenedModel open_checkpoint(const std::string& path) {
  const RunSettings settings = read_settings(SafetensorsFile(path));
  const std::shared_ptr<const Task> task = settings.make_task();
  GPT model = settings.new_model(*task, Init::none(Generator(0)));
  load_weights(model, path);
  if (settings.recipe.ema_decay > 0) load_weights(model, path, "ema");
  return {std::move(model), task, {task, task->tokenizer()}};  // keeps the task alive, which owns the tokenizer
}

/// Opens a checkpoint, or the newest one in a run's folder. If a run that is still training removes that file
/// meanwhile, the search starts again.
inline OpenedModel open_run(const std::string& path) {
  check(file_exists(path), "there is no run ", path);
  while (is_folder(path)) {
    const std::string newest = newest_checkpoint(path);
    check(!newest.empty(), "there is no checkpoint in ", path);
    try {
      return open_checkpoint(newest);
    } catch (const Error&) {
      if (file_exists(newest)) throw;
    }
  }
  return open_checkpoint(path);
}

/// The tokenizer in a folder, if there is one. Errors: those of load_tokenizer(); more tokens than the model has.
inline std::shared_ptr<const Tokenizer> tokenizer_in(const std::string& folder, Index vocab_size) {
  std::shared_ptr<const Tokenizer> tokenizer = load_tokenizer(folder);
  check(!tokenizer || tokenizer->vocab_size() <= vocab_size, "the tokenizer in ", folder, " has ",
        tokenizer ? tokenizer->vocab_size() : 0, " tokens, but the model only ", vocab_size);
  return tokenizer;
}

/// The folder that a file lies in. A folder is returned as it is.
inline std::string folder_of(const std::string& path) {
  return is_folder(path) ? path : detail::split_path(path).first;
}

/// Checks that a folder has a model of Hugging Face's, not a run of mote, which has a config.json, too. Errors: it is
/// a run; the message says how the run is opened, or that it has no checkpoint.
inline void check_no_run(const std::string& folder) {
  const std::vector<SettingsGroup> groups = read_config_json(folder + "/config.json");
  if (std::none_of(groups.begin(), groups.end(), [](const auto& group) { return group.title == "general"; })) return;
  throw Error(folder +
              (newest_checkpoint(folder).empty()
                   ? " is a run of mote without a checkpoint: nothing can go on with it, so train again in another "
                     "folder"
                   : " is a run of mote, not a model of Hugging Face's: open it by --run " + folder));
}

enum class ModelKind { run, nanogpt, huggingface, llmc, weights };
/// The kind of model at a path. Errors: there is no file, or the file has no weights.
inline ModelKind kind_of_model(const std::string& path) {
  check(file_exists(path), "there is no model ", path);
  if (is_folder(path)) {
    if (!newest_checkpoint(path).empty()) return ModelKind::run;
    if (file_exists(path + "/ckpt.pt")) return ModelKind::nanogpt;
    check(file_exists(path + "/config.json"), path,
          " has no model: no checkpoint of a run, no ckpt.pt, no config.json");
    check_no_run(path);
    return ModelKind::huggingface;
  }
  const FileReader file(path);
  char begin[4] = {};
  file.read(0, begin, static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), sizeof begin)));
  if (little_endian(std::string_view(begin, sizeof begin)) == 20240326) return ModelKind::llmc;
  check_of_tensors(file_source(path));
  if (std::string_view(begin, 2) == "PK")
    return detail::find(load_torch(path), "model_args") ? ModelKind::nanogpt : ModelKind::weights;
  return saved_setting(SafetensorsFile(path), "general.task") ? ModelKind::run : ModelKind::weights;
}

/// Sets a model's weights from a state dict. If the state dict has more learned positions than the model, only the
/// first positions are taken.
inline void take_weights(GPT& model, StateDict state, const NameTable& names, const std::string& what) {
  for (StateEntry& e : state) {
    const bool positions = e.name.ends_with("wpe.weight") && e.shape.rank() == 2 && e.other.empty();
    const Index rows = model.config.block_size;
    if (!positions || e.shape[0] <= rows) continue;
    e.shape = e.shape.with(0, rows);
    e.read = [read = e.read, rows] { return read().slice(0, 0, rows); };
  }
  load_state_dict(model, state, {.names = names}, what);
}

/// Sets a model's weights from a file that has only weights, under mote's names, nanoGPT's or Hugging Face's. Errors:
/// the weights fit under none of these names; the message says what does not fit under mote's names.
inline void take_weights_alone(GPT& model, const std::string& path) {
  const bool torch = !path.ends_with(".safetensors");
  const std::optional<SafetensorsFile> file = torch ? std::nullopt : std::optional<SafetensorsFile>(path);
  const StateDict state = torch ? state_dict(load_torch(path), path) : state_dict(*file);
  std::string problem;
  for (const bool huggingface : {false, true}) {
    try {
      const NameTable names = huggingface ? huggingface_names(model) : NameTable{{}, nanogpt_names(model).ignored};
      return take_weights(model, state, names, path);
    } catch (const Error& e) {
      if (problem.empty()) problem = e.what();
    }
  }
  throw Error(problem + "\nIts sizes are given by --n_layer, --n_head, --n_embd, --block_size and --bias");
}

}  // namespace mote
