// A run of a toy task as its settings describe it: the model, what learns it, and config.json, which keeps them.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/io/files/file.h"
#include "engine/io/text/json.h"
#include "examples/options.h"
#include "models/models.h"
#include "train/run_folder.h"
#include "train/tasks/list.h"

namespace toy_run {

using namespace mote;

/// What the programs need of a model.
struct Model {
  virtual ~Model() = default;
  virtual Module& module() = 0;
  virtual Tensor loss(const Batch& batch, double label_smoothing = 0) const = 0;
  /// The model itself if it is a GPT, which generates in more ways than answer(); else null.
  virtual GPT* gpt() { return nullptr; }
  /// The likeliest tokens after each prompt, [N, count].
  virtual IntArray answer(const IntArray& prompts, Index count) = 0;
};

/// A kind of model: the fields of its config, with these values set, and the model they describe for a task.
struct ModelKind {
  const char* name;
  std::vector<Field> (*fields)(const FieldValues& values);
  std::unique_ptr<Model> (*make)(const FieldValues& values, const Task& task, const Generator& random);
};

template <class Choice>
Choice chosen(Choice choice, const FieldValues& values) {
  for (const auto& [name, text] : values) check(set_field(choice, name, text), "this model has no option ", name);
  return choice;
}

/// A GPTConfig except what the task determines, and the preset it starts from.
struct GPTChoice {
  std::string preset = "default";
  GPTConfig config;
  template <class V>
  void visit(V& v) {
    std::string names = "default";
    for (const GPTConfig::Preset& p : GPTConfig::presets()) names.append("|").append(p.name);
    v("preset", preset, ("the kind of model, sizes apart (" + names + ")").c_str());
    const auto see = [&](const char* name, auto& value, const char* help) {
      if (name != std::string("vocab_size") && name != std::string("block_size")) v(name, value, help);
    };
    config.visit(see);
  }
};

/// Applies the preset first, in whatever order options come. The preset's n_kv_head yields if it does not divide
/// n_head; one set by the user does not.
inline GPTChoice gpt_choice(const FieldValues& values) {
  GPTChoice choice;
  bool heads_chosen = false;
  for (const auto& [name, text] : values) {
    if (name == "preset") choice.preset = text;
    heads_chosen = heads_chosen || name == "n_kv_head";
  }
  if (choice.preset != "default") choice.config = GPTConfig::preset(choice.preset);
  choice = chosen(choice, values);
  if (heads_chosen) return choice;
  choice.config = choice.config.resized(choice.config.n_layer, choice.config.n_head, choice.config.n_embd);
  return choice;
}

struct GPTModel : Model {
  GPT model;
  explicit GPTModel(GPT gpt) : model(std::move(gpt)) {}
  Module& module() override { return model; }
  GPT* gpt() override { return &model; }
  Tensor loss(const Batch& batch, double label_smoothing) const override {
    return model.loss(batch.ids, batch.targets, {}, label_smoothing);
  }
  IntArray answer(const IntArray& prompts, Index count) override {
    const Index length = prompts.shape()[1];
    return model.generate(prompts, count).slice(1, length, length + count);
  }
};

struct AttentionLMChoice {
  AttentionLMConfig config;
  template <class V>
  void visit(V& v) {
    v("n_head", config.n_head, "attention heads");
    v("n_embd", config.n_embd, "width");
    v("dropout", config.dropout, "probability of dropping, in training");
  }
};

struct AttentionLMModel : Model {
  AttentionLM lm;
  AttentionLMModel(const AttentionLMConfig& config, const Generator& random) : lm(config, random) {}
  Module& module() override { return lm; }
  Tensor loss(const Batch& batch, double label_smoothing) const override {
    return lm.loss(batch.ids, batch.targets, label_smoothing);
  }
  IntArray answer(const IntArray& prompts, Index count) override {
    const NoGrad no_grad;
    const Evaluation evaluation(lm);
    const Index rows = prompts.shape()[0], length = prompts.shape()[1];
    IntArray ids({rows, length + count});
    for (Index b = 0; b < rows; ++b)
      for (Index t = 0; t < length; ++t) ids.mutate()[b * (length + count) + t] = prompts.at({b, t});
    for (Index t = length; t < length + count; ++t) {
      const IntArray likeliest = argmax(lm(ids.slice(1, 0, t)));
      for (Index b = 0; b < rows; ++b) ids.mutate()[b * (length + count) + t] = likeliest.at({b, t - 1});
    }
    return ids.slice(1, length, length + count);
  }
};

inline const ModelKind model_kinds[] = {
    {"gpt", [](const FieldValues& values) { return fields(gpt_choice(values)); },
     [](const FieldValues& values, const Task& task, const Generator& random) -> std::unique_ptr<Model> {
       GPTConfig config = gpt_choice(values).config;
       config.vocab_size = task.vocab_size();
       config.block_size = task.block_size();
       return std::make_unique<GPTModel>(GPT(config, random));
     }},
    {"attention_lm", [](const FieldValues& values) { return fields(chosen(AttentionLMChoice(), values)); },
     [](const FieldValues& values, const Task& task, const Generator& random) -> std::unique_ptr<Model> {
       AttentionLMConfig config = chosen(AttentionLMChoice(), values).config;
       config.vocab_size = task.vocab_size();
       config.block_size = task.block_size();
       return std::make_unique<AttentionLMModel>(config, random);
     }}};

inline const ModelKind& model_kind(const std::string& name) {
  std::string all;
  for (const ModelKind& kind : model_kinds) {
    if (name == kind.name) return kind;
    all.append(all.empty() ? "" : ", ").append(kind.name);
  }
  throw Error("model '" + name + "' is none of " + all);
}

/// What a run is, besides the options of its task, its model and its training.
struct General {
  std::string task = "copy", model;
  Index seed = 1;
  std::optional<Index> sequences = {};
  bool overfit = false;
  template <class V>
  void visit(V& v) {
    v("task", task, "what to learn; list: all tasks");
    if (!model.empty()) v("model", model, "what learns it (gpt|attention_lm)");
    v("seed", seed, "seed of weights, batches and questions");
    v("sequences", sequences, "questions to answer at the end; default: as many as the task's outcome is stated for");
    v("overfit", overfit, "train on one batch again and again: what cannot learn that has a mistake");
  }
};

/// What a run shows of itself on its way.
struct Showing {
  Index log_interval = 100, samples = 1;
  template <class V>
  void visit(V& v) {
    v("log_interval", log_interval, "steps between two lines of progress, where no terminal shows them; 0: each");
    v("samples", samples, "questions and answers to show with each evaluation");
  }
};

/// What a run keeps of itself in its folder.
struct Keeping {
  Index save_interval = 100, keep = 3;
  template <class V>
  void visit(V& v) {
    v("save_interval", save_interval, "steps between two checkpoints; 0: only at the end");
    v("keep", keep, "how many of the newest checkpoints to keep, besides the best");
  }
};

/// All settings of a run.
struct RunSettings {
  General general;
  Showing showing;
  Keeping keeping;
  FieldValues task;
  Recipe recipe;
  std::vector<std::string> typed;  ///< the names of those that the user gave

  /// The defaults of a task with these options (and the state that a checkpoint has of it), and of a model if one is
  /// named. Errors: no such task or model, options that the task rejects.
  RunSettings(const std::string& task_name, const FieldValues& task_values, const std::string& model_name,
              const std::string& state = {})
      : task(task_values) {
    general.task = task_name;
    made_ = make_task(task_name, task, state);
    made_with_ = task_options(task_name, task);
    recipe = made_->recipe();
    general.model = model_name.empty() ? recipe.model : model_name;
    const ModelKind& kind = model_kind(general.model);
    if (general.model == recipe.model) return;
    const std::vector<Field> known = kind.fields({});  // of a recipe for another model, those that this one has
    std::erase_if(recipe.config, [&](const auto& value) {
      return std::none_of(known.begin(), known.end(), [&](const Field& f) { return f.name == value.first; });
    });
    recipe.model = general.model;
  }

  /// Every setting, in groups: "general", "showing", "keeping", "task", "model", "training".
  std::vector<std::pair<std::string, std::vector<Field>>> groups() const {
    return {{"general", fields(general)},
            {"showing", fields(showing)},
            {"keeping", fields(keeping)},
            {"task", task_options(general.task, task)},
            {"model", model_kind(general.model).fields(recipe.config)},
            {"training", fields(recipe)}};
  }
  std::vector<Field> group(const std::string& name) const {
    for (auto& [title, list] : groups())
      if (title == name) return list;
    return {};
  }
  void set(const std::string& group, const std::string& name, const std::string& text) {
    if (group == "task") {
      task.emplace_back(name, text);
      task_options(general.task, task);
    } else if (group == "model") {
      recipe.config.emplace_back(name, text);
      model_kind(general.model).fields(recipe.config);
    } else {
      const bool found = group == "general"   ? set_field(general, name, text)
                         : group == "showing" ? set_field(showing, name, text)
                         : group == "keeping" ? set_field(keeping, name, text)
                                              : set_field(recipe, name, text);
      check(found, "no setting ", name);
    }
  }

  /// Errors: an option that the user gave and that has no effect.
  void check_typed(bool kept) const {
    const GPTConfig config = general.model == "gpt" ? gpt_choice(recipe.config).config : GPTConfig();
    for (const std::string& name : typed) {
      const auto is_for = [&](bool used, const char* what) { check(used, "--", name, " is for ", what); };
      if (name.starts_with("rotary_")) is_for(config.position == Position::rotary, "--position rotary");
      if (name == "activation" || name == "n_inner" || name == "mlp_bias")
        is_for(config.block.feed_forward, "--feed_forward true");
      if (name == "beta1" || name == "beta2")
        is_for(recipe.optimizer != OptimizerKind::sgd, "optimizers that keep means of gradients");
      if (name == "min_lr") is_for(recipe.schedule != ScheduleKind::constant, "schedules that end with it");
      if (name == "lr_decay_iters") is_for(recipe.schedule != ScheduleKind::constant, "schedules that come to an end");
      if (name == "decay_ratio") is_for(recipe.schedule == ScheduleKind::wsd, "--schedule wsd");
      if (name == "save_interval" || name == "keep") is_for(kept, "runs that are kept: give --out_dir");
      if (name == "sequences") is_for(made_->graded(), "tasks whose questions have one right answer");
    }
  }

  /// The task itself. A checkpoint may have a state of it.
  std::shared_ptr<const Task> the_task() const {
    check(task_options(general.task, task) == made_with_, "the options of a task are given when its settings are made");
    return made_;
  }
  std::unique_ptr<Model> new_model(const Task& of, const Generator& random) const {
    return model_kind(general.model).make(recipe.config, of, random);
  }

 private:
  std::shared_ptr<const Task> made_;
  std::vector<Field> made_with_;
};

/// All settings by name, for a checkpoint to compare: those that may change when a run goes on are left out. A text may
/// lie elsewhere by then: that it is the same, its task sees to.
inline bool may_change(const std::string& name) {
  for (const char* const free :
       {"max_iters", "eval_interval", "log_interval", "samples", "save_interval", "keep", "sequences", "text"})
    if (name == free) return true;
  return false;
}
inline std::vector<Field> fixed_settings(const RunSettings& settings) {
  std::vector<Field> all;
  for (const auto& [group, list] : settings.groups())
    for (const Field& f : list)
      if (!may_change(f.name)) all.push_back(f);
  return all;
}

/// The state of a task as numbers, which a checkpoint keeps: how many bytes, and eight of them in each.
inline IntArray packed_state(const std::string& bytes) {
  std::vector<Index> packed((bytes.size() + 7) / 8 + 1, 0);
  packed[0] = static_cast<Index>(bytes.size());
  if (!bytes.empty()) std::memcpy(packed.data() + 1, bytes.data(), bytes.size());
  return IntArray({static_cast<Index>(packed.size())}, packed);
}
inline std::string unpacked_state(const IntArray& packed) {
  const Index size = packed.numel() > 0 ? packed.at({0}) : -1;
  check(size >= 0 && packed.numel() == (size + 7) / 8 + 1, "a checkpoint's state of its task is damaged");
  std::string bytes(static_cast<std::size_t>(size), '\0');
  if (size > 0) std::memcpy(bytes.data(), packed.contiguous().data() + 1, bytes.size());
  return bytes;
}
inline const char* const state_name = "task_state";
/// The state of the task that a checkpoint has. Errors: a file that was cut or changed.
inline std::string saved_state(const SafetensorsFile& file) {
  const TensorEntry* const entry = file.find(state_name);
  return entry ? unpacked_state(file.int_array(*entry)) : "";
}

/// config.json: {"general": {"task": "copy", ...}, "task": {...}, "model": {...}, "training": {...}}.
inline std::string config_json(const RunSettings& settings) {
  // A number or a boolean as such, if it comes back as it was (a file may be called 1e3), all else as text.
  const auto value_of = [](const std::string& text) {
    try {
      const Json value = parse_json(text);
      if (!value.is(Json::Kind::string) && !value.is(Json::Kind::null) && text_of(value) == text) return value;
    } catch (const Error&) {
    }
    return Json(text);
  };
  Json document = Json::object();
  for (const auto& [group, list] : settings.groups()) {
    Json values = Json::object();
    for (const Field& f : list) values.add(f.name, value_of(f.value));
    document.add(group, std::move(values));
  }
  return text_of(document, 2) + "\n";
}

/// The newest checkpoint in the folder of a run, or the best. Errors: there is none.
inline std::string checkpoint_of(const std::string& folder, bool best = false) {
  check(file_exists(folder), "there is no folder ", folder);
  const std::string path = best ? best_checkpoint(folder) : newest_checkpoint(folder);
  check(!path.empty(), "there is no ", best ? "best " : "", "checkpoint in ", folder);
  return path;
}

/// The settings in config.json of the run in a folder; its text lies at `text`, if that is given. Errors: one sentence
/// with the file.
inline RunSettings read_config(const std::string& folder, const std::string& text = "") {
  const std::string path = folder + "/config.json", newest = newest_checkpoint(folder);
  const Json document = parse_json(read_file(path, 1 << 20), path);
  const JsonPlace root(document, path), general = root.at("general");
  const auto text_in = [](const JsonMember& field) {
    return field.value.is(Json::Kind::string) ? JsonPlace(field.value).as_string() : text_of(field.value);
  };
  FieldValues task;
  if (root.find("task"))
    for (const JsonMember& field : root.at("task").members())
      task.emplace_back(field.name, field.name == "text" && !text.empty() ? text : text_in(field));
  const std::string name = general.at("task").as_string(), model = general.at("model").as_string();
  const std::string state = newest.empty() ? "" : saved_state(SafetensorsFile(newest));
  try {
    RunSettings settings(name, task, model, state);
    for (const JsonMember& group : root.members())
      for (const JsonMember& field : root.at(group.name).members())
        if (group.name != "task") settings.set(group.name, field.name, text_in(field));
    return settings;
  } catch (const Error& e) {
    throw Error(path + ": " + e.what());
  }
}

/// The settings that a checkpoint of a run keeps; one that mote did not have yet when it was saved is the default.
/// Errors: one sentence with the file.
inline RunSettings read_settings(const SafetensorsFile& file) {
  const auto saved = [&](const std::string& name) { return file.find_metadata("settings." + name); };
  for (const char* const name : {"task", "model"})
    check(saved(name), file.name(), " is no checkpoint of a run: it has no setting '", name, "'");
  FieldValues task;
  for (const Field& f : task_options(*saved("task")))
    if (const std::string* const text = saved(f.name); text && !may_change(f.name)) task.emplace_back(f.name, *text);
  RunSettings settings(*saved("task"), task, *saved("model"), saved_state(file));
  for (const auto& [group, list] : settings.groups())
    for (const Field& f : list)
      if (const std::string* const text = saved(f.name); text && group != "task" && !may_change(f.name))
        settings.set(group, f.name, *text);
  return settings;
}

/// A trained model (its averaged weights, where the run has them) and its task, from one checkpoint.
struct LoadedRun {
  RunSettings settings;
  std::shared_ptr<const Task> task;
  std::unique_ptr<Model> model;

  explicit LoadedRun(const std::string& checkpoint)
      : settings(read_settings(SafetensorsFile(checkpoint))),
        task(settings.the_task()),
        model(settings.new_model(*task, Generator(settings.general.seed))) {
    load_weights(model->module(), checkpoint);
    if (settings.recipe.ema_decay > 0) load_weights(model->module(), checkpoint, "ema");
  }
};

/// The newest model of a run, or the best. A run that goes on meanwhile removes its oldest checkpoints.
inline LoadedRun newest_of_run(const std::string& folder, bool best) {
  for (;;) {
    const std::string checkpoint = checkpoint_of(folder, best);
    try {
      return LoadedRun(checkpoint);
    } catch (const Error&) {
      if (file_exists(checkpoint)) throw;
    }
  }
}

}  // namespace toy_run
