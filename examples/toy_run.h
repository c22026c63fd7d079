// A run of a toy task as its settings describe it: the model, what learns it, and config.json, which keeps them.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/io/file.h"
#include "engine/io/json.h"
#include "examples/options.h"
#include "models/models.h"
#include "train/run_folder.h"
#include "train/tasks/tasks.h"

namespace toy_run {

using namespace mote;

/// What the programs need of a model.
struct Model {
  virtual ~Model() = default;
  virtual Module& module() = 0;
  virtual Tensor loss(const Batch& batch) const = 0;
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

/// Errors: an option that has no effect on the model chosen.
inline void check_used(const FieldValues& values, const GPTConfig& config) {
  for (const auto& [name, text] : values) {
    const bool rotary = name.starts_with("rotary_");
    const bool feed_forward = name == "activation" || name == "n_inner" || name == "mlp_bias";
    check(!rotary || config.position == Position::rotary, "--", name, " is for --position rotary");
    check(!feed_forward || config.block.feed_forward, "--", name, " is for --feed_forward true");
  }
}

struct GPTModel : Model {
  GPT model;
  explicit GPTModel(GPT gpt) : model(std::move(gpt)) {}
  Module& module() override { return model; }
  GPT* gpt() override { return &model; }
  Tensor loss(const Batch& batch) const override { return model.loss(batch.ids, batch.targets); }
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
  Tensor loss(const Batch& batch) const override { return lm.loss(batch.ids, batch.targets); }
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
  Index seed = 1, sequences = 1000;
  template <class V>
  void visit(V& v) {
    v("task", task, "what to learn; list: all tasks");
    if (!model.empty()) v("model", model, "what learns it (gpt|attention_lm)");
    v("seed", seed, "seed of weights, batches and questions");
    v("sequences", sequences, "questions to answer at the end");
  }
};

/// What a run keeps of itself in its folder.
struct Keeping {
  Index save_every = 100, keep = 3;
  template <class V>
  void visit(V& v) {
    v("save_every", save_every, "steps between two checkpoints; 0: only at the end");
    v("keep", keep, "how many of the newest checkpoints to keep, besides the best");
  }
};

/// All settings of a run.
struct RunSettings {
  General general;
  Keeping keeping;
  FieldValues task;
  Recipe recipe;
  FieldValues typed;  ///< of the model's options, those on the command line

  /// The defaults of a task, and of a model if one is named. Errors: no such task or model.
  RunSettings(const std::string& task_name, const std::string& model_name) {
    general.task = task_name;
    recipe = make_task(task_name)->recipe();
    general.model = model_name.empty() ? recipe.model : model_name;
    const ModelKind& kind = model_kind(general.model);
    if (general.model == recipe.model) return;
    const std::vector<Field> known = kind.fields({});  // of a recipe for another model, those that this one has
    std::erase_if(recipe.config, [&](const auto& value) {
      return std::none_of(known.begin(), known.end(), [&](const Field& f) { return f.name == value.first; });
    });
    recipe.model = general.model;
  }

  /// Every setting, in groups: "general", "keeping", "task", "model", "training".
  std::vector<std::pair<std::string, std::vector<Field>>> groups() const {
    return {{"general", fields(general)},
            {"keeping", fields(keeping)},
            {"task", task_options(general.task, task)},
            {"model", model_kind(general.model).fields(recipe.config)},
            {"training", fields(recipe)}};
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
                         : group == "keeping" ? set_field(keeping, name, text)
                                              : set_field(recipe, name, text);
      check(found, "no setting ", name);
    }
  }

  /// Errors: an option on the command line that has no effect on the model chosen.
  void check_typed() const {
    if (general.model == "gpt") check_used(typed, gpt_choice(recipe.config).config);
  }

  std::unique_ptr<Task> new_task() const { return make_task(general.task, task); }
  std::unique_ptr<Model> new_model(const Task& of, const Generator& random) const {
    return model_kind(general.model).make(recipe.config, of, random);
  }
};

/// All settings by name, for a checkpoint to compare: those that may change when a run goes on are left out.
inline bool may_change(const std::string& name) {
  return name == "steps" || name == "save_every" || name == "keep" || name == "sequences";
}
inline std::vector<Field> fixed_settings(const RunSettings& settings) {
  std::vector<Field> all;
  for (const auto& [group, list] : settings.groups())
    for (const Field& f : list)
      if (!may_change(f.name)) all.push_back(f);
  return all;
}

/// config.json: {"general": {"task": "copy", ...}, "task": {...}, "model": {...}, "training": {...}}.
inline std::string config_json(const RunSettings& settings) {
  const auto value_of = [](const std::string& text) {  // a number or a boolean as such, all else as text
    try {
      const Json value = parse_json(text);
      if (!value.is(Json::Kind::string) && !value.is(Json::Kind::null)) return value;
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

/// The settings in a run's config.json. Errors: one sentence with the file.
inline RunSettings read_config(const std::string& path) {
  const Json document = parse_json(read_file(path, 1 << 20), {}, path);
  const JsonPlace root(document, path);
  RunSettings settings(root.at("general").at("task").as_string(), root.at("general").at("model").as_string());
  for (const JsonMember& group : root.members())
    for (const JsonMember& field : root.at(group.name).members()) {
      const bool text = field.value.is(Json::Kind::string);
      const std::string value = text ? field.value.as_string() : text_of(field.value);
      try {
        settings.set(group.name, field.name, value);
      } catch (const Error& e) {
        throw Error(path + ": " + e.what());
      }
    }
  return settings;
}

/// The settings that a checkpoint of a run keeps. Errors: one sentence with the file.
inline RunSettings read_settings(const SafetensorsFile& file) {
  const auto value = [&](const std::string& name) {
    const std::string* const text = file.find_metadata("settings." + name);
    check(text, file.name(), " is no checkpoint of a run: it has no setting '", name, "'");
    return *text;
  };
  RunSettings settings(value("task"), value("model"));
  for (const auto& [group, list] : settings.groups())
    for (const Field& f : list)
      if (!may_change(f.name)) settings.set(group, f.name, value(f.name));
  return settings;
}

/// A trained model and its task, from one checkpoint.
struct LoadedRun {
  RunSettings settings;
  std::unique_ptr<Task> task;
  std::unique_ptr<Model> model;

  explicit LoadedRun(const std::string& checkpoint)
      : settings(read_settings(SafetensorsFile(checkpoint))),
        task(settings.new_task()),
        model(settings.new_model(*task, Generator(settings.general.seed))) {
    load_weights(model->module(), checkpoint);
  }
};

/// The newest checkpoint in the folder of a run, or the best. Errors: there is none.
inline std::string checkpoint_of(const std::string& folder, bool best = false) {
  const std::string path = best ? best_checkpoint(folder) : newest_checkpoint(folder);
  check(!path.empty(), "there is no ", best ? "best " : "", "checkpoint in ", folder);
  return path;
}

}  // namespace toy_run
