// RunOptions, what a run is besides its data, its subject and its recipe; and what a checkpoint keeps of all settings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/io/files/safetensors.h"
#include "nn/fields.h"

namespace mote {

struct RunOptions {
  std::string folder = {};      ///< where it is kept: checkpoints, logs, a report; empty: nowhere
  bool fresh = false;           ///< a run that is there already is an error
  bool accept_changes = false;  ///< go on although model, data or mote compute another loss than before
  Index seed = 1;
  std::optional<Index> sequences = {};  ///< not given: Data::questions_at_end()
  Index samples = 1;
  Index save_interval = 100, keep = 3;
  Index health = 0;

  template <class V>
  void visit(V& v) {
    v("seed", seed, "seed of weights, batches and questions");
    v("sequences", sequences, "questions to answer at the end; default: as many as the task's outcome is stated for",
      {.may_change = true});
    v("samples", samples, "questions and answers to show with each evaluation", {.may_change = true});
    const FieldUse keeps{.may_change = true, .needs = folder.empty() ? "runs that are kept: give --out_dir" : ""};
    v("save_interval", save_interval, "steps between two checkpoints; 0: only at the end", keeps);
    v("keep", keep, "how many of the newest checkpoints to keep, besides the best", keeps);
    v("health", health, "steps between two measurements of all layers, for log and report; 0: none", keeps);
  }
};

/// All settings of a run, in groups: "general", "task", "model", "training". A checkpoint keeps those that determine
/// its bits, as settings.<group>.<name>; the folder's config.json has all.
struct SettingsGroup {
  std::string title;
  std::vector<Field> fields;
};

/// config.json: {"general": {"task": "copy", ...}, "task": {...}, "model": {...}, "training": {...}}.
std::string config_json(const std::vector<SettingsGroup>& settings);
/// Its groups, names and values; nothing if there is none, or of a file that is another's.
std::vector<SettingsGroup> read_config_json(const std::string& path);

/// What a checkpoint has of a setting, "training.batch_size"; null: nothing.
const std::string* saved_setting(const SafetensorsFile& checkpoint, const std::string& name);
/// All settings of a run by group and name, "training.batch_size": those of a checkpoint, and what else config.json
/// says beside it.
FieldValues saved_settings(const SafetensorsFile& checkpoint);
/// What a checkpoint keeps of its data, Data::state().
std::string saved_state(const SafetensorsFile& checkpoint);
/// Errors: settings that a checkpoint has and these do not, and those that must be the same and differ, all at once.
/// What it lacks is what these say.
void check_settings(const SafetensorsFile& checkpoint, const std::vector<SettingsGroup>& now,
                    const std::string& folder);

}  // namespace mote
