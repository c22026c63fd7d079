// Optimizer, the base of every optimizer: parameters in groups, a learning rate, the state of each parameter; and
// functions that put a module's parameters into groups.
#pragma once

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nn/module.h"

namespace mote {

/// Parameters that are updated with the same settings. Those without a name get their number among all as one.
struct ParameterGroup {
  std::vector<NamedParameter> parameters;
  std::optional<double> weight_decay = {};  ///< not given: the optimizer's
  double lr_scale = 1;                      ///< the group's learning rate is this times the optimizer's
};

/// What an optimizer takes: groups, or loose parameters, which are one group.
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

/// All parameters of a module in one group, in visit order; a tied one once.
std::vector<ParameterGroup> all_parameters(const Module& module, std::optional<Real> weight_decay = {});

/// Two groups, in visit order. Parameters of two or more axes (matrices, embeddings) decay with `weight_decay`. The
/// others (biases, gains) do not: they are few, and a gain of 0 would silence its layer. Source: nanoGPT's rule.
std::vector<ParameterGroup> decay_groups(const Module& module, Real weight_decay);

/// One line per group: "decayed (weight_decay 0.1): 10 tensors, 107,520 numbers".
std::string describe(const std::vector<ParameterGroup>& groups);

/// What a checkpoint keeps of an optimizer. The caller sets learning rate and options again.
struct OptimizerState {
  std::map<std::string, Index> counts;  ///< "steps", and "<parameter>.step": the updates of that parameter
  std::map<std::string, Array> arrays;  ///< "<parameter>.exp_avg" and the like, in the parameter's shape
};

/// Updates parameters by their gradients. It holds handles to the parameters' cells, so the module may be moved or
/// destroyed. A new optimizer derives from it and updates one parameter in update(); see sgd.h.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// One update of every parameter that is trainable and has a gradient; the others keep their values, state and step
  /// count, and do not decay. Returns how many parameters were updated. Gradients are kept: call zero_grad(). NaN in a
  /// gradient reaches its parameter, as in PyTorch; clip_grad_norm() reveals it before the step. After an error (no
  /// memory) all is as before the step.
  std::size_t step();
  /// Drops all gradients (PyTorch's set_to_none = true, its default since 2.0).
  void zero_grad() const {
    for (const Parameter& p : parameters_) p.zero_grad();
  }

  double learning_rate() const { return learning_rate_; }
  /// Errors: below 0, NaN or beyond the range of `real`, also once multiplied by a group's lr_scale.
  void set_learning_rate(Real lr);
  /// Calls of step() so far.
  Index steps() const { return steps_; }
  const std::vector<Parameter>& parameters() const& { return parameters_; }
  std::vector<Parameter> parameters() && { return parameters_; }
  /// Whether it updates the parameter whose leaf this is.
  bool updates(const Node& leaf) const;
  /// The groups as given, with each weight_decay filled in.
  const std::vector<ParameterGroup>& groups() const& { return groups_; }
  std::vector<ParameterGroup> groups() && { return groups_; }

  /// A copy of the state; cheap until the next step.
  OptimizerState state() const;
  /// Continues from `state`, as if its steps had been taken here. Errors: names that only one side has, shapes that
  /// differ, counts below 0; the message lists all of them, and nothing has changed.
  void set_state(const OptimizerState& state) { change_to(state)(); }
  /// The same in two steps: all that can fail, and then a change that cannot.
  std::function<void()> change_to(const OptimizerState& state);

 protected:
  /// The arrays kept for a parameter. Errors: an index beyond the names that the constructor gave.
  struct Arrays : std::vector<Array> {
    using std::vector<Array>::vector;
    Array& operator[](std::size_t i) {
      check_in("optimizer", i < size(), "update() uses slot.arrays[", i, "], and its constructor names ", size(),
               " arrays to keep per parameter");
      return std::vector<Array>::operator[](i);
    }
  };
  /// One parameter and its state: as many arrays as there are state names, undefined before the first update.
  struct Slot {
    std::string name;
    Parameter parameter;
    double weight_decay;
    double lr_scale;
    Index steps;  ///< updates so far; in update() including the current one
    Arrays arrays;
    std::size_t rule;  ///< the position of its Rule
  };
  /// Groups that are updated alike, and the names of the arrays that each of their parameters then has.
  struct Rule {
    std::vector<ParameterGroup> groups;
    std::vector<std::string> state_names;
  };

  /// `name` opens the errors; `weight_decay` is for groups without one of their own. Errors: no parameters, an
  /// undefined one, a cell or a name listed twice, settings below 0 or not finite.
  Optimizer(OpName name, std::vector<ParameterGroup> groups, Real lr, Real weight_decay,
            std::vector<std::string> state_names)
      : Optimizer(name, {{std::move(groups), std::move(state_names)}}, lr, weight_decay) {}
  /// The same for an optimizer that updates some parameters by another rule than the rest.
  Optimizer(OpName name, std::vector<Rule> rules, Real lr, Real weight_decay);
  /// Updates one parameter, which has a gradient. `lr` is its own: learning_rate() times lr_scale.
  virtual void update(Slot& slot, double lr) = 0;
  /// Allocates whatever update() will need, without a change that can be seen, and returns true: update() will not
  /// fail. False, the default: update() may fail, so step() holds on to the old arrays, and update() should not write
  /// to their elements, which would copy them. Parameters that were not prepared are updated first.
  virtual bool prepare(Slot&) { return false; }
  /// What most need: a value, a gradient and arrays, zeros at first, that update() can use in place.
  static void prepare_in_place(Slot& slot);
  /// Errors unless `value` is at least 0, finite, and no larger than `real` can hold.
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
/// Whether these are not the groups and options that an optimizer's constructor takes.
template <class P, class O, class Options>
concept NotGroups = !std::convertible_to<P, ParameterGroups> || !std::convertible_to<O, Options>;
}  // namespace detail

}  // namespace mote
