// The settings of `train`: from its command line, a run to resume, another trainer's file, or a model to begin with.
#pragma once

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "examples/programs/open_model.h"
#include "examples/programs/options.h"
#include "examples/programs/saved_run.h"
#include "train/run/nanogpt.h"
#include "train/text/text_task.h"

namespace mote {

/// The options of `train` for the model, and the preset that they start from. Settings that only files of other
/// projects or other programs need are left out.
inline std::vector<Field> model_options(const RunSettings& settings) {
  std::string preset = "default";
  for (const auto& [name, text] : settings.recipe.config)
    if (name == "preset") preset = text;
  std::vector<Field> all = settings.model_fields();
  for (const char* const left_out : {"scale", "attn_dropout", "resid_dropout", "attention_bias", "norm_eps", "n_inner"})
    std::erase_if(all, [&](const Field& f) { return f.name == left_out; });
  all.insert(all.begin(), {"preset", preset, "the kind of model, without its sizes",
                           "default|" + all_names(GPTConfig::presets(), "|")});
  return all;
}

/// Adds all settings of a run to the options of `train`.
inline void add_to(Options& options, RunSettings& s) {
  options.add("the run", s.run);
  options.add(
      "--task " + s.task, [&s] { return s.task_fields(); },
      [&s](const std::string& name, const std::string& text) {
        FieldValues values = s.task_values;
        values.emplace_back(name, text);
        task_options(s.task, values);
        s.task_values = std::move(values);
      });
  options.add(
      "the model, a GPT", [&s] { return model_options(s); },
      [&s](const std::string& name, const std::string& text) { s.set_model(name, text); });
  options.add("training", s.recipe);
  options.context = " for --task " + s.task;
}

/// Reads the command line of `train`, with the options in its --config file. `own` are the options that are not
/// settings of a run. A bare word is the name of a task. --text FILE alone stands for the task `text`.
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
  std::vector<std::string> tasks = task_names();
  tasks.emplace_back("list");
  line.split_flags(flags, tasks);
  for (CommandLine::Given& g : line.given)
    if (g.where.empty()) g = {"task", g.name, true, "--"};
  if (const std::string config = line.peek("config", ""); !config.empty()) line.add_file(config);
  line.check_paths({"out_dir", "resume", "from", "init_from", "config", "text"});
  if (line.has("text") && !line.has("task") && !line.has("resume") && !line.has("from"))
    line.given.push_back({"task", "text", true, "--"});
  return line;
}

/// The settings of the run to resume. Errors: a UsageError if an option contradicts the run; those of reading its
/// checkpoint.
inline RunSettings resumed_settings(const CommandLine& line, const std::string& resume) {
  checked_usage([&] {
    check(!line.has("out_dir"), "--out_dir begins a run and --resume goes on with one: give one of them");
    check(!line.has("preset"), "--preset is for new runs");
    if (newest_checkpoint(resume).empty()) check_no_run(resume);
    check(!newest_checkpoint(resume).empty(), "there is no run in ", resume);
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

/// The settings of a new run. The task's options are taken first, because other defaults depend on them. If they are
/// invalid, they are left out here, and Options::parse() reports them with the place where they were given.
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

/// Returns the options of the task that make a run use the vocabulary of its initial model. `path` is the path of that
/// vocabulary.
inline FieldValues vocabulary_values(const CommandLine& line, const std::string& path, const Tokenizer* tokenizer,
                                     Index vocab_size) {
  FieldValues values;
  if (tokenizer && !line.has("tokenizer")) values.emplace_back("tokenizer", path);
  const bool rows = (tokenizer || line.has("tokenizer")) && !line.has("vocab_size");
  if (rows && (!tokenizer || tokenizer->vocab_size() < vocab_size))
    values.emplace_back("vocab_size", std::to_string(vocab_size));
  return values;
}

/// The settings of a new run that begins with the weights of a model, --init_from. Data and training settings are those
/// of the new run. The kind and the sizes of the model are those of the given model, and a text is encoded with the
/// given model's vocabulary. If the file has only weights, the sizes come from the command line.
inline RunSettings fine_tuning_settings(const CommandLine& line, const std::string& path) {
  checked_usage([&] {
    check(!line.has("resume") && !line.has("from"), "--init_from begins a run: without --resume and --from");
    check(!line.has("preset"), "--preset is for models without weights: the kind of this one is that of ", path);
  });
  RunSettings settings = checked_usage([&] { return new_settings(line); });
  const ModelKind kind = kind_of_model(path);
  if (kind == ModelKind::weights) {
    settings.begin = [path](GPT& model) { take_weights_alone(model, path); };
    return settings;
  }

  const std::shared_ptr<const OpenedModel> source = [&] {
    if (kind == ModelKind::run) return std::make_shared<const OpenedModel>(open_run(path));
    GPT model = kind == ModelKind::nanogpt       ? load_nanogpt(path)
                : kind == ModelKind::huggingface ? load_huggingface(path)
                                                 : load_llmc(path);
    auto tokenizer = kind == ModelKind::llmc ? nullptr : tokenizer_in(folder_of(path), model.config.vocab_size);
    return std::make_shared<const OpenedModel>(OpenedModel{std::move(model), nullptr, std::move(tokenizer)});
  }();
  const GPTConfig& config = source->model.config;
  const std::vector<std::string> texts = {"text", "text_llama"};
  const bool is_text = std::find(texts.begin(), texts.end(), settings.task) != texts.end();
  checked_usage([&] {
    check(is_text || !source->tokenizer || line.has("task"), "--init_from ", path,
          " begins with a model of texts: --text FILE gives one");
  });
  if (is_text) {
    const std::string vocabulary = kind == ModelKind::run ? path : folder_of(path);
    FieldValues values{{"block_size", std::to_string(config.block_size)}};
    const FieldValues more = vocabulary_values(line, vocabulary, source->tokenizer.get(), config.vocab_size);
    values.insert(values.end(), more.begin(), more.end());
    values.insert(values.end(), settings.task_values.begin(), settings.task_values.end());
    settings.task_values = std::move(values);
  }
  settings.recipe.config.clear();
  for (const Field& f : fields(config))
    if (f.name != "vocab_size" && f.name != "block_size") settings.recipe.config.emplace_back(f.name, f.value);
  settings.begin = [source, path](GPT& model) { take_weights(model, state_dict(source->model), {}, path); };
  return settings;
}

/// Reads nanoGPT's ckpt.pt. `path` is that file, or a folder that holds it.
inline TorchValue imported_checkpoint(const std::string& path) {
  return load_torch(is_folder(path) ? path + "/ckpt.pt" : path);
}

/// Finds nanoGPT's folder of a dataset, near the ckpt.pt `from` or in the current folder. Returns "" if there is none.
inline std::string dataset_folder(const std::string& from, const std::string& dataset) {
  if (dataset.empty()) return "";
  const std::string out = folder_of(from);
  for (const std::string& folder : {dataset, out + "/../data/" + dataset, "data/" + dataset})
    if (is_folder(folder)) return folder;
  return "";
}

/// Returns the options of the task, text and vocabulary, for a ckpt.pt that nanoGPT itself has saved. The vocabulary is
/// read from meta.pkl, which lies beside ckpt.pt, beside the text, or in nanoGPT's folder of the dataset. Errors: no
/// text; a vocabulary of another size.
inline FieldValues imported_text(const CommandLine& line, const std::string& from, const NanogptSettings& its) {
  const std::string data = dataset_folder(from, its.dataset);
  const bool tokens = !data.empty() && file_exists(data + "/train.bin") && file_exists(data + "/val.bin");
  const std::string text = line.peek("text", tokens ? data : "");
  check(!text.empty(), from,
        " does not contain its text: give it by --text, a file or nanoGPT's folder with train.bin");
  FieldValues values{{"task.text", text}};
  if (line.has("tokenizer")) {
    if (!TextOptions{.tokenizer = line.peek("tokenizer", "")}.kind())
      values.emplace_back("task.vocab_size", std::to_string(its.vocab_size));
    return values;
  }

  for (const std::string& folder : {folder_of(from), folder_of(text), data}) {
    const std::string meta = folder + "/meta.pkl";
    if (folder.empty() || !file_exists(meta)) continue;
    const Index known = load_nanogpt_tokenizer(meta)->vocab_size();
    check(known == its.vocab_size, meta, " has ", known, " characters, but the model has ", its.vocab_size,
          ": it belongs to another text");
    values.emplace_back("task.tokenizer", meta);
    return values;
  }
  check(its.vocab_size < 50257, from, " has a vocabulary of ", its.vocab_size,
        " tokens, like GPT-2's: give the folder of its vocab.json and merges.txt by --tokenizer");
  std::cout << "there is no meta.pkl: its characters are numbered as those of " << text << "\n";
  return values;
}

/// The settings of a new run that goes on from nanoGPT's ckpt.pt, --from. Errors: options of the task that would change
/// the ids of the tokens, or the lengths of token sequences.
inline RunSettings imported_settings(const CommandLine& line, const std::string& from) {
  checked_usage([&] {
    check(!line.has("resume"), "--resume goes on with a run and --from begins one: give one");
    check(!line.has("preset"), "--preset is for new runs");
  });
  NanogptSettings its = detail::named(from, [&] { return nanogpt_settings(imported_checkpoint(from)); });
  if (!its.own)
    for (const auto& value : checked_usage([&] { return imported_text(line, from, its); })) its.all.push_back(value);
  for (const std::string& unknown : its.unknown)
    std::cout << "not taken from " << from << ", since nanoGPT has no such setting: " << unknown << "\n";

  std::string state;
  for (const auto& [name, value] : its.all)
    if (name == "data_state") state = value;
  RunSettings settings = read_settings(its.all, state, line.peek("text", ""));
  const std::string task = line.peek("task", settings.task);
  checked_usage([&] {
    check(task == settings.task, "--task ", task, ": the run has ", settings.task);
    for (const Field& f : settings.task_fields()) {
      const bool free = f.use.may_change || (f.name == "tokenizer" && !its.own);
      const std::string wanted = line.peek(f.name, "true");
      check(free || !line.has(f.name) || wanted == f.value, "--", f.name, " ", wanted, ": the run has ", f.value,
            ", and another value would give its tokens other ids or lengths");
    }
  });
  return settings;
}

/// The settings of a new or a resumed run before the options of the command line are applied.
inline RunSettings settings_of(const CommandLine& line) {
  const std::string resume = line.peek("resume", ""), from = line.peek("from", ""), begin = line.peek("init_from", "");
  RunSettings settings = !begin.empty()   ? fine_tuning_settings(line, begin)
                         : !from.empty()  ? imported_settings(line, from)
                         : resume.empty() ? checked_usage([&] { return new_settings(line); })
                                          : resumed_settings(line, resume);
  settings.run.folder = line.peek("out_dir", resume);
  settings.run.fresh = resume.empty() && !line.has("seeds");  // --seeds resumes the runs that are in the folder
  return settings;
}

}  // namespace mote
