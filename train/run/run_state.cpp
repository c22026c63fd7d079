// Which parts of a checkpoint are whose, and the entries of nanoGPT's dict.
#include "train/run/run_state.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "engine/base/number_text.h"
#include "train/keep/checkpoint.h"

namespace mote {
namespace {

/// The value that a setting's text stands for.
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

/// torch.optim.AdamW's state.
TorchValue adamw_state(const Module& model, const NameTable& names, const Recipe& r, const RunState& state) {
  check_in("export", r.optimizer == OptimizerKind::adamw, "there the optimizer is AdamW, not ", r.optimizer);
  const double last = fit_options(r).schedule(std::max<Index>(state.steps - 1, 0));
  const AdamWOptions how{.lr = last, .betas = {r.beta1, r.beta2}};
  return torch_optimizer_state(state.optimizer, decay_groups(model, r.weight_decay), how, names);
}

/// Errors: options of its optimizer that its config contradicts, or that mote's AdamW does not have.
void check_options(const TorchValue& checkpoint) {
  const TorchValue& config = detail::at(checkpoint, "config");
  const TorchValue* const groups = detail::find(detail::at(checkpoint, "optimizer"), "param_groups");
  if (!groups || !std::holds_alternative<TorchList>(groups->value)) return;  // what it is will be told
  const auto same = [&](const char* option, double value) {
    const TorchValue* const wanted = detail::find(config, option);
    if (!wanted) return;
    const double stated = detail::number_of(*wanted, option);
    check_in("torch", value == stated, "the optimizer has ", option, " ", value, ", and the config ", stated);
  };
  for (const TorchValue& group : std::get<TorchList>(groups->value).items) {
    if (const TorchValue* const eps = detail::find(group, "eps")) {
      const double value = detail::number_of(*eps, "eps"), here = AdamWOptions().eps;
      check_in("torch", value == here, "the optimizer has eps ", value, ", and mote's has ", here);
    }
    if (const TorchValue* const betas = detail::find(group, "betas"))
      if (const auto* const two = std::get_if<TorchList>(&betas->value); two && two->items.size() == 2) {
        same("beta1", detail::number_of(two->items[0], "betas"));
        same("beta2", detail::number_of(two->items[1], "betas"));
      }
    if (const TorchValue* const decay = detail::find(group, "weight_decay"))
      if (const double value = detail::number_of(*decay, "weight_decay"); value != 0)  // vectors do not decay
        same("weight_decay", value);
  }
}

}  // namespace

RunState read_run_state(const std::string& path, Module& model, Optimizer& optimizer) {
  RunState state;
  const Generator data(0);
  const SafetensorsFile file(path);
  std::set<std::string> others;
  for (const TensorEntry& e : file.tensors()) {
    others.insert(e.name.substr(0, e.name.find('.')));
    if (e.name.starts_with("ema.")) state.averages.push_back({e.name.substr(4), file.array(e)});
  }
  for (const auto& [name, text] : file.metadata()) others.insert(name.substr(0, name.find('.')));
  if (const std::string* const updates = file.find_metadata("ema.updates"))
    detail::read_field("ema.updates", *updates, state.averaged);
  Checkpoint checkpoint;
  checkpoint.add("model", model);
  checkpoint.add("optimizer", optimizer);
  checkpoint.add("data", data);
  checkpoint.add("steps", state.steps);
  checkpoint.add("best_score", state.best_score);
  for (const char* const own : {"model", "optimizer", "data", "steps", "best_score", "mote", "format"})
    others.erase(own);
  for (const std::string& other : others) checkpoint.note(other, {});
  checkpoint.load(path);
  state.data = data.get_state(), state.optimizer = optimizer.state();
  return state;
}

TorchValue nanogpt_checkpoint(const Module& model, const NameTable& names, const FieldValues& args, const Recipe& r,
                              const RunState& state, const FieldValues& settings) {
  Recipe full = r;  // what is not given there, or called otherwise
  full.min_lr = r.min_lr.value_or(r.learning_rate / 10);
  full.lr_decay_iters = r.lr_decay_iters.value_or(r.max_iters);
  FieldValues config = args;
  config.emplace_back("decay_lr", detail::field_text(r.schedule != ScheduleKind::constant));
  for (const Field& f : fields(full)) config.emplace_back(f.name, f.value);
  TorchDict averages, texts;
  for (const NamedArray& a : state.averages) averages.items.push_back({a.name, {TorchTensor{a.value}}});
  for (const auto& [name, text] : settings) texts.items.push_back({name, {text}});
  return {TorchDict{{{"model", torch_state_dict(model, names)},
                     {"optimizer", adamw_state(model, names, r, state)},
                     {"model_args", dict_of(args)},
                     {"iter_num", {state.steps}},
                     {"best_val_loss", {state.best_score.value_or(1e9)}},
                     {"config", dict_of(config)},
                     {"mote",
                      {TorchDict{{{"rng_state", {torch_rng_state(state.data)}},
                                  {"ema", {std::move(averages)}},
                                  {"ema_updates", {state.averaged}},
                                  {"settings", {std::move(texts)}}}}}}}}};
}

FieldValues nanogpt_settings(const TorchValue& checkpoint) {
  FieldValues all;
  const auto add = [&](const TorchValue& dict, const auto& name_here) {
    if (!std::holds_alternative<TorchDict>(dict.value)) return;
    for (const TorchItem& item : std::get<TorchDict>(dict.value).items) {
      const auto* const name = std::get_if<std::string>(&item.key);
      if (!name) continue;
      const auto add_text = [&](const auto& x) {
        if constexpr (requires { detail::field_text(x); }) all.emplace_back(name_here(*name), detail::field_text(x));
      };
      std::visit(add_text, item.value.value);
    }
  };
  const TorchValue* const own = detail::find(checkpoint, "mote");
  if (const TorchValue* const settings = own ? detail::find(*own, "settings") : nullptr) {
    add(*settings, [](const std::string& name) { return name; });
    return all;
  }

  const std::vector<Field> recipe = fields(Recipe());
  const auto grouped = [&](const std::string& name) {
    const bool trains = std::any_of(recipe.begin(), recipe.end(), [&](const Field& f) { return f.name == name; });
    return (name == "block_size" ? "task." : trains ? "training." : "model.") + name;
  };
  add(detail::at(checkpoint, "config"), grouped);
  add(detail::at(checkpoint, "model_args"), grouped);
  std::erase_if(all, [](const auto& setting) { return setting.first == "model.vocab_size"; });  // the text's
  return all;
}

RunState nanogpt_state(const TorchValue& checkpoint, Module& model, const NameTable& names, Optimizer& optimizer,
                       Index seed) {
  RunState state{.steps = detail::count_of(detail::at(checkpoint, "iter_num"), "iter_num"),
                 .data = Generator(seed).get_state()};
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
