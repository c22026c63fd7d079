// What all optimizers share: groups and their checks, the loop over parameters, the state.
#include "train/optimizer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "engine/autograd/op.h"
#include "engine/base/number_text.h"
#include "engine/io/text/table.h"

namespace mote {
namespace {

/// Reads entries of an OptimizerState and collects its problems.
class StateReader {
 public:
  explicit StateReader(const OptimizerState& state) : state_(state) {}

  Index count(const std::string& name) {
    asked_.insert(name);
    const auto found = state_.counts.find(name);
    if (found == state_.counts.end())
      problems_.insert("count '" + name + "' is missing");
    else if (found->second < 0)
      problems_.insert("count '" + name + "' must be at least 0");
    else
      return found->second;
    return 0;
  }
  /// Undefined for a parameter without a step: it has no state yet.
  Array array(const std::string& name, const Shape& shape, bool stepped) {
    asked_.insert(name);
    const auto found = state_.arrays.find(name);
    const bool given = found != state_.arrays.end() && found->second.defined();
    if (given && !stepped) problems_.insert("array '" + name + "' is given, but its parameter has had no step");
    if (!given && stepped) problems_.insert("array '" + name + "' is missing");
    if (!given) return Array();
    if (found->second.shape() != shape)
      problems_.insert("array '" + name + "' has shape " + text_of(found->second.shape()) + ", its parameter " +
                       text_of(shape));
    return found->second;
  }
  /// All problems, unknown names included, as one sentence; "" if there are none.
  std::string problems() {
    for (const auto& entry : state_.counts) expect("count", entry.first);
    for (const auto& entry : state_.arrays) expect("array", entry.first);
    std::string text;
    for (const std::string& problem : problems_) text += (text.empty() ? "" : "; ") + problem;
    return text;
  }

 private:
  void expect(const std::string& kind, const std::string& name) {
    if (!asked_.contains(name)) problems_.insert(kind + " '" + name + "' is not of this optimizer");
  }
  const OptimizerState& state_;
  std::set<std::string> problems_, asked_;
};

}  // namespace

std::vector<ParameterGroup> all_parameters(const Module& module, std::optional<double> weight_decay) {
  return {{named_parameters(module), weight_decay}};
}

std::vector<ParameterGroup> decay_groups(const Module& module, double weight_decay) {
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

Optimizer::Optimizer(OpName name, std::vector<Rule> rules, double lr, double weight_decay)
    : name_(name), learning_rate_(lr) {
  check_setting("weight_decay", weight_decay);
  for (Rule& rule : rules) {
    state_names_.push_back(std::move(rule.state_names));
    for (ParameterGroup& group : rule.groups) add_group(std::move(group), weight_decay, state_names_.size() - 1);
  }
  set_learning_rate(lr);
  check_in(name_, !slots_.empty(), "there are no parameters to optimize");
  std::map<std::string, int> names;  // the state is kept by name
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
  check_in(name_, value <= static_cast<double>(std::numeric_limits<real>::max()), what, " ", value,
           " is beyond the range of the type of the weights");
}

void Optimizer::add_group(ParameterGroup group, double weight_decay, std::size_t rule) {
  if (!group.weight_decay) group.weight_decay = weight_decay;
  check_setting("weight_decay of a group", *group.weight_decay);
  check_setting("lr_scale of a group", group.lr_scale);
  for (const NamedParameter& p : group.parameters) {
    check_in(name_, p.parameter.defined(), "parameter '", p.name, "' is not defined");
    slots_.push_back(
        {p.name, p.parameter, *group.weight_decay, group.lr_scale, 0, Arrays(state_names_[rule].size()), rule});
    parameters_.push_back(p.parameter);
  }
  groups_.push_back(std::move(group));
}

bool Optimizer::has_step(const Slot& slot) { return slot.parameter.trainable() && slot.parameter.grad().defined(); }

void Optimizer::prepare_parameter(const Slot& slot) {
  slot.parameter.mutate();
  if (!slot.parameter.grad().is_contiguous()) slot.parameter.set_grad(slot.parameter.grad().contiguous());
}

kernels::ScaledGrad Optimizer::gradient(const Slot& slot) const {
  if (grad_scale_ == 1) return {slot.parameter.grad().data(), nullptr, 1};
  real* const g = slot.parameter.mutate_grad();
  return {g, g, grad_scale_};
}

std::size_t Optimizer::step(real grad_scale) {
  const Op op(name_);  // records nothing; observers see how long it takes
  struct Before {
    Slot *slot, kept;
    Array value, grad;
  };
  std::vector<Before> before;  // of the updates that may fail: what they have to be undone with
  grad_scale_ = grad_scale;
  begin();
  for (Slot& slot : slots_) {
    if (!has_step(slot)) continue;
    if (grad_scale != 1) slot.parameter.mutate_grad();
    if (!prepare(slot)) before.push_back({&slot, slot, slot.parameter.value(), slot.parameter.grad()});
  }
  std::size_t updated = 0;
  const auto update_one = [&](Slot& slot) {
    if (grad_scale != 1 && !scales_gradients()) {
      real* const g = slot.parameter.mutate_grad();
      kernels::table().mul(g, 1, &grad_scale, 0, g, slot.parameter.numel());
    }
    ++slot.steps;
    update(slot, learning_rate_ * slot.lr_scale);
    ++updated;
  };
  try {
    for (const Before& b : before) update_one(*b.slot);  // first: the others are never undone
  } catch (...) {
    for (Before& b : before) {
      b.slot->parameter.set(std::move(b.value));
      b.slot->parameter.set_grad(std::move(b.grad));
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
  finish();
  ++steps_;
  return updated;
}

void Optimizer::set_learning_rate(double lr) {
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
      if (slot.steps > 0 && slot.arrays[i].defined())
        state.arrays[slot.name + "." + state_names_[slot.rule][i]] = slot.arrays[i];
  }
  return state;
}

std::function<void()> Optimizer::change_to(const OptimizerState& state) {
  StateReader read(state);
  const Index steps = read.count("steps");
  std::vector<Slot> slots = slots_;
  for (Slot& slot : slots) {
    slot.steps = read.count(slot.name + ".step");
    for (std::size_t i = 0; i < slot.arrays.size(); ++i)
      slot.arrays[i] = read.array(slot.name + "." + state_names_[slot.rule][i], slot.parameter.shape(), slot.steps > 0);
  }
  const std::string problems = read.problems();
  check_in(name_, problems.empty(), "this state does not fit: ", problems);
  return [this, slots = std::move(slots), steps]() mutable {
    slots_.swap(slots);
    steps_ = steps;
  };
}

}  // namespace mote
