// Checks 28: AdamW.

// hint: The formula line by line, with Arrays: g is slot.parameter.grad(), and beta1^t is std::pow(beta1, slot.steps).
// hint: The last line, of means m and n already corrected: w = w - lr * m / (sqrt(Tensor(n)).array() + eps).
// why: mean / sqrt(square) has no unit: gradients a thousand times larger lead to the same steps.
// why: Both began at 0, and of equal gradients have seen the part 1 - beta^t; divided by that they are right at once.
// why: Decay inside g would be divided by the size of g as well, and weights with large gradients would hardly shrink.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Groups = std::vector<ParameterGroup>;
enum Mistake { none, raw, in_gradient, eps_in_root, no_eps, from_0, all_steps, no_decay, without_lr, last, constant };
struct Wrongly : Optimizer {
  Mistake mistake;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  Wrongly(Groups groups, Mistake mistake)
      : Optimizer("Wrongly", std::move(groups), 1e-3, 0.01, {"mean", "square"}), mistake(mistake) {}
  void update(Slot& slot, double lr) override {
    Array &m = slot.arrays[0], &v = slot.arrays[1], w = slot.parameter.value(), g = slot.parameter.grad();
    if (slot.steps == 1) m = v = Array::zeros(w.shape());
    const double pull = slot.weight_decay * (mistake == without_lr ? 1 : lr);
    if (mistake == in_gradient) g = g + w * slot.weight_decay;
    if (mistake != in_gradient && mistake != last && mistake != no_decay) w = w * (1 - pull);
    m = m * beta1 + g * (1 - beta1), v = v * beta2 + g * g * (1 - beta2);
    const double t = static_cast<double>(mistake == from_0 ? steps() : mistake == all_steps ? steps() + 1 : slot.steps);
    const auto whole = [&](double beta) { return mistake == raw ? 1 : 1 - std::pow(beta, t); };
    const Tensor size = v / whole(beta2);
    const Tensor root = sqrt(mistake == eps_in_root ? size + eps : size);
    const Tensor step = m / whole(beta1) / (mistake == eps_in_root || mistake == no_eps ? root : root + eps);
    w = w - step.array() * lr;
    if (mistake == last) w = w * (1 - pull);
    slot.parameter.set(mistake == constant ? Array::full(w.shape(), 0.9) : w);
  }
};

/// All weights after each of five steps. The three of a decay; one of their gradients is always 0, one as small as eps.
/// The two of b do not decay, and have no gradient in the first step. The learning rate falls.
template <class Method>
Tensor walk(bool other_fields, auto... mistake) {
  const Generator random(7);
  const Parameter a(randn({3}, random).array()), b(randn({2}, random).array());
  Method method(Groups{{{{"a", a}}, 0.3}, {{{"b", b}}, 0.0}}, mistake...);
  if constexpr (requires { method.eps; })
    if (other_fields) method.beta1 = 0.8, method.beta2 = 0.95, method.eps = 1e-3;
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

template <class Method, auto... mistake>
void check() {
  const Tensor got = walk<Method>(false, mistake...), want = walk<AdamW>(false), a = slice(got, 1, 0, 3);
  const auto no = [&](Mistake wrong, const std::string& sentence) {
    expect_not(got, walk<Wrongly>(false, wrong), sentence);
  };
  expect(!std::isnan(got.array().at({0, 0})),
         "A weight is NaN: is t 0 in the first step, so that 1 - beta^t is 0? Or do you take the root of g?");
  expect(!std::isnan(sum(got).item()), "Where all gradients are 0, you divide 0 by 0: add eps to the root.");
  no(raw, "mean and square began at 0: divide each by its 1 - beta^t.");
  no(in_gradient, "That is Adam: decay went into the gradient, but it is apart from it.");
  no(eps_in_root, "eps is added to the root: yours is under it.");
  no(no_decay, "Weights do not decay: the first line of the formula is missing.");
  no(without_lr, "Weights shrink by lr * weight_decay: your decay has no lr.");
  no(last, "w shrinks before its step: yours shrinks the step as well.");
  expect(close(got, want) || !close(a, slice(want, 1, 0, 3)),
         "A parameter goes wrong that had no gradient in the first step and has no decay: t is slot.steps.");
  expect(!close(got, want) || close(walk<Method>(true, mistake...), walk<Wrongly>(true, none)),
         "You compute with 0.9, 0.999 or 1e-8 instead of the fields beta1, beta2 and eps.");
  expect_close("the table of all weights (row t: after step t)", got, want);
}

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

static const Tried tried[] = {
    {"solution", "", check<solution::MyAdamW>},
    {"t from 0", "t is 0", check<Wrongly, from_0>},
    {"without eps", "0 by 0", check<Wrongly, no_eps>},
    {"t of all parameters", "t is slot.steps", check<Wrongly, all_steps>},
    {"not corrected", "began at 0", check<Wrongly, raw>},
    {"decay in the gradient", "That is Adam", check<Wrongly, in_gradient>},
    {"eps under the root", "yours is under it", check<Wrongly, eps_in_root>},
    {"without decay", "do not decay", check<Wrongly, no_decay>},
    {"decay without lr", "has no lr", check<Wrongly, without_lr>},
    {"decay last", "shrinks the step", check<Wrongly, last>},
    {"fields not used", "instead of the fields", check<AdamW>},
    {"hard-coded", "row t", check<Wrongly, constant>},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, of_check::check<MyAdamW>, YOURS, {"AdamW", "Adam", "plain_adamw_step"});
}
