// Optimizers against formulas and torch (tests/vectors/optimizers.txt); tiny and broken gradients, groups, errors.
#include "train/optim/optimizer.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "engine/ops/arithmetic.h"
#include "nn/linear.h"
#include "tests/support.h"
#include "tests/train/optim/optimizer_cases.h"
#include "tests/vectors.h"
#include "train/loop/clip.h"
#include "train/optim/adamw.h"
#include "train/optim/sgd.h"

namespace mote::test::optimizer_test {
namespace {

constexpr double NaN = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
constexpr bool is_float = sizeof(real) == 4;

/// |got - expected| <= tolerance max(floor, |expected|) for every number; not finite ones alike.
void check_within(const Vector& expected, const std::vector<real>& got, double tolerance, double floor = 0) {
  CAPTURE(expected.name);
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    const double want = expected.number(i), is = static_cast<double>(got[i]);
    if (std::isfinite(want))
      CHECK(std::abs(is - want) <= tolerance * std::max(floor, std::abs(want)));
    else
      CHECK((std::isnan(want) ? std::isnan(is) : is == want));
  }
}

/// What an optimizer keeps of one number.
struct Number {
  double w = 0, velocity = 0, mean = 0, square = 0;
  Index t = 0;  ///< its steps
};

/// The formulas of torch.optim's pages, in double.
void formula_step(Number& n, double g, double lr, const SGDOptions& o) {
  g += o.weight_decay * n.w;
  n.velocity = n.t == 0 ? g : o.momentum * n.velocity + (1 - o.dampening) * g;
  n.w -= lr * (o.nesterov ? g + o.momentum * n.velocity : n.velocity);
  ++n.t;
}
template <class Options>
void formula_of_adam(Number& n, double g, double lr, const Options& o) {
  const auto [beta1, beta2] = o.betas;
  ++n.t;
  n.mean = beta1 * n.mean + (1 - beta1) * g;
  n.square = beta2 * n.square + (1 - beta2) * g * g;
  const double mean = n.mean / (1 - std::pow(beta1, n.t)), square = n.square / (1 - std::pow(beta2, n.t));
  n.w -= lr * mean / (std::sqrt(square) + o.eps);
}
void formula_step(Number& n, double g, double lr, const AdamOptions& o) {
  formula_of_adam(n, g + o.weight_decay * n.w, lr, o);
}
void formula_step(Number& n, double g, double lr, const AdamWOptions& o) {
  n.w -= lr * o.weight_decay * n.w;
  formula_of_adam(n, g, lr, o);
}

/// An optimizer beside the formula, and in float also beside torch's numbers.
template <class O, class Options>
class Compared {
 public:
  Compared(const VectorFile& torch, const std::string& name, const Groups& groups, const Options& options)
      : torch_(torch), name_(name), options_(options), optimizer_(groups, options) {
    for (const NamedParameter& p : groups[0].parameters) {
      numbers_.emplace_back();
      for (const real w : p.parameter.value().to_vector()) numbers_.back().push_back({.w = static_cast<double>(w)});
    }
  }
  O& optimizer() { return optimizer_; }

  /// Takes a step with the gradients that the parameters have. Returns how many were updated.
  std::size_t step() {
    for (std::size_t k = 0; k < numbers_.size(); ++k) {
      const Parameter& p = optimizer_.parameters()[k];
      if (!p.trainable() || !p.grad().defined()) continue;
      const std::vector<real> g = p.grad().to_vector();
      for (std::size_t i = 0; i < g.size(); ++i)
        formula_step(numbers_[k][i], static_cast<double>(g[i]), optimizer_.learning_rate(), options_);
    }
    return optimizer_.step();
  }
  /// All weights after step s. Of plain steps all bits are torch's.
  void check(Index s, bool all_bits) const {
    CAPTURE(name_);
    CAPTURE(s);
    std::vector<double> formula;
    for (const std::vector<Number>& of_parameter : numbers_)
      for (const Number& n : of_parameter) formula.push_back(n.w);
    CHECK(distance(numbers(optimizer_), formula) < (is_float ? 1e-6 : 1e-15));
    if (!is_float) return;
    const Vector& torch = torch_[name_ + "/step_" + std::to_string(s)];
    all_bits ? check_digits(torch, numbers(optimizer_)) : check_within(torch, numbers(optimizer_), 2.5e-7, 1);
  }

 private:
  const VectorFile& torch_;
  std::string name_;
  Options options_;
  O optimizer_;
  std::vector<std::vector<Number>> numbers_;  ///< of each parameter
};

/// Seven steps; the learning rate is halved before step 5, and the third parameter has no gradient in step 3.
template <class O, class Options>
void check_steps(const VectorFile& torch, const std::string& name, const Options& options) {
  Compared<O, Options> compared(torch, name, four(), options);
  O& o = compared.optimizer();
  for (Index s = 0; s < 7; ++s) {
    if (s == 5) o.set_learning_rate(o.learning_rate() * 0.5);
    set_gradients(o, s);
    compared.step();
    compared.check(s, true);
  }
}

/// four(), one parameter without a gradient, one that is frozen.
Groups six() {
  Groups groups = four();
  const std::vector<Shape> more{{4}, {6}};
  for (Index k = 4; k < 6; ++k) {
    const Array value = made(more[static_cast<std::size_t>(k - 4)], [&](Index i) { return start(k, i); });
    groups[0].parameters.push_back({k == 4 ? "p4" : "p5", Parameter(value)});
  }
  const Parameter frozen = groups[0].parameters[5].parameter;
  frozen.set_grad(made({6}, [](Index i) { return static_cast<double>(i + 1); }));  // counts for nothing
  frozen.set_trainable(false);
  return groups;
}

std::vector<real> first_four_gradients(const std::vector<Parameter>& parameters) {
  std::vector<real> all;
  for (std::size_t k = 0; k < 4; ++k)
    for (const real g : parameters[k].grad().to_vector()) all.push_back(g);
  return all;
}

/// Steps with clipped gradients. torch sums squares in float32, mote in blocks and double, so its norm may be the next
/// number, the factor too, and the gradients are then equal to two roundings.
template <class O, class Options>
void check_clipped(const VectorFile& torch, const std::string& name, const Options& options) {
  const double roundings = is_float ? 2.5e-7 : 1e-15;
  Compared<O, Options> compared(torch, name, six(), options);
  const std::vector<Parameter>& parameters = compared.optimizer().parameters();
  const std::vector<double> limits{100, 1, inf, 0.01, 6, 0};
  std::vector<real> norms;
  for (std::size_t s = 0; s < limits.size(); ++s) {
    give_gradients(parameters, static_cast<Index>(s));
    const std::vector<real> given = first_four_gradients(parameters);
    double squares = 0;
    for (const real g : given) squares += static_cast<double>(g) * static_cast<double>(g);
    const double factor = std::min(1.0, limits[s] / (std::sqrt(squares) + 1e-6));
    std::vector<double> formula;
    for (const real g : given) formula.push_back(static_cast<double>(g) * factor);

    norms.push_back(static_cast<real>(clip_grad_norm(parameters, limits[s])));
    const std::vector<real> clipped = first_four_gradients(parameters);
    CHECK(std::abs(static_cast<double>(norms.back()) / std::sqrt(squares) - 1) < roundings);
    CHECK(distance(clipped, formula) < roundings);
    if (is_float) check_within(torch[name + "/gradients_" + std::to_string(s)], clipped, roundings);
    CHECK(compared.step() == 4);
    compared.check(static_cast<Index>(s), false);
  }
  if (is_float) check_within(torch[name + "/norms"], norms, roundings);
}

Groups one(double value, const Shape& shape = {1}) {
  return {{{{"w", Parameter(made(shape, [&](Index) { return value; }))}}, {}, 1}};
}
double only(const Optimizer& o) { return static_cast<double>(o.parameters()[0].value().to_vector()[0]); }
void give(const Optimizer& o, double g) {
  const Parameter& p = o.parameters()[0];
  p.set_grad(made(p.shape(), [&](Index) { return g; }));
}

}  // namespace

TEST_CASE("optimizers: as the formulas after each step, in float equal to torch, with clipping and without") {
  const VectorFile t("optimizers.txt");
  REQUIRE(t.all().size() == 12 * 7 + 2 * 13);  // all that are compared here
  check_steps<SGD>(t, "sgd", SGDOptions{.lr = 0.1});
  check_steps<SGD>(t, "sgd_momentum", SGDOptions{.lr = 0.1, .momentum = 0.9});
  check_steps<SGD>(t, "sgd_dampening", SGDOptions{.lr = 0.1, .momentum = 0.9, .dampening = 0.3});
  check_steps<SGD>(t, "sgd_nesterov", SGDOptions{.lr = 0.1, .momentum = 0.9, .nesterov = true});
  check_steps<SGD>(t, "sgd_weight_decay", SGDOptions{.lr = 0.1, .weight_decay = 0.05});
  check_steps<SGD>(t, "sgd_all", SGDOptions{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.05, .nesterov = true});
  check_steps<Adam>(t, "adam", AdamOptions{});
  check_steps<Adam>(t, "adam_eps_betas", AdamOptions{.lr = 0.02, .betas = {0.5, 0.9}, .eps = 1e-3});
  check_steps<Adam>(t, "adam_l2", AdamOptions{.lr = 0.01, .betas = {0.8, 0.95}, .eps = 1e-6, .weight_decay = 0.1});
  check_steps<AdamW>(t, "adamw", AdamWOptions{});
  check_steps<AdamW>(t, "adamw_eps_betas",
                     AdamWOptions{.lr = 0.02, .betas = {0.6, 0.99}, .eps = 1e-4, .weight_decay = 0});
  check_steps<AdamW>(t, "adamw_decay", AdamWOptions{.lr = 0.01, .betas = {0.8, 0.95}, .weight_decay = 0.1});
  check_clipped<SGD>(t, "clip_sgd", SGDOptions{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.05});
  check_clipped<AdamW>(t, "clip_adamw", AdamWOptions{.lr = 0.01, .weight_decay = 0.1});
}

TEST_CASE("clip_grad_norm: gradients that are not finite have torch's norm") {
  for (const double bad : {inf, -inf, NaN}) {  // torch would make them 0 or NaN; mote leaves them (clip_test.cpp)
    const SGD four_of(four());
    give_gradients(four_of.parameters(), 0);
    four_of.parameters()[2].set_grad(made(shapes[2], [&](Index i) { return i == 16 ? bad : gradient(0, 2, i); }));
    const double norm = static_cast<double>(clip_grad_norm(four_of.parameters(), 1));
    CHECK((std::isnan(bad) ? std::isnan(norm) : norm == inf));
  }
}

TEST_CASE("AdamW: as its formula reads") {
  const AdamWOptions options{.lr = 0.02, .betas = {0.6, 0.99}, .eps = 1e-4, .weight_decay = 0.1};
  const Groups groups = one(1, {7});
  const Parameter p = groups[0].parameters[0].parameter;
  AdamW fast(groups, options);
  Array w = p.value(), m = Array::zeros(w.shape()), v = m;
  for (Index t = 1; t <= 20; ++t) {
    const Array g = made(w.shape(), [&](Index i) { return gradient(t, 0, i); });
    p.set_grad(g);
    fast.step();
    plain_adamw_step(w, g, m, v, t, options);
    CHECK(distance(p.value().to_vector(), Value(w).x) < (sizeof(real) == 4 ? 1e-6 : 1e-14));
  }
}

TEST_CASE("AdamW: tiny gradients and broken ones") {
  AdamW tiny(one(1), {.lr = 1e-3, .weight_decay = 0});
  for (int s = 0; s < 50; ++s) {  // g far below eps: hardly a step, no blow-up
    give(tiny, 1e-30);
    tiny.step();
  }
  CHECK(std::abs(only(tiny) - 1) < 1e-6);
  const double least = static_cast<double>(std::numeric_limits<real>::min());
  AdamW normal(one(1), {.betas = {0.5, 0.999}});
  give(normal, 4 * least);
  normal.step();  // a moment that is still a normal number is kept
  CHECK(static_cast<double>(normal.state().arrays.at("w.exp_avg").to_vector()[0]) == 2 * least);

  for (const double g : {inf, NaN}) {  // as PyTorch: it is clip_grad_norm that tells
    AdamW broken(one(1));
    give(broken, g);
    broken.step();
    CHECK(std::isnan(only(broken)));
  }
}

TEST_CASE("optimizer: frozen, missing, tied, shared") {
  Groups groups = four();
  groups[0].lr_scale = 0.5;
  const std::vector<NamedParameter> p = groups[0].parameters;
  AdamW o(groups, {.lr = 1, .weight_decay = 0.1});
  CHECK(o.step() == 0);  // no gradients yet
  CHECK(numbers(o) == numbers(AdamW(four())));
  p[1].parameter.set_grad(Array::full({3}, 1));
  p[2].parameter.set_grad(Array::full({17}, 1));
  p[2].parameter.set_trainable(false);
  const std::vector<real> before1 = p[1].parameter.value().to_vector(), before2 = p[2].parameter.value().to_vector();
  const Array old = p[1].parameter.value();  // as a live graph holds it
  CHECK(o.step() == 1);
  CHECK(o.steps() == 2);
  CHECK(p[2].parameter.value().to_vector() == before2);
  CHECK(old.to_vector() == before1);
  CHECK(std::abs(static_cast<double>(p[1].parameter.value().at({0}) - (before1[0] * real(0.95) - real(0.5)))) < 1e-6);
  o.zero_grad();
  CHECK_FALSE(p[1].parameter.grad().defined());

  Parameter tied(Array::full({2}, 1));  // used twice, stepped once
  SGD once({{{{"tied", tied}}, {}, 1}}, {.lr = 1});
  (Tensor(tied) * Tensor(tied)).backward(Array::full({2}, 1));
  CHECK(once.step() == 1);
  CHECK(tied.value().to_vector() == std::vector<real>{-1, -1});
}

TEST_CASE("AdamW: moments below the smallest normal number count beside a tiny eps, as in PyTorch") {
  struct Case {
    double eps, grad, torch;
  };
  const std::vector<Case> cases =
      is_float
          ? std::vector<Case>{{1e-30, 1e-19, -0.0020000285003334284}, {0, 1e-19, -0.0020000285003334284},
                              {1e-30, 1e-21, -0.0016893139109015465}, {0, 1e-21, -0.0016893139109015465},
                              {1e-8, 1e-19, -1.99999996490334e-14},   {1e-8, 1e20, -0.001999999862164259}}
          : std::vector<Case>{
                {0, 1e-155, -0.0019999999999826164}, {1e-30, 1e-155, -2e-128}, {1e-30, 1e-19, -0.0019999999999799926}};
  for (const auto& [eps, grad, torch] : cases) {
    Parameter p(Array::zeros({3}));
    AdamW o({{{{"p", p}}, {}, 1}}, {.lr = 1e-3, .eps = eps, .weight_decay = 0});
    for (int step = 0; step < 2; ++step) {
      p.set_grad(Array::full({3}, static_cast<real>(grad)));
      o.step();
    }
    if (is_float)
      CHECK(static_cast<double>(p.value().at({0})) == torch);
    else
      CHECK(std::abs(static_cast<double>(p.value().at({0})) / torch - 1) < 1e-14);
  }
}

/// How an optimizer writes a weight: as a new array; in place; in place, the first two parameters prepared for it.
enum class Writes { anew, in_place, prepared };

/// w -= lr grad; fails at the last parameter.
struct Failing : Optimizer {
  Writes how;
  bool fails = true;
  Failing(Groups groups, Writes writes) : Optimizer("Failing", std::move(groups), 1, 0, {"seen"}), how(writes) {}
  bool prepare(Slot& slot) override {
    if (how == Writes::prepared) prepare_in_place(slot);
    return how == Writes::prepared && (slot.name == "p0" || slot.name == "p1");
  }
  void update(Slot& slot, double lr) override {
    if (fails && slot.name == "p3") throw std::bad_alloc();
    const Array w = slot.parameter.value() - slot.parameter.grad() * lr;
    slot.arrays[0] = slot.parameter.grad();
    if (how == Writes::anew)
      slot.parameter.set(w);
    else
      std::copy_n(w.data(), w.numel(), slot.parameter.mutate());
  }
};

TEST_CASE("optimizer: a step that fails has not happened, nor to parameters that were prepared for it") {
  for (const Writes how : {Writes::anew, Writes::in_place, Writes::prepared}) {
    Failing o(four(), how);
    const std::vector<real> before = numbers(o);
    for (const Parameter& p : o.parameters()) p.set_grad(Array::full(p.shape(), 8));
    CHECK_THROWS_AS(o.step(), std::bad_alloc);
    CHECK(numbers(o) == before);
    CHECK((o.steps() == 0 && o.state().arrays.empty()));
    for (const auto& count : o.state().counts) CHECK_MESSAGE(count.second == 0, count.first);
    o.fails = false;
    CHECK(o.step() == 4);
    CHECK((o.steps() == 1 && o.state().arrays.size() == 4));
    for (const auto& count : o.state().counts) CHECK_MESSAGE(count.second == 1, count.first);
    const std::vector<real> after = numbers(o);
    for (std::size_t i = 0; i < after.size(); ++i) CHECK(after[i] == before[i] - 8);
    for (const Parameter& p : o.parameters()) CHECK(p.grad().to_vector() == Array::full(p.shape(), 8).to_vector());
  }
}

TEST_CASE("optimizer: a learning rate that is infinite in the weights' type") {
  const double beyond = sizeof(real) == 8 ? inf : 1e300, most = static_cast<double>(std::numeric_limits<real>::max());
  CHECK_THROWS_AS(AdamW(four(), {.lr = beyond}), Error);
  Groups scaled = four();
  scaled[0].lr_scale = 4;
  CHECK_THROWS_AS(SGD(scaled, {.lr = most / 2}), Error);
  SGD o(scaled, {.lr = 1});
  CHECK_THROWS_AS(o.set_learning_rate(most / 2), Error);
  CHECK(o.learning_rate() == 1);
  o.set_learning_rate(most / 8);
}

TEST_CASE("optimizer: errors") {
  const Groups g = four();
  const Groups twice{{{{"a", g[0].parameters[0].parameter}}, {}, 1}, {{{"b", g[0].parameters[0].parameter}}, {}, 1}};
  const Groups names{{{g[0].parameters[0], {"p0", g[0].parameters[1].parameter}}, {}, 1}};
  CHECK_THROWS_WITH_AS(AdamW{twice},
                       "AdamW: 'a' and 'b' are the same parameter, which would be updated twice; list it once", Error);
  CHECK_THROWS_WITH_AS(SGD{names}, "SGD: two parameters are named 'p0'; give one of them a prefix", Error);
  CHECK_THROWS_WITH_AS(SGD{Groups{}}, "SGD: there are no parameters to optimize", Error);
  CHECK_THROWS_WITH_AS(SGD(Groups{{{{"w", Parameter()}}, {}, 1}}), "SGD: parameter 'w' is an empty Parameter()", Error);
  for (const double bad : {-1.0, NaN, inf}) {
    CHECK_THROWS_AS(AdamW(g, {.lr = bad}), Error);
    CHECK_THROWS_AS(AdamW(g, {.eps = bad}), Error);
    CHECK_THROWS_AS(AdamW(g, {.weight_decay = bad}), Error);
    CHECK_THROWS_AS(Adam(g, {.betas = {bad, 0.9}}), Error);
    CHECK_THROWS_AS(SGD(g, {.momentum = bad}), Error);
    CHECK_THROWS_AS(SGD(g).set_learning_rate(bad), Error);
    CHECK_THROWS_AS(SGD(Groups{{g[0].parameters, bad, 1}}), Error);
    CHECK_THROWS_AS(SGD(Groups{{g[0].parameters, {}, bad}}), Error);
  }
  CHECK_THROWS_WITH_AS(Adam(g, {.betas = {0.9, 1}}), "Adam: beta2 1 must be in [0, 1)", Error);
  CHECK_THROWS_AS(SGD(g, {.dampening = NaN}), Error);
  CHECK_THROWS_AS(SGD(g, {.nesterov = true}), Error);
  CHECK_THROWS_AS(SGD(g, {.momentum = 0.9, .dampening = 0.1, .nesterov = true}), Error);
}

TEST_CASE("decay_groups: matrices and embeddings of a GPT decay, biases and gains do not") {
  const Groups groups = decay_groups(GPT(least_gpt(), Generator(1)), 0.1);
  REQUIRE(groups.size() == 2);
  CHECK((groups[0].weight_decay == 0.1 && groups[1].weight_decay == 0.0));
  CHECK(names_of(groups) ==  // the head is tied to wte and decays once
        "transformer.wte.weight+ transformer.wpe.weight+ " + gpt_matrices + gpt_vectors);
}

TEST_CASE("optimizer: groups and what describe says of them") {
  const Linear layer(300, 400, Generator(1));
  Groups groups = decay_groups(layer, 0.1);
  CHECK(names_of(groups) == "weight+ bias ");
  CHECK(describe(groups) ==
        "decayed (weight_decay 0.1): 1 tensor, 120,000 numbers\nnot decayed: 1 tensor, 400 numbers\n");
  groups[1].lr_scale = 0.5;
  CHECK(describe({groups[1]}) == "not decayed, learning rate times 0.5: 1 tensor, 400 numbers\n");
  CHECK(describe(all_parameters(layer)) == "decayed as the optimizer says: 2 tensors, 120,400 numbers\n");
  CHECK(AdamW(all_parameters(layer)).groups()[0].weight_decay == 0.01);
  CHECK(Adam(all_parameters(layer), {.weight_decay = 0.2}).groups()[0].weight_decay == 0.2);
  CHECK(AdamW(all_parameters(layer, 0.0)).groups()[0].weight_decay == 0.0);
}

TEST_CASE("optimizers take loose parameters, and groups without names") {
  const auto with_gradient = [](real value) {
    const Parameter p(Array::full({2}, value));
    sum(mul(p, p)).backward();
    return p;
  };
  const Parameter w = with_gradient(1), b = with_gradient(2);
  SGD sgd({w, b}, {.lr = 0.5});
  sgd.step();
  CHECK(w.value().to_vector() == std::vector<real>{0, 0});
  CHECK(b.value().to_vector() == std::vector<real>{0, 0});
  CHECK(sgd.groups()[0].parameters[1].name == "1");
  CHECK(sgd.state().counts.contains("1.step"));

  const Parameter u = with_gradient(1), v = with_gradient(1);
  SGD groups({{.parameters = {u}}, {.parameters = {v}, .lr_scale = 0.5}}, {.lr = 0.5});
  groups.step();
  CHECK(u.value().to_vector() == std::vector<real>{0, 0});
  CHECK(v.value().to_vector() == std::vector<real>{0.5, 0.5});

  const std::vector<Parameter> list{w, b};
  CHECK(AdamW(list, {.lr = 0.1}).parameters().size() == 2);
  CHECK(Adam({w}, {.lr = 0.1}).parameters().size() == 1);
  CHECK_THROWS_WITH_AS(SGD({w, w}, {.lr = 0.1}),
                       "SGD: '0' and '1' are the same parameter, which would be updated twice; list it once", Error);
}

}  // namespace mote::test::optimizer_test
