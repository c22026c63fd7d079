// The entries of nanoGPT's checkpoint dict, and how nanoGPT's settings map to mote's.
#include "train/run/nanogpt.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>

#include "engine/base/number_text.h"
#include "train/loop/fit.h"

namespace mote {
namespace {

/// A setting of nanoGPT, and the group of mote's settings that it is copied to. The group "" means that the setting is
/// not copied. The group "schedule" means "training" if decay_lr is True, and otherwise "".
struct Setting {
  const char* name;
  const char* group;
};
constexpr Setting its_settings[] = {
    {"n_layer", "model"},
    {"n_head", "model"},
    {"n_embd", "model"},
    {"dropout", "model"},
    {"bias", "model"},
    {"block_size", "task"},
    {"batch_size", "training"},
    {"gradient_accumulation_steps", "training"},
    {"learning_rate", "training"},
    {"max_iters", "training"},
    {"weight_decay", "training"},
    {"beta1", "training"},
    {"beta2", "training"},
    {"grad_clip", "training"},
    {"eval_interval", "training"},
    {"eval_iters", "training"},
    {"warmup_iters", "schedule"},
    {"lr_decay_iters", "schedule"},
    {"min_lr", "schedule"},
    {"decay_lr", ""},
    {"vocab_size", ""},
    {"out_dir", ""},
    {"log_interval", ""},
    {"eval_only", ""},
    {"always_save_checkpoint", ""},
    {"init_from", ""},
    {"wandb_log", ""},
    {"wandb_project", ""},
    {"wandb_run_name", ""},
    {"dataset", ""},
    {"backend", ""},
    {"device", ""},
    {"dtype", ""},
    {"compile", ""},
};

/// The integer, boolean, number or text that a setting's text stands for.
TorchValue value_of(const std::string& text) {
  Index n = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (status == std::errc() && end == text.data() + text.size()) return {n};
  if (text == "true" || text == "false") return {text == "true"};
  const std::optional<double> x = number_from_text(text);
  return x ? TorchValue{*x} : TorchValue{text};
}

TorchValue dict_of(const FieldValues& values) {
  TorchDict dict;
  for (const auto& [name, text] : values) dict.items.push_back({name, value_of(text)});
  return {std::move(dict)};
}

/// Returns a recipe as nanoGPT's settings. Defaults are filled in, and warmup_iters is at most lr_decay_iters.
FieldValues in_its_words(const Recipe& r) {
  Recipe full = r;
  full.min_lr = r.min_lr.value_or(r.learning_rate / 10);
  full.lr_decay_iters = r.lr_decay_iters.value_or(r.max_iters);
  const bool ends = r.schedule != ScheduleKind::constant;
  if (ends) full.warmup_iters = std::min(r.warmup_iters, *full.lr_decay_iters);
  FieldValues words{{"decay_lr", detail::field_text(ends)}};
  for (const Field& f : fields(full)) words.emplace_back(f.name, f.value);
  return words;
}

/// Returns the state of the run's AdamW in the form of torch.optim.AdamW's state_dict().
TorchValue adamw_state(const Module& model, const NameTable& names, const Recipe& r, const RunState& state) {
  check_in("export", r.optimizer == OptimizerKind::adamw,
           "nanoGPT resumes only runs that train with adamw, but this run trains with ", r.optimizer);
  const double last = fit_options(r).schedule(std::max<Index>(state.steps - 1, 0));
  const AdamWOptions how{.lr = last, .betas = {r.beta1, r.beta2}};
  return torch_optimizer_state(state.optimizer, decay_groups(model, r.weight_decay), how, names);
}

/// Checks the options of the checkpoint's optimizer. Errors: betas or a weight decay other than those in the
/// checkpoint's config, an eps other than mote's.
void check_options(const TorchValue& checkpoint) {
  const TorchValue& config = detail::at(checkpoint, "config");
  const TorchValue* const groups = detail::find(detail::at(checkpoint, "optimizer"), "param_groups");
  if (!groups || !std::holds_alternative<TorchList>(groups->value)) return;  // set_torch_optimizer_state() reports it
  const auto same = [&](const char* option, double value) {
    const TorchValue* const wanted = detail::find(config, option);
    if (!wanted) return;
    const double stated = detail::number_of(*wanted, option);
    check_in("torch", value == stated, "the checkpoint's optimizer has ", option, " ", value, ", but its config ",
             stated, ": both must be equal");
  };
  for (const TorchValue& group : std::get<TorchList>(groups->value).items) {
    if (const TorchValue* const eps = detail::find(group, "eps")) {
      const double value = detail::number_of(*eps, "eps"), here = AdamWOptions().eps;
      check_in("torch", value == here, "the checkpoint's optimizer has eps ", value, ", but that of a run of mote is ",
               here);
    }
    if (const TorchValue* const betas = detail::find(group, "betas"))
      if (const auto* const two = std::get_if<TorchList>(&betas->value); two && two->items.size() == 2) {
        same("beta1", detail::number_of(two->items[0], "betas"));
        same("beta2", detail::number_of(two->items[1], "betas"));
      }
    if (const TorchValue* const decay = detail::find(group, "weight_decay"))
      if (const double value = detail::number_of(*decay, "weight_decay"); value != 0)  // 0 in the group of vectors
        same("weight_decay", value);
  }
}

constexpr std::string_view fractions[] = {"dropout", "learning_rate", "min_lr",   "beta1",
                                          "beta2",   "weight_decay",  "grad_clip"};

/// A text as a Python string literal.
std::string quoted(const std::string& text) {
  std::string all = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') all += '\\';
    all += c;
  }
  return all + "'";
}

}  // namespace

TorchValue nanogpt_checkpoint(const Module& model, const NameTable& names, const FieldValues& args, const Recipe& r,
                              const RunState& state, const FieldValues& settings, const std::string& dataset) {
  FieldValues config = args;
  for (const auto& word : in_its_words(r)) config.push_back(word);
  TorchValue its_config = dict_of(config);
  std::get<TorchDict>(its_config.value).items.push_back({std::string("dataset"), {dataset}});

  TorchDict averages, texts;
  for (const NamedArray& a : state.averages) averages.items.push_back({a.name, {TorchTensor{a.value}}});
  for (const auto& [name, text] : settings) texts.items.push_back({name, {text}});
  TorchDict own{{{"ema", {std::move(averages)}}, {"ema_updates", {state.averaged}}, {"settings", {std::move(texts)}}}};
  if (state.data) own.items.push_back({"rng_state", {torch_rng_state(*state.data)}});

  return {TorchDict{{{"model", torch_state_dict(model, names)},
                     {"optimizer", adamw_state(model, names, r, state)},
                     {"model_args", dict_of(args)},
                     {"iter_num", {state.steps}},
                     {"best_val_loss", {state.best_score.value_or(1e9)}},
                     {"config", std::move(its_config)},
                     {"mote", {std::move(own)}}}}};
}

std::string nanogpt_config_file(const FieldValues& args, const Recipe& r, const std::string& folder) {
  std::string text =
      "# nanoGPT goes on with this run by: python train.py FOLDER/config.py --max_iters=...\n"
      "# It needs torch 2. Where the folder is moved, out_dir and dataset change. --device=cuda takes a GPU.\n"
      "init_from = 'resume'\n"
      "device = 'cpu'\n"
      "dtype = 'float32'\n"
      "compile = False\n";
  text += "out_dir = " + quoted(folder) + "\ndataset = " + quoted(folder) + "\n";
  FieldValues all = args;
  for (const auto& word : in_its_words(r)) all.push_back(word);
  for (const auto& [name, value] : all) {
    const auto* const known = std::find_if(std::begin(its_settings), std::end(its_settings),
                                           [&, wanted = name](const Setting& s) { return s.name == wanted; });
    if (known == std::end(its_settings) || name == "vocab_size") continue;
    // A float is written with a point or an exponent. nanoGPT's command line only accepts values of the type that a
    // setting has in this file, and 1 would be an int.
    const bool fraction = std::find(std::begin(fractions), std::end(fractions), name) != std::end(fractions);
    std::string shown = value;
    if (value == "true" || value == "false") shown[0] = static_cast<char>(std::toupper(shown[0]));
    if (fraction && value.find_first_of(".e") == value.npos) shown += ".0";
    if (name == "eval_interval" && value == "0") shown = std::to_string(r.max_iters);  // nanoGPT divides by it
    text += name + " = " + shown + "\n";
  }
  return text;
}

std::string nanogpt_difference(const Recipe& r, Index steps) {
  if (r.schedule == ScheduleKind::linear || r.schedule == ScheduleKind::wsd) return "schedule " + text_of(r.schedule);
  const bool warming_up = r.schedule == ScheduleKind::constant && steps < r.warmup_iters;
  return warming_up ? "a warm-up before a constant learning rate" : "";
}

NanogptSettings nanogpt_settings(const TorchValue& checkpoint) {
  NanogptSettings s;
  const TorchValue* const own = detail::find(checkpoint, "mote");
  if (const TorchValue* const settings = own ? detail::find(*own, "settings") : nullptr) {
    s.all = field_values(*settings);
    s.own = true;
    return s;
  }

  FieldValues given = field_values(detail::at(checkpoint, "config"));
  for (const auto& arg : field_values(detail::at(checkpoint, "model_args"))) given.push_back(arg);
  const auto value = [&](const std::string& name) {
    const auto found = std::find_if(given.rbegin(), given.rend(), [&](const auto& g) { return g.first == name; });
    return found == given.rend() ? std::string() : found->second;
  };
  s.dataset = value("dataset");
  if (const std::string rows = value("vocab_size"); !rows.empty()) detail::read_field("vocab_size", rows, s.vocab_size);

  const bool decays = value("decay_lr") != "false";
  for (const auto& [name, text] : given) {
    const auto* const known = std::find_if(std::begin(its_settings), std::end(its_settings),
                                           [&, wanted = name](const Setting& of) { return of.name == wanted; });
    if (known == std::end(its_settings)) {
      s.unknown.push_back(name + " = " + text);
      continue;
    }
    std::string group = known->group;
    if (group == "schedule") group = decays ? "training" : "";
    if (!group.empty()) s.all.emplace_back(group + "." + name, text);
  }
  s.all.emplace_back("training.schedule", decays ? "cosine" : "constant");
  if (!decays) s.all.emplace_back("training.warmup_iters", "0");
  s.all.emplace_back("training.ema_decay", "0");

  Index warmup = 0, end = 0;
  if (const std::string text = value("warmup_iters"); !text.empty()) detail::read_field("warmup_iters", text, warmup);
  if (const std::string text = value("lr_decay_iters"); !text.empty()) detail::read_field("lr_decay_iters", text, end);
  check_in("torch", !decays || warmup <= end || end == 0, "warmup_iters ", warmup, " must be at most lr_decay_iters ",
           end, ": mote has no other schedule");
  return s;
}

RunState nanogpt_state(const TorchValue& checkpoint, Module& model, const NameTable& names, Optimizer& optimizer) {
  RunState state{.steps = detail::count_of(detail::at(checkpoint, "iter_num"), "iter_num")};
  check_options(checkpoint);
  load_state_dict(model, state_dict(detail::at(checkpoint, "model"), "model"), {.names = names});
  set_torch_optimizer_state(optimizer, detail::at(checkpoint, "optimizer"), names);
  state.optimizer = optimizer.state();
  state.optimizer.counts["steps"] = state.steps;
  optimizer.set_state(state.optimizer);
  if (const double best = detail::number_of(detail::at(checkpoint, "best_val_loss"), "best_val_loss"); best < 1e9)
    state.best_score = best;
  const TorchValue* const own = detail::find(checkpoint, "mote");
  if (!own) return state;
  if (const TorchValue* const random = detail::find(*own, "rng_state")) state.data = generator_state(*random);
  if (const TorchValue* const averages = detail::find(*own, "ema"))
    for (const StateEntry& e : state_dict(*averages, "ema")) state.averages.push_back({e.name, e.read()});
  if (const TorchValue* const updates = detail::find(*own, "ema_updates"))
    state.averaged = detail::count_of(*updates, "ema_updates");
  return state;
}

}  // namespace mote
