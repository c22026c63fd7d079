// RunOptions, the options of a run besides its data, subject and recipe. Also functions that write and read the
// settings in config.json and read the settings in checkpoints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/io/files/safetensors.h"
#include "nn/fields.h"

namespace mote {

/// How a Run keeps its results, and how it is resumed.
struct RunOptions {
  std::string folder = {};      ///< for checkpoints, logs and the report; empty: nothing is saved
  bool fresh = false;           ///< it is an error if the folder has a run already
  bool accept_changes = false;  ///< resume even if a fixed batch has another loss than in the checkpoint
  Index seed = 1;
  std::optional<Index> sequences = {};  ///< questions to ask at the end; not given: Data::questions_at_end()
  Index samples = 1;
  Index save_interval = 100, keep = 3;
  Index health = 0;

  template <class V>
  void visit(V& v) {
    v("seed", seed, "seed of weights, batches and questions");
    v("sequences", sequences,
      "number of questions that are asked at the end; default: the number of the task's stated outcome",
      {.may_change = true});
    v("samples", samples, "questions and answers to show with each evaluation", {.may_change = true});
    const FieldUse keeps{.may_change = true, .needs = folder.empty() ? "runs that are kept: give --out_dir" : ""};
    v("save_interval", save_interval, "steps between two checkpoints; 0: only at the end", keeps);
    v("keep", keep, "number of newest checkpoints to keep, in addition to the best one", keeps);
    v("health", health, "steps between two measurements of all layers, which go into log and report; 0: none", keeps);
  }
};

/// One group of a run's settings: "general", "task", "model" or "training". A checkpoint keeps the settings that must
/// be the same when the run is resumed, as settings.<group>.<name>. The folder's config.json has all settings.
struct SettingsGroup {
  std::string title;
  std::vector<Field> fields;
};

/// The text of config.json: {"general": {"task": "copy", ...}, "task": {...}, "model": {...}, "training": {...}}.
std::string config_json(const std::vector<SettingsGroup>& settings);
/// Reads the groups, names and values of a config.json. Empty if there is no such file, or if it does not contain a
/// JSON object.
std::vector<SettingsGroup> read_config_json(const std::string& path);

/// The text of a setting in a checkpoint, by a name such as "training.batch_size". Null if the checkpoint does not
/// have it.
const std::string* saved_setting(const SafetensorsFile& checkpoint, const std::string& name);
/// All settings of a run by names such as "training.batch_size": those in a checkpoint, and the others from the
/// config.json beside it.
FieldValues saved_settings(const SafetensorsFile& checkpoint);
/// The Data::state() that a checkpoint contains.
std::string saved_state(const SafetensorsFile& checkpoint);
/// Compares the settings in a checkpoint with `now`, the settings of the run that is to be resumed from it. Errors:
/// settings that only the checkpoint has, and settings that must be the same and differ, all in one message. Settings
/// that the checkpoint does not have are not compared.
void check_settings(const SafetensorsFile& checkpoint, const std::vector<SettingsGroup>& now,
                    const std::string& folder);

}  // namespace mote
