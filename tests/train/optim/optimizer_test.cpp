// Optimizers against torch (tests/vectors/optimizers.txt); tiny and broken gradients, groups, errors.
#include "train/optim/optimizer.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>
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

/// float32's numbers for the float library, float64's for the double one.
const char* const torch_file = is_float ? "optimizers.txt" : "optimizers_f64.txt";

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
/// Weights after plain optimizer steps: all bits in float32, and of SGD in float64. Adam's may be the next number in
/// float64: in 14 of its 35 vectors a number or more is.
void check_weights(const Vector& expected, const std::vector<real>& got) {
  if (is_float || expected.name.starts_with("sgd"))
    check_digits(expected, got);
  else
    check_within(expected, got, 1e-15, 1);
}

/// torch's file, which remembers the names that were asked for.
struct TorchFile {
  VectorFile file{torch_file};
  std::set<std::string> compared = {};

  const Vector& operator[](const std::string& name) {
    compared.insert(name);
    return file[name];
  }
  void check_all_compared() const {
    for (const Vector& vector : file.all())
      CHECK_MESSAGE(compared.contains(vector.name), vector.name, " was compared with nothing");
  }
};

/// Seven steps; the learning rate is halved before step 5, and take_step leaves a gradient out in step 3.
void check_torch(TorchFile& torch, const std::string& name, Optimizer&& o) {
  for (Index s = 0; s < 7; ++s) {
    if (s == 5) o.set_learning_rate(o.learning_rate() * 0.5);
    take_step(o, s);
    check_weights(torch[name + "/step_" + std::to_string(s)], numbers(o));
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

/// Steps with clipped gradients. torch sums squares in float32, mote in blocks and double, so its norm may be the next
/// number, the factor too, and the gradients are then equal to two roundings.
void check_clipped(TorchFile& torch, const std::string& name, Optimizer&& o) {
  const double roundings = is_float ? 2.5e-7 : 1e-15;
  const std::vector<double> limits{100, 1, inf, 0.01, 6, 0};
  std::vector<real> norms;
  for (std::size_t s = 0; s < limits.size(); ++s) {
    std::vector<real> clipped;
    give_gradients(o.parameters(), static_cast<Index>(s));
    norms.push_back(static_cast<real>(clip_grad_norm(o.parameters(), limits[s])));
    for (std::size_t k = 0; k < 4; ++k)
      for (const real g : o.parameters()[k].grad().to_vector()) clipped.push_back(g);
    check_within(torch[name + "/gradients_" + std::to_string(s)], clipped, roundings);
    CHECK(o.step() == 4);
    check_within(torch[name + "/step_" + std::to_string(s)], numbers(o), roundings, 1);
  }
  check_within(torch[name + "/norms"], norms, roundings);
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

TEST_CASE("optimizers: equal to torch after each step, with clipping and without") {
  TorchFile t;
  check_torch(t, "sgd", SGD(four(), {.lr = 0.1}));
  check_torch(t, "sgd_momentum", SGD(four(), {.lr = 0.1, .momentum = 0.9}));
  check_torch(t, "sgd_dampening", SGD(four(), {.lr = 0.1, .momentum = 0.9, .dampening = 0.3}));
  check_torch(t, "sgd_nesterov", SGD(four(), {.lr = 0.1, .momentum = 0.9, .nesterov = true}));
  check_torch(t, "sgd_weight_decay", SGD(four(), {.lr = 0.1, .weight_decay = 0.05}));
  const SGDOptions all{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.05, .nesterov = true};
  check_torch(t, "sgd_all", SGD(four(), all));
  check_torch(t, "adam", Adam(four()));
  check_torch(t, "adam_eps_betas", Adam(four(), {.lr = 0.02, .betas = {0.5, 0.9}, .eps = 1e-3}));
  check_torch(t, "adam_l2", Adam(four(), {.lr = 0.01, .betas = {0.8, 0.95}, .eps = 1e-6, .weight_decay = 0.1}));
  check_torch(t, "adamw", AdamW(four()));
  const AdamWOptions no_decay{.lr = 0.02, .betas = {0.6, 0.99}, .eps = 1e-4, .weight_decay = 0};
  check_torch(t, "adamw_eps_betas", AdamW(four(), no_decay));
  check_torch(t, "adamw_decay", AdamW(four(), {.lr = 0.01, .betas = {0.8, 0.95}, .weight_decay = 0.1}));
  check_clipped(t, "clip_sgd", SGD(six(), {.lr = 0.1, .momentum = 0.9, .weight_decay = 0.05}));
  check_clipped(t, "clip_adamw", AdamW(six(), {.lr = 0.01, .weight_decay = 0.1}));

  std::vector<real> norms;  // torch would then make the gradients 0 or NaN; mote leaves them (clip_test.cpp)
  for (const double bad : {inf, -inf, NaN}) {
    const SGD four_of(four());
    give_gradients(four_of.parameters(), 0);
    four_of.parameters()[2].set_grad(made(shapes[2], [&](Index i) { return i == 16 ? bad : gradient(0, 2, i); }));
    norms.push_back(static_cast<real>(clip_grad_norm(four_of.parameters(), 1)));
  }
  check_within(t["clip_not_finite/norms"], norms, 0);
  t.check_all_compared();
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
  for (int s = 0; s < 50; ++s) give(tiny, 1e-30), tiny.step();  // g far below eps: hardly a step, no blow-up
  CHECK(std::abs(only(tiny) - 1) < 1e-6);
  const double least = static_cast<double>(std::numeric_limits<real>::min());
  AdamW normal(one(1), {.betas = {0.5, 0.999}});
  give(normal, 4 * least), normal.step();  // a moment that is still a normal number is kept
  CHECK(static_cast<double>(normal.state().arrays.at("w.exp_avg").to_vector()[0]) == 2 * least);

  for (const double g : {inf, NaN}) {  // as PyTorch: it is clip_grad_norm that tells
    AdamW broken(one(1));
    give(broken, g), broken.step();
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
  CHECK_THROWS_WITH_AS(Adam(g, {.betas = {0.9, 1}}), "Adam: betas must be in [0, 1), not 0.9 and 1", Error);
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

}  // namespace mote::test::optimizer_test
