// Checks 28: AdamW.

// hint: The formula line by line, with Arrays: g is slot.parameter.grad(), and beta1^t is std::pow(beta1, slot.steps).
// hint: The last line, of means m and n already corrected: w = w - lr * m / (sqrt(Tensor(n)).array() + eps).
// why: mean / sqrt(square) has no unit: gradients a thousand times larger lead to the same steps.
// why: Both began at 0, and of equal gradients have seen the part 1 - beta^t; divided by that they are right at once.
// why: Decay inside g would be divided by the size of g as well, and weights with large gradients would hardly shrink.
#include "examples/exercises/answers/check.h"

namespace of_check {
enum Mistake { uncorrected, in_gradient, eps_in_root, no_eps, from_0, all_steps, no_decay, without_lr, last, constant };
struct Wrongly : Optimizer {
  Mistake mistake;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;

  Wrongly(std::vector<ParameterGroup> groups, Mistake mistake)
      : Optimizer("Wrongly", std::move(groups), 1e-3, 0.01, {"mean", "square"}), mistake(mistake) {}
  void update(Slot& slot, double lr) override {
    Array &m = slot.arrays[0], &v = slot.arrays[1], w = slot.parameter.value(), g = slot.parameter.grad();
    if (slot.steps == 1) m = v = Array::zeros(w.shape());
    const double pull = slot.weight_decay * (mistake == without_lr ? 1 : lr);
    if (mistake == in_gradient) g = g + w * slot.weight_decay;
    if (mistake != in_gradient && mistake != last && mistake != no_decay) w = w * (1 - pull);
    m = m * beta1 + g * (1 - beta1), v = v * beta2 + g * g * (1 - beta2);
    const double t = static_cast<double>(mistake == from_0 ? steps() : mistake == all_steps ? steps() + 1 : slot.steps);
    const auto whole = [&](double beta) { return mistake == uncorrected ? 1 : 1 - std::pow(beta, t); };
    const Tensor size = v / whole(beta2);
    const Tensor root = sqrt(mistake == eps_in_root ? size + eps : size);
    const Tensor step = m / whole(beta1) / (mistake == eps_in_root || mistake == no_eps ? root : root + eps);
    w = w - step.array() * lr;
    if (mistake == last) w = w * (1 - pull);
    slot.parameter.set(mistake == constant ? Array::full(w.shape(), 0.9) : w);
  }
};

/// All weights after each of five steps, a row for each. The three of a decay; one of their gradients is always 0, and
/// one is as small as eps. The two of b do not decay, and have no gradient in the first step. The learning rate falls.
using Groups = std::vector<ParameterGroup>;
using Make = std::function<std::unique_ptr<Optimizer>(Groups)>;
static Tensor walk(const Make& make) {
  const Generator random(7);
  const Parameter a(randn({3}, random).array()), b(randn({2}, random).array());
  const std::unique_ptr<Optimizer> method = make({{{{"a", a}}, 0.3}, {{{"b", b}}, 0.0}});
  std::vector<Tensor> all;
  for (int step = 0; step < 5; ++step) {
    method->set_learning_rate(0.5 / (1 + step));
    a.set_grad((randn({3}, random) * tensor({1, 0, 1e-8})).array());
    if (step > 0) b.set_grad(randn({2}, random).array());
    method->step();
    all.push_back(concat({a, b}));
  }
  return stack(all);
}

template <class Method>
static std::unique_ptr<Optimizer> made(Groups groups) {
  return std::make_unique<Method>(std::move(groups));
}
static Make by(Mistake mistake) {
  return [mistake](Groups groups) { return std::make_unique<Wrongly>(std::move(groups), mistake); };
}

static void check(const Make& yours) {
  const Tensor got = walk(yours), want = walk(made<AdamW>), a = slice(got, 1, 0, 3);
  expect(!std::isnan(got.array().at({0, 0})), "A weight is NaN: if t is 0 in the first step, 1 - beta^t is 0.");
  expect(!std::isnan(sum(got).item()), "Where all gradients are 0, you divide 0 by 0: add eps to the root.");
  expect_not(got, walk(by(uncorrected)), "mean and square began at 0: divide each by its 1 - beta^t.");
  expect_not(got, walk(by(in_gradient)), "That is Adam: decay went into the gradient, but it is apart from it.");
  expect_not(got, walk(by(eps_in_root)), "eps is added to the root: yours is under it.");
  expect_not(got, walk(by(no_decay)), "Weights do not decay: the first line of the formula is missing.");
  expect_not(got, walk(by(without_lr)), "Weights shrink by lr * weight_decay: your decay has no lr.");
  expect_not(got, walk(by(last)), "w shrinks before its step: yours shrinks the step as well.");
  expect(close(got, want) || !close(a, slice(want, 1, 0, 3)),
         "A parameter goes wrong that had no gradient in the first step and has no decay: t is slot.steps.");
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
    w = w - lr * full_mean / (sqrt(Tensor(full_square)).array() + eps);
    slot.parameter.set(w);
  }
};
}  // namespace solution

static const Tried tried[] = {
    {"solution", "", [] { check(made<solution::MyAdamW>); }},
    {"t from 0", "t is 0", [] { check(by(from_0)); }},
    {"without eps", "0 by 0", [] { check(by(no_eps)); }},
    {"t of all parameters", "t is slot.steps", [] { check(by(all_steps)); }},
    {"not corrected", "began at 0", [] { check(by(uncorrected)); }},
    {"decay in the gradient", "That is Adam", [] { check(by(in_gradient)); }},
    {"eps under the root", "yours is under it", [] { check(by(eps_in_root)); }},
    {"without decay", "do not decay", [] { check(by(no_decay)); }},
    {"decay without lr", "has no lr", [] { check(by(without_lr)); }},
    {"decay last", "shrinks the step", [] { check(by(last)); }},
    {"hard-coded", "row t", [] { check(by(constant)); }},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(of_check::made<MyAdamW>); }, YOURS,
                         {"AdamW", "Adam", "plain_adamw_step"});
}
