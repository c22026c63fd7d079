// What the programs know of a run of a GPT on a task: its settings in groups of options, from a checkpoint or a command
// line.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "examples/programs/options.h"
#include "models/models.h"
#include "train/run/run_state.h"
#include "train/train.h"

namespace mote {

/// The settings of a run.
struct RunSettings {
  std::string task = "copy", state = {};  ///< state: what a checkpoint kept of the task
  FieldValues task_values = {};
  Recipe recipe = {};
  RunOptions run = {};
  bool use_cache = true;  ///< whether answers are generated with a cache of keys and values

  /// A task's own. Errors: no such task, options that it rejects.
  RunSettings(const std::string& name, const FieldValues& values, const std::string& kept = {})
      : task(name), state(kept), task_values(values), recipe(task_recipe(task, values)) {}

  OwnedTask make_task() const { return mote::make_task(task, task_values, state); }
  /// Whether training and model are as the task has them: what it states is about these.
  bool own() const {
    Recipe stated = task_recipe(task, task_values);
    const FieldValues sizes = std::exchange(stated.config, {});
    Recipe here = recipe;
    const FieldValues sizes_here = std::exchange(here.config, {});
    return fields(here) == fields(stated) && fields(gpt_config(sizes_here, 1, 1)) == fields(gpt_config(sizes, 1, 1));
  }
  std::vector<Field> task_fields() const { return task_options(task, task_values); }
  /// Of the model's config all but what the task determines.
  std::vector<Field> model_fields() const {
    std::vector<Field> all = fields(gpt_config(recipe.config, 1, 1));
    std::erase_if(all, [](const Field& f) { return f.name == "vocab_size" || f.name == "block_size"; });
    return all;
  }
  /// Of these what is for toy models, not for files of others or for programs; and the preset that they start from.
  std::vector<Field> model_options() const {
    std::string preset = "default";
    for (const auto& [name, text] : recipe.config)
      if (name == "preset") preset = text;
    std::vector<Field> all = model_fields();
    for (const char* const left_out :
         {"scale", "attn_dropout", "resid_dropout", "attention_bias", "norm_eps", "n_inner"})
      std::erase_if(all, [&](const Field& f) { return f.name == left_out; });
    all.insert(all.begin(),
               {"preset", preset, "the kind of model, sizes apart", "default|" + all_names(GPTConfig::presets(), "|")});
    return all;
  }
  void set_model(const std::string& name, const std::string& text) {
    FieldValues config = recipe.config;
    config.emplace_back(name, text);
    gpt_config(config, 1, 1);
    recipe.config = std::move(config);
  }
  /// All of these as options.
  void add_to(Options& options) {
    options.add("the run", run);
    options.add(
        "--task " + task, [this] { return task_fields(); },
        [this](const std::string& name, const std::string& text) {
          FieldValues values = task_values;
          values.emplace_back(name, text);
          task_options(task, values);
          task_values = std::move(values);
        });
    options.add(
        "the model, a GPT", [this] { return model_options(); },
        [this](const std::string& name, const std::string& text) { set_model(name, text); });
    options.add("training", recipe);
    options.context = " for --task " + task;
  }
  GPT new_model(const Task& of, const Init& init) const {
    return GPT(gpt_config(recipe.config, of.vocab_size(), of.block_size()), init);
  }
  Subject subject(GPT& model) const {
    return use_cache ? subject_of(model) : subject_of(model, GenerateOptions{.use_cache = false});
  }
};

inline bool is_task(const std::string& name) {
  const std::vector<std::string> all = task_names();
  return std::find(all.begin(), all.end(), name) != all.end();
}

/// The settings that these are the texts of, by group and name, all of them or some; what is missing is the default.
/// The task's text lies at `text`, if that is given, and `state` is what was kept of the task.
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

/// Those that a checkpoint keeps; one that mote did not have yet when it was saved is the default. Errors: one sentence
/// with the file; data that are a program's own.
inline RunSettings read_settings(const SafetensorsFile& file, const std::string& text = {}) {
  const std::string* const task = saved_setting(file, "general.task");
  check(task, file.name(), " is no checkpoint of a run: it has no setting 'task'");
  check(is_task(*task), file.name(), ": '", *task, "' is no task of mote but a program's own data: only the program ",
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

/// Where another trainer has come to with a model: nanoGPT's ckpt.pt, in a folder or itself.
inline TorchValue imported_checkpoint(const std::string& path) {
  return load_torch(is_folder(path) ? path + "/ckpt.pt" : path);
}
/// The settings of a new run that goes on from there.
inline RunSettings imported_settings(const CommandLine& line, const std::string& from) {
  checked_usage([&] {
    check(!line.has("resume"), "--resume goes on with a run and --from begins one: give one");
    check(!line.has("preset"), "--preset is for new runs");
  });
  FieldValues saved = detail::named(from, [&] { return nanogpt_settings(imported_checkpoint(from)); });
  std::string state;
  for (const auto& [name, value] : saved)
    if (name == "data_state") state = value;
  RunSettings settings = read_settings(saved, state, line.peek("text", ""));
  const std::string task = line.peek("task", settings.task);
  checked_usage([&] { check(task == settings.task, "--task ", task, ": the run has ", settings.task); });
  return settings;
}

/// What `train` was given, the lines of --config included; `own` are its options beside a run's. --text FILE says which
/// task it is, and so does a bare name.
inline CommandLine read_command_line(int argc, char** argv, const std::vector<Field>& own) {
  CommandLine line(argc, argv);
  std::vector<std::string> flags;
  const auto add = [&](const std::vector<Field>& all) {
    for (const Field& f : all)
      if (f.words == "true|false") flags.push_back(f.name);
  };
  add(own);
  add(fields(GPTConfig()));
  add(fields(Recipe()));
  for (const std::string& task : task_names()) add(task_options(task));
  line.split_flags(flags);
  for (CommandLine::Given& g : line.given)
    if (g.where.empty()) g = {"task", g.name, true, "--"};
  if (const std::string config = line.peek("config", ""); !config.empty()) line.add_file(config);
  for (const char* const option : {"out_dir", "resume", "from", "config", "text"})
    if (line.peek(option, "?").empty()) throw UsageError(std::string("--") + option + " needs a path");
  if (line.has("text") && !line.has("task") && !line.has("resume") && !line.has("from"))
    line.given.push_back({"task", "text", true, "--"});
  return line;
}

/// The settings of the run to resume. Errors: options that contradict it are the user's, the rest its checkpoint's.
inline RunSettings resumed_settings(const CommandLine& line, const std::string& resume) {
  checked_usage([&] {
    check(!line.has("out_dir"), "--out_dir begins a run and --resume goes on with one: give one of them");
    check(!line.has("preset"), "--preset is for new runs");
    check(file_exists(resume) && !newest_checkpoint(resume).empty(), "there is no run in ", resume);
  });
  const SafetensorsFile file = open_newest_checkpoint(resume);
  RunSettings settings = read_settings(file, line.peek("text", ""));
  const std::string wanted = line.peek("task", settings.task);
  checked_usage([&] {
    check(wanted == settings.task, "--task ", wanted, " contradicts the run in ", resume, ", which has ",
          settings.task);
  });
  return settings;
}

/// A task's own settings, with its options, on which the other defaults depend. What cannot be is left to
/// Options::parse(), which says where it was given.
inline RunSettings new_settings(const CommandLine& line) {
  FieldValues values;
  const std::string task = line.peek("task", "copy");
  for (const Field& f : task_options(task))
    if (line.has(f.name)) values.emplace_back(f.name, line.peek(f.name, "true"));
  try {
    return RunSettings(task, values);
  } catch (const Error&) {
    return RunSettings(task, {});
  }
}

/// The settings of a run that goes on or begins, before its options are taken.
inline RunSettings settings_of(const CommandLine& line) {
  const std::string resume = line.peek("resume", ""), from = line.peek("from", "");
  RunSettings settings = !from.empty()    ? imported_settings(line, from)
                         : resume.empty() ? checked_usage([&] { return new_settings(line); })
                                          : resumed_settings(line, resume);
  settings.run.folder = line.peek("out_dir", resume);
  settings.run.fresh = resume.empty() && !line.has("seeds");  // a folder of seeds goes on
  return settings;
}

}  // namespace mote
