// Optimizer, the base class of every optimizer. It has groups of parameters, a learning rate, and the state of each
// parameter. This header also has functions that put a module's parameters into groups.
#pragma once

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nn/module.h"

namespace mote {

/// Parameters that are updated with the same settings. The name of a parameter without a name is its number among all
/// parameters, counted from 0.
struct ParameterGroup {
  std::vector<NamedParameter> parameters;
  std::optional<double> weight_decay = {};  ///< default: the optimizer's weight_decay
  double lr_scale = 1;                      ///< the group's learning rate is this times the optimizer's
};

/// The parameters of an optimizer, given as groups or as a plain list. A plain list forms one group.
///
///     SGD(all_parameters(model), {.lr = 0.1});
///     SGD({w, b}, {.lr = 0.1});
///     SGD({{.parameters = {w}}, {.parameters = {b}, .lr_scale = 2}}, {.lr = 0.1});
class ParameterGroups : public std::vector<ParameterGroup> {
 public:
  ParameterGroups(std::vector<ParameterGroup> groups) : vector(std::move(groups)) {}
  ParameterGroups(std::initializer_list<ParameterGroup> groups) : vector(groups) {}
  ParameterGroups(std::initializer_list<Parameter> loose) : ParameterGroups(std::vector<Parameter>(loose)) {}
  ParameterGroups(const std::vector<Parameter>& loose) : vector(1) {
    front().parameters.assign(loose.begin(), loose.end());
  }
};

/// All parameters of a module in one group, in visit order. A tied parameter is listed once.
std::vector<ParameterGroup> all_parameters(const Module& module, std::optional<Real> weight_decay = {});

/// Splits a module's parameters into two groups, in visit order: with and without weight decay. Parameters of two or
/// more axes (matrices, embeddings) decay with `weight_decay`. The others (biases, gains) do not, because they are few
/// and a gain of 0 would silence its layer. Source: nanoGPT's rule.
std::vector<ParameterGroup> decay_groups(const Module& module, Real weight_decay);

/// Returns one line per group, such as "decayed (weight_decay 0.1): 10 tensors, 107,520 numbers".
std::string describe(const std::vector<ParameterGroup>& groups);

/// The state of an optimizer, for checkpoints. It contains neither the learning rate nor the options.
struct OptimizerState {
  std::map<std::string, Index> counts;  ///< "steps", calls of step(); "<parameter>.step", updates of the parameter
  std::map<std::string, Array> arrays;  ///< "<parameter>.exp_avg" and the like, in the parameter's shape
};

/// The base class of optimizers, which update parameters by their gradients. It holds Parameters, which share their
/// values with those of the module, so the module may be moved or destroyed. A new optimizer derives from this class
/// and updates one parameter in update(); see sgd.h.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Updates every parameter that is trainable and has a gradient. The other parameters keep their values, state and
  /// step count, and do not decay. Returns how many parameters were updated. Gradients are kept until zero_grad() is
  /// called. A NaN in a gradient reaches its parameter, as in PyTorch; clip_grad_norm() before the step returns NaN in
  /// this case. After an error (no memory) everything is as before the step.
  std::size_t step();
  /// Drops all gradients (PyTorch's set_to_none = true, its default since 2.0).
  void zero_grad() const {
    for (const Parameter& p : parameters_) p.zero_grad();
  }

  double learning_rate() const { return learning_rate_; }
  /// Sets the learning rate of the next steps. Errors: a rate, or a rate times a group's lr_scale, that is below 0, not
  /// finite or beyond the range of `real`.
  void set_learning_rate(Real lr);
  /// The number of calls of step() so far.
  Index steps() const { return steps_; }
  const std::vector<Parameter>& parameters() const& { return parameters_; }
  std::vector<Parameter> parameters() && { return parameters_; }
  /// Whether `leaf` is the node of a parameter that the optimizer updates.
  bool updates(const Node& leaf) const;
  /// The groups as given, with each weight_decay filled in.
  const std::vector<ParameterGroup>& groups() const& { return groups_; }
  std::vector<ParameterGroup> groups() && { return groups_; }

  /// A copy of the state. It is cheap, because it shares the arrays until the next step.
  OptimizerState state() const;
  /// Replaces the optimizer's state by `state`, such as that of a checkpoint. Errors: a name that is only in `state` or
  /// only in this optimizer, shapes that differ, counts below 0. The message lists all of them. After an error nothing
  /// has changed.
  void set_state(const OptimizerState& state) { change_to(state)(); }
  /// Makes the checks of set_state(), and returns a function that makes its change. The returned function cannot fail.
  std::function<void()> change_to(const OptimizerState& state);

 protected:
  /// The arrays of a parameter's state. Errors: an index that is not below the number of state names.
  struct Arrays : std::vector<Array> {
    using std::vector<Array>::vector;
    Array& operator[](std::size_t i) {
      check_in("optimizer", i < size(), "update() uses slot.arrays[", i,
               "], but the optimizer's constructor names only ", size(), " per parameter");
      return std::vector<Array>::operator[](i);
    }
  };
  /// One parameter and its state. The state has one array for each state name, undefined before the first update.
  struct Slot {
    std::string name;
    Parameter parameter;
    double weight_decay;
    double lr_scale;
    Index steps;  ///< updates so far; in update() including the current one
    Arrays arrays;
    std::size_t rule;  ///< the index of its Rule
  };
  /// Groups that are updated in the same way, and the names of the state arrays of each of their parameters.
  struct Rule {
    std::vector<ParameterGroup> groups;
    std::vector<std::string> state_names;
  };

  /// `name` is the beginning of error messages. `weight_decay` is for groups that do not set their own. Errors: no
  /// parameters, an undefined parameter, a parameter or a name listed twice, settings below 0 or not finite.
  Optimizer(OpName name, std::vector<ParameterGroup> groups, Real lr, Real weight_decay,
            std::vector<std::string> state_names)
      : Optimizer(name, {{std::move(groups), std::move(state_names)}}, lr, weight_decay) {}
  /// A constructor for optimizers that update some parameters by another rule than the rest.
  Optimizer(OpName name, std::vector<Rule> rules, Real lr, Real weight_decay);
  /// Updates one parameter, which has a gradient. `lr` is learning_rate() times the lr_scale of its group.
  virtual void update(Slot& slot, double lr) = 0;
  /// Allocates all that update() will need, without a visible change. Returns true if update() then cannot fail. The
  /// default returns false. If it returns false, step() keeps the old arrays, to restore them if an update fails.
  /// update() should then replace arrays instead of writing to their elements, because a write would copy a shared
  /// array. step() first updates the parameters for which prepare() returned false, because the other updates cannot be
  /// undone.
  virtual bool prepare(Slot&) { return false; }
  /// prepare() for most optimizers: makes the value, the gradient and the state arrays ready for an update in place.
  /// New state arrays are zeros.
  static void prepare_in_place(Slot& slot);
  /// Checks the setting named `what`. Errors: `value` is below 0, not finite, or larger than the largest `real`.
  void check_setting(const char* what, double value) const;

 private:
  OpName name_;
  std::vector<std::vector<std::string>> state_names_;  // of each rule
  std::vector<ParameterGroup> groups_;
  std::vector<Parameter> parameters_;
  std::vector<Slot> slots_;
  double learning_rate_;
  Index steps_ = 0;
};

namespace detail {
/// Whether P does not convert to ParameterGroups, or O does not convert to the optimizer's Options.
template <class P, class O, class Options>
concept NotGroups = !std::convertible_to<P, ParameterGroups> || !std::convertible_to<O, Options>;
}  // namespace detail

}  // namespace mote
