// The list of toy tasks. A new task needs its header and a line here.
#include "train/tasks/list.h"

#include <functional>

#include "train/tasks/adder10.h"
#include "train/tasks/addition.h"
#include "train/tasks/associative_recall.h"
#include "train/tasks/copy.h"
#include "train/tasks/dyck.h"
#include "train/tasks/induction.h"
#include "train/tasks/modular_addition.h"
#include "train/tasks/parity.h"
#include "train/tasks/repeat.h"
#include "train/tasks/reverse.h"
#include "train/tasks/selective_copy.h"
#include "train/tasks/sort.h"
#include "train/text/text_task.h"

namespace mote {
namespace {

struct Entry {
  const char* name;
  FieldValues preset;  // options that differ from the defaults of the class
  std::vector<Field> (*options)(const char* name, const FieldValues&);
  std::function<Recipe(const char* name, const FieldValues&)> recipe;
  std::function<std::unique_ptr<Task>(const char* name, const FieldValues&, const std::string& state)> make;
};

template <class T>
typename T::Options options_of(const char* task, const FieldValues& values) {
  typename T::Options options;
  for (const auto& [name, text] : values)
    check(set_field(options, name, text), "task '", task, "' has no option '", name, "': its options are ",
          all_names(fields(options)));
  return options;
}

/// The entry of a task of class T. If T's constructor also takes a state, it gets the state that a checkpoint kept.
template <class T>
Entry entry(const char* name, FieldValues preset = {}) {
  return {name, std::move(preset),
          [](const char* task, const FieldValues& values) { return fields(options_of<T>(task, values)); },
          [](const char* task, const FieldValues& values) {
            const typename T::Options options = options_of<T>(task, values);
            if constexpr (requires { T::recipe_of(options); })
              return T::recipe_of(options);
            else
              return T(options).recipe();
          },
          [](const char* task, const FieldValues& values, const std::string& state) -> std::unique_ptr<Task> {
            const typename T::Options options = options_of<T>(task, values);
            if constexpr (std::is_constructible_v<T, const typename T::Options&, const std::string&>) {
              return std::make_unique<T>(options, state);
            } else {
              check(state.empty(), "task '", task, "' keeps no state, but a state is given");
              return std::make_unique<T>(options);
            }
          }};
}

/// A recipe with changed fields. A name that is no field of the recipe is a field of the model's config.
Recipe changed(Recipe r, const FieldValues& changes) {
  for (const auto& [name, text] : changes)
    if (!set_field(r, name, text)) r.config.emplace_back(name, text);
  return r;
}

/// A task with other values of some fields of its recipe or of its model's config, and with the outcome of this recipe.
template <class T>
class Variant final : public T {
 public:
  using T::T;
  FieldValues changes;
  Outcome differs;
  Recipe recipe() const override { return changed(T::recipe(), changes); }
  Outcome outcome() const override {
    Outcome o = T::outcome();
    o.least = differs.least;
    o.most = differs.most;
    o.seconds = differs.seconds;
    if (o.loss > 0 && o.loss < HUGE_VAL) o.loss = differs.loss;
    return o;
  }
};

template <class T>
Entry variant(const char* name, const FieldValues& changes, const Outcome& outcome, FieldValues preset = {}) {
  Entry e = entry<Variant<T>>(name, std::move(preset));
  e.recipe = [=, same = e.recipe](const char* task, const FieldValues& values) {
    return changed(same(task, values), changes);
  };
  e.make = [=, same = e.make](const char* task, const FieldValues& values, const std::string& state) {
    std::unique_ptr<Task> made = same(task, values, state);
    auto& one = static_cast<Variant<T>&>(*made);
    one.changes = changes;
    one.differs = outcome;
    return made;
  };
  return e;
}

const Entry entries[] = {
    entry<Adder10Task>("adder10"),
    entry<AdditionTask>("addition"),
    entry<AdditionTask>("addition_3_digits", {{"digits", "3"}}),
    entry<AdditionTask>("addition_plain", {{"plain", "true"}}),
    entry<AssociativeRecallTask>("associative_recall"),
    entry<CopyTask>("copy"),
    entry<DyckTask>("dyck"),
    entry<InductionTask>("induction"),
    variant<InductionTask>("induction_one_layer", {{"n_layer", "1"}}, {.least = 0, .most = 0.4, .seconds = 3}),
    entry<ModularAdditionTask>("modular_addition"),
    variant<ModularAdditionTask>("modular_addition_no_decay", {{"max_iters", "8000"}, {"weight_decay", "0"}},
                                 {.least = 0, .most = 0.5, .seconds = 39}),
    entry<ParityTask>("parity"),
    entry<ParityTask>("parity_longer", {{"test_length", "32"}}),
    entry<RepeatTask>("repeat"),
    entry<ReverseTask>("reverse"),
    entry<SelectiveCopyTask>("selective_copy"),
    entry<SortTask>("sort"),
    entry<TextTask>("text"),
    variant<TextTask>("text_llama",
                      {{"preset", "llama"},
                       {"n_layer", "3"},
                       {"n_head", "3"},
                       {"n_embd", "96"},
                       {"batch_size", "16"},
                       {"max_iters", "2600"},
                       {"warmup_iters", "50"},
                       {"optimizer", "muon"},
                       {"learning_rate", "0.01"},
                       {"schedule", "linear"},
                       {"min_lr", "0"},
                       {"beta2", "0.95"},
                       {"ema_decay", "0"}},
                      {.loss = 0.29, .seconds = 60}, {{"block_size", "96"}}),
};

FieldValues with_preset(const Entry& e, const FieldValues& values) {
  FieldValues all = e.preset;
  all.insert(all.end(), values.begin(), values.end());
  return all;
}

}  // namespace

std::vector<std::string> task_names() {
  std::vector<std::string> names;
  for (const Entry& e : entries) names.emplace_back(e.name);
  return names;
}

std::vector<Field> task_options(const std::string& name, const FieldValues& values) {
  const Entry& e = by_name("task", entries, name);
  return e.options(e.name, with_preset(e, values));
}

Recipe task_recipe(const std::string& name, const FieldValues& values) {
  const Entry& e = by_name("task", entries, name);
  return e.recipe(e.name, with_preset(e, values));
}

OwnedTask make_task(const std::string& name, const FieldValues& values, const std::string& state) {
  const Entry& e = by_name("task", entries, name);
  OwnedTask task = e.make(e.name, with_preset(e, values), state);
  task->set_name(name, task_options(name, values));
  return task;
}

}  // namespace mote
