// Checks 28: AdamW.

// hint: Write the formula line by line with Arrays. g is slot.parameter.grad(), beta1^t is std::pow(beta1, slot.steps).
// hint: m = mean / (1 - beta1^t) and n = square / (1 - beta2^t): w = w - lr * m / (sqrt(Tensor(n)).array() + eps).
// why: If all gradients are a thousand times as large, mean / sqrt(square) is the same, and so are the steps.
// why: After t equal gradients, mean and square are only 1 - beta^t times the true means. The division corrects this.
// why: Decay that is added to g would be divided by sqrt(square). So weights with large gradients would hardly shrink.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Groups = std::vector<ParameterGroup>;

/// Takes five steps with two parameters, a and b, and a falling learning rate. Returns the weights of a and b after
/// each step, [5, 5]. The three weights of a have weight decay. One of their gradients is always 0, and one is as
/// small as eps. The two weights of b have no weight decay, half the learning rate, and no gradient in the first step.
/// If `other_fields`, beta1, beta2 and eps differ from their defaults.
template <class Method>
Tensor walk(bool other_fields) {
  const Generator random(7);
  const Parameter a(randn({3}, random).array()), b(randn({2}, random).array());
  Method method(Groups{{{{"a", a}}, 0.3}, {{{"b", b}}, 0.0, 0.5}});
  if constexpr (requires { method.eps; })
    if (other_fields) {
      method.beta1 = 0.8;
      method.beta2 = 0.95;
      method.eps = 1e-3;
    }
  std::vector<Tensor> all;
  for (int step = 0; step < 5; ++step) {
    method.set_learning_rate(0.5 / (1 + step));
    a.set_grad((randn({3}, random) * tensor({1, 0, 1e-8})).array());
    if (step > 0) b.set_grad(randn({2}, random).array());
    method.step();
    all.push_back(concat({a, b}));
  }
  return stack(all);
}

enum Kind { none, raw, in_gradient, eps_in_root, no_eps, t_of_all, t_from_0, no_decay, no_lr, last, unset, whole_rate };
/// The formula of the exercise, with the mistake `kind`.
template <Kind kind>
struct ByFormula : Optimizer {
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  explicit ByFormula(Groups groups) : Optimizer("ByFormula", std::move(groups), 1e-3, 0.01, {"mean", "square"}) {}
  void update(Slot& slot, double lr) override {
    Array &m = slot.arrays[0], &v = slot.arrays[1], w = slot.parameter.value(), g = slot.parameter.grad();
    if (slot.steps == 1) m = v = Array::zeros(w.shape());
    if (kind == whole_rate) lr = learning_rate();
    const double pull = kind == no_decay || kind == in_gradient ? 0 : slot.weight_decay * (kind == no_lr ? 1 : lr);
    if (kind == in_gradient) g = g + w * slot.weight_decay;
    if (kind != last) w = w * (1 - pull);
    m = m * beta1 + g * (1 - beta1);
    v = v * beta2 + g * g * (1 - beta2);
    const double t = static_cast<double>(kind == t_of_all ? steps() + 1 : kind == t_from_0 ? steps() : slot.steps);
    const auto whole = [&](double beta) { return kind == raw ? 1 : 1 - std::pow(beta, t); };
    const Tensor size = v / whole(beta2);
    const Tensor root = kind == eps_in_root ? sqrt(size + eps) : sqrt(size) + (kind == no_eps ? 0 : eps);
    w = w - (m / whole(beta1) / root).array() * lr;
    if (kind == last) w = w * (1 - pull);
    if (kind != unset) slot.parameter.set(w);
  }
};

template <class Method>
void check() {
  expect_close("the table of all weights (row t: after step t)", walk<Method>(false), walk<AdamW>(false));
  expect_close("the table of all weights with other beta1, beta2 and eps", walk<Method>(true),
               walk<ByFormula<none>>(true));
}

struct ByExample : ByFormula<none> {
  using ByFormula::ByFormula;
  void update(Slot& slot, double) override { slot.parameter.set(Array::full(slot.parameter.shape(), 0.9)); }
};

static const Row<void()> rows[] = {
    {"not corrected", "mean and square began at 0: divide each by its 1 - beta^t.", check<ByFormula<raw>>},
    {"t of another", "t is slot.steps, which begins at 1. Other parameters may have had more steps than this one.",
     check<ByFormula<t_of_all>>, check<ByFormula<t_from_0>>},
    {"decay in the gradient", "That is Adam: decay went into the gradient, but it is apart from it.",
     check<ByFormula<in_gradient>>},
    {"eps", "eps is added to the root, not under it. Without it a gradient that is always 0 leads to 0 / 0.",
     check<ByFormula<eps_in_root>>, check<ByFormula<no_eps>>},
    {"decay", "Weights shrink by lr * weight_decay * w, before the step: this line is missing, misplaced or has no lr.",
     check<ByFormula<no_decay>>, check<ByFormula<no_lr>>, check<ByFormula<last>>},
    {"not set", "No weight changes: w is a copy, so end with slot.parameter.set(w).", check<ByFormula<unset>>},
    {"options not used",
     "An option has no effect: take the fields beta1, beta2 and eps. Take the lr that update() is given: each group "
     "has its own.",
     check<ByFormula<whole_rate>>, check<AdamW>},
    {"hard-coded", of_example, check<ByExample>},
};
static const Table table(rows);

#ifdef PROVE
namespace solution {
struct MyAdamW : Optimizer {
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  explicit MyAdamW(std::vector<ParameterGroup> groups, double lr = 1e-3, double weight_decay = 0.01)
      : Optimizer("MyAdamW", std::move(groups), lr, weight_decay, {"mean", "square"}) {}
  void update(Slot& slot, double lr) override {
    Array &mean = slot.arrays[0], &square = slot.arrays[1], w = slot.parameter.value();
    if (slot.steps == 1) mean = square = Array::zeros(w.shape());
    const Array g = slot.parameter.grad();
    w = w * (1 - lr * slot.weight_decay);
    mean = mean * beta1 + g * (1 - beta1);
    square = square * beta2 + g * g * (1 - beta2);
    const Array full_mean = mean / (1 - std::pow(beta1, slot.steps));
    const Array full_square = square / (1 - std::pow(beta2, slot.steps));
    slot.parameter.set(w - lr * full_mean / (sqrt(Tensor(full_square)).array() + eps));
  }
};
}  // namespace solution
static const Right right(check<solution::MyAdamW>);
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, of_check::check<MyAdamW>, YOURS, {"AdamW", "Adam", "plain_adamw_step"});
}
