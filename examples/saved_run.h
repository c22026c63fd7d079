// What the programs know of a run of a GPT on a task: its settings in groups of options, from a checkpoint or anew; the
// model that a checkpoint holds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/models.h"
#include "train/train.h"

/// The settings of a run.
struct RunSettings {
  std::string task = "copy", state = {};  ///< state: what a checkpoint kept of the task
  mote::FieldValues task_values = {};
  mote::Recipe recipe = {};
  mote::RunOptions run = {};

  /// A task's own. Errors: no such task, options that it rejects.
  RunSettings(const std::string& name, const mote::FieldValues& values, const std::string& kept = {})
      : task(name), state(kept), task_values(values), recipe(make_task()->recipe()) {}

  std::unique_ptr<mote::Task> make_task() const { return mote::make_task(task, task_values, state); }
  std::vector<mote::Field> task_fields() const { return mote::task_options(task, task_values); }
  void set_task(const std::string& name, const std::string& text) {
    task_values.emplace_back(name, text);
    task_fields();
  }
  /// Of the model's config all but what the task determines.
  std::vector<mote::Field> model_fields() const {
    std::vector<mote::Field> all = mote::fields(mote::gpt_config(recipe.config, 1, 1));
    std::erase_if(all, [](const mote::Field& f) { return f.name == "vocab_size" || f.name == "block_size"; });
    return all;
  }
  /// Of these what is for toy models, not for files of others or for programs; and the preset that they start from.
  std::vector<mote::Field> model_options() const {
    std::string names = "default", preset = names;
    for (const mote::GPTConfig::Preset& p : mote::GPTConfig::presets()) names.append("|").append(p.name);
    for (const auto& [name, text] : recipe.config)
      if (name == "preset") preset = text;
    std::vector<mote::Field> all = model_fields();
    for (const char* const left_out :
         {"scale", "attn_dropout", "resid_dropout", "attention_bias", "norm_eps", "n_inner"})
      std::erase_if(all, [&](const mote::Field& f) { return f.name == left_out; });
    all.insert(all.begin(), {"preset", preset, "the kind of model, sizes apart", names});
    return all;
  }
  void set_model(const std::string& name, const std::string& text) {
    recipe.config.emplace_back(name, text);
    mote::gpt_config(recipe.config, 1, 1);
  }
  mote::GPT new_model(const mote::Task& of, const mote::Init& init) const {
    return mote::GPT(mote::gpt_config(recipe.config, of.vocab_size(), of.block_size()), init);
  }
};

/// The settings that a checkpoint keeps; one that mote did not have yet when it was saved is the default. Its text lies
/// at `text`, if that is given. Errors: one sentence with the file.
inline RunSettings read_settings(const mote::SafetensorsFile& file, const std::string& text = {}) {
  using namespace mote;
  const std::string* const task = saved_setting(file, "task");
  check(task, file.name(), " is no checkpoint of a run: it has no setting 'task'");
  try {
    FieldValues values;
    for (const Field& f : task_options(*task))
      if (const std::string* const saved = saved_setting(file, f.name))
        values.emplace_back(f.name, f.name == "text" && !text.empty() ? text : *saved);
    RunSettings settings(*task, values, saved_state(file));
    for (const Field& f : settings.model_fields())
      if (const std::string* const saved = saved_setting(file, f.name); saved) settings.set_model(f.name, *saved);
    for (const Field& f : fields(settings.recipe))
      if (const std::string* const saved = saved_setting(file, f.name)) set_field(settings.recipe, f.name, *saved);
    for (const Field& f : fields(settings.run))
      if (const std::string* const saved = saved_setting(file, f.name)) set_field(settings.run, f.name, *saved);
    return settings;
  } catch (const Error& e) {
    throw Error(file.name() + ": " + e.what());
  }
}

/// The newest checkpoint in the folder of a run, or the best. Errors: there is none.
inline std::string checkpoint_of(const std::string& folder, bool best = false) {
  mote::check(mote::file_exists(folder), "there is no folder ", folder);
  const std::string path = best ? mote::best_checkpoint(folder) : mote::newest_checkpoint(folder);
  mote::check(!path.empty(), "there is no ", best ? "best " : "", "checkpoint in ", folder);
  return path;
}

/// A trained model (its averaged weights, where the run has them) and its task, from one checkpoint.
struct SavedRun {
  RunSettings settings;
  std::shared_ptr<const mote::Task> task;
  mote::GPT model;

  explicit SavedRun(const std::string& checkpoint)
      : settings(read_settings(mote::SafetensorsFile(checkpoint))),
        task(settings.make_task()),
        model(settings.new_model(*task, mote::Init::none(mote::Generator(0)))) {
    mote::load_weights(model, checkpoint);
    if (settings.recipe.ema_decay > 0) mote::load_weights(model, checkpoint, "ema");
  }
};

/// The newest model of a run, or the best. A run that goes on meanwhile removes its oldest checkpoints.
inline SavedRun saved_run(const std::string& folder, bool best) {
  for (;;) {
    const std::string checkpoint = checkpoint_of(folder, best);
    try {
      return SavedRun(checkpoint);
    } catch (const mote::Error&) {
      if (mote::file_exists(checkpoint)) throw;
    }
  }
}
