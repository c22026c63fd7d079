// The common part of all optimizers: groups and their checks, the loop over parameters, the state.
#include "train/optim/optimizer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "engine/autograd/op.h"
#include "engine/base/number_text.h"
#include "engine/base/storage.h"
#include "engine/base/table.h"

namespace mote {

std::vector<ParameterGroup> all_parameters(const Module& module, std::optional<Real> weight_decay) {
  return {{named_parameters(module), weight_decay}};
}

std::vector<ParameterGroup> decay_groups(const Module& module, Real weight_decay) {
  std::vector<ParameterGroup> groups{{{}, weight_decay}, {{}, 0.0}};
  for (NamedParameter& p : named_parameters(module))
    groups[p.parameter.shape().rank() >= 2 ? 0 : 1].parameters.push_back(std::move(p));
  return groups;
}

std::string describe(const std::vector<ParameterGroup>& groups) {
  std::string text;
  for (const ParameterGroup& group : groups) {
    const std::optional<double>& decay = group.weight_decay;
    if (!decay)
      text += "decayed as the optimizer says";
    else if (*decay == 0)
      text += "not decayed";
    else
      text += "decayed (weight_decay " + exact_text(*decay) + ")";
    if (group.lr_scale != 1) text += ", learning rate times " + exact_text(group.lr_scale);
    Index numbers = 0;
    for (const NamedParameter& p : group.parameters) numbers += p.parameter.numel();
    const std::size_t tensors = group.parameters.size();
    text += ": " + grouped(static_cast<Index>(tensors)) + (tensors == 1 ? " tensor, " : " tensors, ") +
            grouped(numbers) + (numbers == 1 ? " number\n" : " numbers\n");
  }
  return text;
}

Optimizer::Optimizer(OpName op, std::vector<Rule> rules, Real lr, Real weight_decay) : name_(op), learning_rate_(lr) {
  check_setting("weight_decay", weight_decay);
  for (Rule& rule : rules) {
    for (ParameterGroup& group : rule.groups) {
      if (!group.weight_decay) group.weight_decay = weight_decay;
      check_setting("weight_decay of a group", *group.weight_decay);
      check_setting("lr_scale of a group", group.lr_scale);
      for (auto& [name, parameter] : group.parameters) {
        if (name.empty()) name = std::to_string(slots_.size());
        check_in(name_, parameter.defined(), "parameter '", name, "' is an empty Parameter()");
        slots_.push_back({name, parameter, *group.weight_decay, group.lr_scale, 0, Arrays(rule.state_names.size()),
                          state_names_.size()});
        parameters_.push_back(parameter);
      }
      groups_.push_back(std::move(group));
    }
    state_names_.push_back(std::move(rule.state_names));
  }
  set_learning_rate(lr);
  check_in(name_, !slots_.empty(), "there are no parameters to optimize");
  std::map<std::string, int> names;  // must be unique, because the state is kept by name
  std::map<const Parameter::Cell*, const std::string*> cells;
  for (const Slot& s : slots_) {
    const auto [first, is_new] = cells.emplace(s.parameter.id(), &s.name);
    check_in(name_, is_new, "'", *first->second, "' and '", s.name,
             "' are the same parameter, which would be updated twice; list it once");
    check_in(name_, ++names[s.name] == 1, "two parameters are named '", s.name, "'; give one of them a prefix");
  }
}

bool Optimizer::updates(const Node& leaf) const {
  return std::any_of(parameters_.begin(), parameters_.end(),
                     [&](const Parameter& p) { return p.node().get() == &leaf; });
}

void Optimizer::check_setting(const char* what, double value) const {
  check_in(name_, std::isfinite(value) && value >= 0, what, " ", value, " must be at least 0 and finite");
  constexpr auto most = static_cast<double>(std::numeric_limits<real>::max());
  check_in(name_, value <= most, what, " ", value, " must be at most ", most,
           ", the largest number of the weights' type");
}

void Optimizer::prepare_in_place(Slot& slot) {
  slot.parameter.mutate();
  if (!slot.parameter.grad().is_contiguous()) slot.parameter.set_grad(slot.parameter.grad().contiguous());
  for (Array& array : slot.arrays) {
    if (!array.defined()) array = Array::zeros(slot.parameter.shape());
    array.mutate();
  }
}

std::size_t Optimizer::step() {
  const Op op(name_);  // records nothing for backward; observers can time the step
  struct Before {
    Slot *slot, kept;
    Array value;
  };
  // The old values and states, to undo the updates that may fail.
  std::vector<Before, CachedAllocator<Before>> before;
  const auto has_step = [](const Slot& s) { return s.parameter.trainable() && s.parameter.grad().defined(); };
  for (Slot& slot : slots_)
    if (has_step(slot) && !prepare(slot)) before.push_back({&slot, slot, slot.parameter.value()});
  std::size_t updated = 0;
  const auto update_one = [&](Slot& slot) {
    ++slot.steps;
    update(slot, learning_rate_ * slot.lr_scale);
    ++updated;
  };
  try {
    for (const Before& b : before) update_one(*b.slot);  // updates that may fail come first, as others cannot be undone
  } catch (...) {
    for (Before& b : before) {
      b.slot->parameter.set(std::move(b.value));
      *b.slot = std::move(b.kept);
    }
    throw;
  }
  auto done = before.begin();
  for (Slot& slot : slots_)
    if (done != before.end() && done->slot == &slot)
      ++done;
    else if (has_step(slot))
      update_one(slot);
  ++steps_;
  return updated;
}

void Optimizer::set_learning_rate(Real lr) {
  check_setting("learning rate", lr);
  for (const ParameterGroup& group : groups_) check_setting("learning rate of a group", lr * group.lr_scale);
  learning_rate_ = lr;
}

OptimizerState Optimizer::state() const {
  OptimizerState state;
  state.counts["steps"] = steps_;
  for (const Slot& slot : slots_) {
    state.counts[slot.name + ".step"] = slot.steps;
    for (std::size_t i = 0; i < slot.arrays.size(); ++i)
      if (const Array& array = slot.arrays.at(i); slot.steps > 0 && array.defined())
        state.arrays[slot.name + "." + state_names_[slot.rule][i]] = array;
  }
  return state;
}

std::function<void()> Optimizer::change_to(const OptimizerState& state) {
  OptimizerState rest = state;  // entries that are left at the end do not belong to this optimizer
  std::set<std::string> problems;
  const auto count = [&](const std::string& name) -> Index {
    const auto entry = rest.counts.extract(name);
    if (!entry || entry.mapped() < 0)
      problems.insert("count '" + name + (entry ? "' must be at least 0" : "' is missing"));
    return entry ? entry.mapped() : 0;
  };
  const auto array = [&](const std::string& name, const Slot& slot) {
    const auto entry = rest.arrays.extract(name);
    const Array found = entry ? entry.mapped() : Array();
    if (found.defined() != (slot.steps > 0))
      problems.insert("array '" + name +
                      (slot.steps > 0 ? "' is missing" : "' is given, but its parameter has had no step"));
    if (found.defined() && found.shape() != slot.parameter.shape())
      problems.insert("array '" + name + "' has shape " + text_of(found.shape()) + ", its parameter " +
                      text_of(slot.parameter.shape()));
    return found;
  };
  const Index steps = count("steps");
  std::vector<Slot> slots = slots_;
  for (Slot& slot : slots) {
    slot.steps = count(slot.name + ".step");
    for (std::size_t i = 0; i < slot.arrays.size(); ++i)
      slot.arrays[i] = array(slot.name + "." + state_names_[slot.rule][i], slot);
  }
  for (const auto& [name, left] : rest.counts) problems.insert("count '" + name + "' is not of this optimizer");
  for (const auto& [name, left] : rest.arrays) problems.insert("array '" + name + "' is not of this optimizer");
  std::string text;
  for (const std::string& problem : problems) text += (text.empty() ? "" : "; ") + problem;
  check_in(name_, problems.empty(), "this state does not fit: ", text);
  return [this, slots = std::move(slots), steps]() mutable {
    slots_.swap(slots);
    steps_ = steps;
  };
}

}  // namespace mote
