// RunSettings, the settings of a run of a GPT on a task, and how they are read from a checkpoint.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/models.h"
#include "train/run/run_state.h"
#include "train/train.h"

namespace mote {

/// The settings of a run of a GPT on a task.
struct RunSettings {
  std::string task = "copy", state = {};  ///< state: of the task's data, from a checkpoint, such as a tokenizer
  FieldValues task_values = {};
  Recipe recipe = {};
  RunOptions run = {};
  bool use_cache = true;                 ///< whether answers are generated with a cache of keys and values
  std::function<void(GPT&)> begin = {};  ///< sets the weights that a new run begins with, if they are not drawn

  /// The task's own settings of a run, for these options of the task. Errors: no such task, options that the task
  /// rejects.
  RunSettings(const std::string& name, const FieldValues& values, const std::string& kept = {})
      : task(name), state(kept), task_values(values), recipe(task_recipe(task, values)) {}

  OwnedTask make_task() const { return mote::make_task(task, task_values, state); }
  /// Whether training and model have the task's own settings. The outcome that the task states is only for its own
  /// settings.
  bool own() const {
    Recipe stated = task_recipe(task, task_values);
    const FieldValues sizes = std::exchange(stated.config, {});
    Recipe here = recipe;
    const FieldValues sizes_here = std::exchange(here.config, {});
    return fields(here) == fields(stated) && fields(gpt_config(sizes_here, 1, 1)) == fields(gpt_config(sizes, 1, 1));
  }
  std::vector<Field> task_fields() const { return task_options(task, task_values); }
  /// The fields of the model's config, except vocab_size and block_size, which the task determines.
  std::vector<Field> model_fields() const {
    std::vector<Field> all = fields(gpt_config(recipe.config, 1, 1));
    std::erase_if(all, [](const Field& f) { return f.name == "vocab_size" || f.name == "block_size"; });
    return all;
  }
  /// Sets a field of the model's config. Errors: those of gpt_config(); then nothing has changed.
  void set_model(const std::string& name, const std::string& text) {
    FieldValues config = recipe.config;
    config.emplace_back(name, text);
    gpt_config(config, 1, 1);
    recipe.config = std::move(config);
  }
  GPT new_model(const Task& of, const Init& init) const {
    GPT made(gpt_config(recipe.config, of.vocab_size(), of.block_size()), init);
    if (begin) begin(made);
    return made;
  }
  Subject subject(GPT& model) const {
    return use_cache ? subject_of(model) : subject_of(model, GenerateOptions{.use_cache = false});
  }
};

inline bool is_task(const std::string& name) {
  const std::vector<std::string> all = task_names();
  return std::find(all.begin(), all.end(), name) != all.end();
}

/// Reads the settings of a run from texts whose names are group and name, such as "training.batch_size". A setting that
/// is missing has its default. `state` is what a checkpoint kept of the task. If `text` is given, it replaces the path
/// of the task's text.
inline RunSettings read_settings(const FieldValues& saved, const std::string& state, const std::string& text = {}) {
  const auto find = [&](const std::string& group, const std::string& name) -> const std::string* {
    const std::string full = group + "." + name;
    const auto found = std::find_if(saved.rbegin(), saved.rend(), [&](const auto& f) { return f.first == full; });
    return found == saved.rend() ? nullptr : &found->second;
  };
  const auto each = [&](const std::string& group, const std::vector<Field>& known, const auto& set) {
    for (const Field& f : known)
      if (const std::string* const value = find(group, f.name)) set(f.name, *value);
  };
  const std::string task = find("general", "task") ? *find("general", "task") : "text";
  FieldValues values;
  each("task", task_options(task), [&](const std::string& name, const std::string& value) {
    values.emplace_back(name, name == "text" && !text.empty() ? text : value);
  });
  if (!text.empty() && !find("task", "text")) values.emplace_back("text", text);

  RunSettings s(task, values, state);
  each("model", s.model_fields(), [&](const auto& name, const auto& value) { s.set_model(name, value); });
  each("training", fields(s.recipe), [&](const auto& name, const auto& value) { set_field(s.recipe, name, value); });
  each("general", fields(s.run), [&](const auto& name, const auto& value) { set_field(s.run, name, value); });
  return s;
}

/// Reads the settings of a run from its checkpoint. A setting that mote did not have yet when the checkpoint was saved
/// has its default. Errors, in one sentence that names the file: a file that is no checkpoint of a run; a run whose
/// task or model class is not one of mote's.
inline RunSettings read_settings(const SafetensorsFile& file, const std::string& text = {}) {
  const std::string* const task = saved_setting(file, "general.task");
  check(task, file.name(), " is not a checkpoint of a run: the setting 'task' is missing");
  check(is_task(*task), file.name(), ": '", *task,
        "' is data of another program, not a task of mote: only the program ",
        "that made the run can go on with it, or open its model");
  const std::string* const model = file.find_metadata("class.name");
  check(model && *model == "GPT", file.name(), " is of class ", model ? *model : "unknown", ", not GPT: only the ",
        "program that made the run can go on with it, or open its model");
  try {
    return read_settings(saved_settings(file), saved_state(file), text);
  } catch (const Error& e) {
    throw Error(file.name() + ": " + e.what());
  }
}

}  // namespace mote
