// What is here: optimizers against torch and against plain formulas in double; groups, skipping, errors.
// What is not: state, bits and memory (optimizer_state_test.cpp).
// Read next: train/optimizer.h.
#include "train/optimizer.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "engine/ops/arithmetic.h"
#include "nn/linear.h"
#include "tests/train/optimizer_cases.h"
#include "tests/train/torch_optimizer_vectors.h"
#include "train/adamw.h"
#include "train/sgd.h"

namespace {

using namespace mote;
using namespace mote::test;
constexpr double NaN = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
constexpr bool is_float = sizeof(real) == 4;

/// Seven steps of torch_optimizer_vectors.h.
void check_torch(Optimizer&& o, const std::vector<float>& expected) {
  for (Index s = 0; s < 7; ++s) {
    if (s == 5) o.set_learning_rate(o.learning_rate() * 0.5);
    take_step(o, s);
  }
  const std::vector<real> got = numbers(o);
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    const double want = static_cast<double>(expected[i]), is = static_cast<double>(got[i]);
    if (is_float)
      CHECK(is == want);  // all bits
    else
      CHECK(std::abs(is - want) <= 3e-6 * std::max(0.1, std::abs(want)));  // torch's float against our double
  }
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

TEST_CASE("optimizers: equal to torch") {
  namespace t = torch_optimizer;
  check_torch(SGD(four(), {.lr = 0.1}), t::sgd);
  check_torch(SGD(four(), {.lr = 0.1, .momentum = 0.9}), t::sgd_momentum);
  check_torch(SGD(four(), {.lr = 0.1, .momentum = 0.9, .dampening = 0.3}), t::sgd_dampening);
  check_torch(SGD(four(), {.lr = 0.1, .momentum = 0.9, .nesterov = true}), t::sgd_nesterov);
  check_torch(SGD(four(), {.lr = 0.1, .weight_decay = 0.05}), t::sgd_weight_decay);
  check_torch(SGD(four(), {.lr = 0.1, .momentum = 0.9, .weight_decay = 0.05, .nesterov = true}), t::sgd_all);
  check_torch(Adam(four()), t::adam);
  check_torch(Adam(four(), {.lr = 0.01, .betas = {0.8, 0.95}, .eps = 1e-6, .weight_decay = 0.1}), t::adam_l2);
  check_torch(AdamW(four()), t::adamw);
  check_torch(AdamW(four(), {.lr = 0.01, .betas = {0.8, 0.95}, .weight_decay = 0.1}), t::adamw_decay);
}

TEST_CASE("AdamW: closed forms, zero and tiny gradients") {
  AdamW first(one(1), {.lr = 1e-3, .weight_decay = 0.01});
  give(first, 0.1);
  CHECK(first.step() == 1);
  CHECK(std::abs(only(first) - (0.99999 - 1e-3 * 0.1 / (0.1 + 1e-8))) <= (is_float ? 6e-8 : 1e-15));

  AdamW decay(one(1), {.lr = 1e-3, .weight_decay = 0.01});
  double expected = 1;
  for (int s = 0; s < 50; ++s, expected *= 0.99999) give(decay, 0), decay.step();
  CHECK(std::abs(only(decay) - expected) <= (is_float ? 3e-6 : 1e-14));

  AdamW tiny(one(1), {.lr = 1e-3, .weight_decay = 0});
  for (int s = 0; s < 50; ++s) give(tiny, 1e-30), tiny.step();  // g far below eps: hardly a step, no blow-up
  CHECK(std::abs(only(tiny) - 1) < 1e-6);

  for (const double g : {inf, NaN}) {  // as PyTorch: it is clip_grad_norm that tells
    AdamW broken(one(1));
    give(broken, g), broken.step();
    CHECK(std::isnan(only(broken)));
  }
}

TEST_CASE("AdamW: a hundred steps beside plain formulas in double") {
  AdamW o(four(), {.lr = 0.01, .weight_decay = 0.1});
  std::vector<double> w, m(56, 0.0), v(56, 0.0);
  for (const real x : numbers(o)) w.push_back(static_cast<double>(x));
  for (Index s = 0; s < 100; ++s) {
    take_step(o, s == 3 ? 1003 : s);
    std::size_t at = 0;
    for (std::size_t k = 0; k < 4; ++k)
      for (Index i = 0; i < shapes[k].numel(); ++i, ++at) {
        const double g = gradient(s == 3 ? 1003 : s, static_cast<Index>(k), i), t = static_cast<double>(s + 1);
        m[at] = 0.9 * m[at] + 0.1 * g, v[at] = 0.999 * v[at] + 0.001 * g * g;
        w[at] = w[at] * (1 - 0.01 * 0.1) -
                0.01 * (m[at] / (1 - std::pow(0.9, t))) / (std::sqrt(v[at] / (1 - std::pow(0.999, t))) + 1e-8);
      }
  }
  const std::vector<real> got = numbers(o);
  const double tolerance = is_float ? 3e-6 : 1e-13;  // a hundred times the 3e-8 by which float(0.999) may be off
  for (std::size_t i = 0; i < w.size(); ++i)
    CHECK(std::abs(static_cast<double>(got[i]) - w[i]) <= tolerance * std::max(1.0, std::abs(w[i])));
}

TEST_CASE("SGD: momentum by hand") {
  for (const bool nesterov : {false, true}) {  // velocity 1, 1.5, 1.75; all numbers are exact
    SGD o(one(0), {.lr = 0.5, .momentum = 0.5, .nesterov = nesterov});
    for (int s = 0; s < 3; ++s) give(o, 1), o.step();
    CHECK(only(o) == (nesterov ? -0.5 * (1.5 + 1.75 + 1.875) : -0.5 * (1 + 1.5 + 1.75)));
  }
  SGD o(one(2), {.lr = 0.5, .weight_decay = 0.25});
  give(o, 1), o.step();
  CHECK(only(o) == 2 - 0.5 * (1 + 0.25 * 2));
}

TEST_CASE("optimizer: frozen, missing, tied, shared, moved") {
  Groups groups = four();
  groups[0].lr_scale = 0.5;
  const std::vector<NamedParameter> p = groups[0].parameters;
  AdamW o(groups, {.lr = 1, .weight_decay = 0.1});
  CHECK(o.step() == 0);  // no gradients yet
  CHECK(numbers(o) == numbers(AdamW(four())));
  p[1].parameter.set_grad(Array::full({3}, 1)), p[2].parameter.set_grad(Array::full({17}, 1));
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

  auto layer = std::make_unique<Linear>(2, 2, Generator(1));
  SGD holds(all_parameters(*layer), {.lr = 1});
  const Linear moved = std::move(*layer);
  layer.reset();
  moved.bias.set(Array::zeros({2})), moved.bias.set_grad(Array::full({2}, 1));
  holds.step();
  CHECK(moved.bias.value().to_vector() == std::vector<real>{-1, -1});
}

TEST_CASE("optimizer: errors") {
  const Groups g = four();
  const Groups twice{{{{"a", g[0].parameters[0].parameter}}, {}, 1}, {{{"b", g[0].parameters[0].parameter}}, {}, 1}};
  const Groups names{{{g[0].parameters[0], {"p0", g[0].parameters[1].parameter}}, {}, 1}};
  CHECK_THROWS_WITH_AS(AdamW{twice},
                       "AdamW: 'a' and 'b' are the same parameter and would be stepped twice; list it once", Error);
  CHECK_THROWS_WITH_AS(SGD{names}, "SGD: two parameters are named 'p0'; give one of them a prefix", Error);
  CHECK_THROWS_WITH_AS(SGD{Groups{}}, "SGD: there are no parameters to optimize", Error);
  CHECK_THROWS_WITH_AS(SGD(Groups{{{{"w", Parameter()}}, {}, 1}}), "SGD: parameter 'w' is not defined", Error);
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
  CHECK_THROWS_WITH_AS(Adam(g, {.betas = {0.9, 1}}), "Adam: betas must lie in [0, 1), not 0.9 and 1", Error);
  CHECK_THROWS_AS(SGD(g, {.dampening = NaN}), Error);
  CHECK_THROWS_AS(SGD(g, {.nesterov = true}), Error);
  CHECK_THROWS_AS(SGD(g, {.momentum = 0.9, .dampening = 0.1, .nesterov = true}), Error);
}

TEST_CASE("optimizer: groups and what describe says of them") {
  const Linear layer(300, 400, Generator(1));
  Groups groups = decay_groups(layer, 0.1);
  CHECK(groups[0].parameters.size() == 1);
  CHECK(groups[0].parameters[0].name == "weight");
  CHECK(groups[1].parameters[0].name == "bias");
  CHECK(describe(groups) ==
        "decayed (weight_decay 0.1): 1 tensor, 120,000 numbers\nnot decayed: 1 tensor, 400 numbers\n");
  groups[1].lr_scale = 0.5;
  CHECK(describe({groups[1]}) == "not decayed, learning rate times 0.5: 1 tensor, 400 numbers\n");
  CHECK(describe(all_parameters(layer)) == "decayed as the optimizer says: 2 tensors, 120,400 numbers\n");
  CHECK(AdamW(all_parameters(layer)).groups()[0].weight_decay == 0.01);
  CHECK(Adam(all_parameters(layer), {.weight_decay = 0.2}).groups()[0].weight_decay == 0.2);
  CHECK(AdamW(all_parameters(layer, 0.0)).groups()[0].weight_decay == 0.0);
}
