// Muon against its formula in double; which parameters it orthogonalizes; the promises of every
// optimizer.
#include "train/optim/muon.h"

#include "models/mlp.h"
#include "nn/embedding.h"
#include "nn/linear.h"
#include "tests/sentences.h"
#include "tests/tools.h"
#include "tests/train/optim/optimizer_cases.h"

namespace mote::test::muon_test {
namespace {

using Values = std::vector<double>;

Array of(const Shape& shape, const Values& x) {
  return made(shape, [&](Index i) { return x[static_cast<std::size_t>(i)]; });
}
Values doubles(const Array& x) {
  Values y;
  for (const real v : x.to_vector()) y.push_back(static_cast<double>(v));
  return y;
}
MuonGroups matrix(const Parameter& w) { return {{{{{"w", w}}}}, {}}; }

/// Parameters of many shapes: matrices wide, tall, of one row, one column, one element and none; and others.
MuonGroups many(const std::vector<Shape>& more = {}) {
  MuonGroups groups{{{{}, 0.1}}, {{{}, 0.1}, {{}, 0.0}}};
  std::vector<Shape> all{{5, 7}, {17, 3}, {1, 4}, {6, 1}, {1, 1}, {0, 3}, {8, 8}};
  all.insert(all.end(), more.begin(), more.end());
  Index k = 0;
  const auto add = [&](ParameterGroup& group, const Shape& shape) {
    group.parameters.push_back({"p" + std::to_string(k), Parameter(made(shape, [&](Index i) { return start(k, i); }))});
    ++k;
  };
  for (const Shape& shape : all) add(groups.matrices[0], shape);
  add(groups.others[0], {5, 4});
  add(groups.others[1], {9});
  return groups;
}
void give_gradients(const Optimizer& o, Index step, double scale = 1) {
  Index k = 0;
  for (const Parameter& p : o.parameters()) {
    p.set_grad(made(p.shape(), [&](Index i) { return scale * gradient(step, k, i * i + i); }));
    ++k;
  }
}

/// The formulas of train/optim/muon.h, element by element.
struct Formula {
  Index rows, columns;
  Values w, m;
  Formula(const Shape& shape, const Values& start)
      : rows(shape[0]), columns(shape[1]), w(start), m(start.size(), 0.0) {}
  static double at(const Values& x, Index row, Index width, Index column) {
    return x[static_cast<std::size_t>(row * width + column)];
  }
  void step(const Values& g, double lr, double momentum, double decay) {
    Values u(g.size());
    double squares = 0;
    for (std::size_t i = 0; i < g.size(); ++i) {
      m[i] = momentum * m[i] + (1 - momentum) * g[i];
      u[i] = momentum * m[i] + (1 - momentum) * g[i];
      squares += u[i] * u[i];
    }
    for (double& x : u) x /= std::max(std::sqrt(squares), 1e-7);
    for (int k = 0; k < 5; ++k) {
      Values gram(static_cast<std::size_t>(rows * rows)), next(u.size());
      for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < rows; ++j)
          for (Index c = 0; c < columns; ++c)
            gram[static_cast<std::size_t>(i * rows + j)] += at(u, i, columns, c) * at(u, j, columns, c);
      for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < rows; ++j) {
          double p = (i == j ? 3.4445 : 0) - 4.7750 * at(gram, i, rows, j);
          for (Index c = 0; c < rows; ++c) p += 2.0315 * at(gram, i, rows, c) * at(gram, c, rows, j);
          for (Index c = 0; c < columns; ++c)
            next[static_cast<std::size_t>(i * columns + c)] += p * at(u, j, columns, c);
        }
      u = next;
    }
    const double size = 0.2 * std::sqrt(static_cast<double>(std::max(rows, columns)));
    for (std::size_t i = 0; i < w.size(); ++i) w[i] -= lr * (size * u[i] + decay * w[i]);
  }
};

TEST_CASE("Muon: its formula in double, matrices of all shapes; AdamW for the others, bit for bit") {
  MuonGroups groups = many();
  groups.matrices[0].lr_scale = 0.5;
  Muon o(groups, {.lr = 0.02, .momentum = 0.9, .betas = {0.8, 0.95}});
  MuonGroups twin = many();
  AdamW adamw(twin.others, {.lr = 0.02, .betas = {0.8, 0.95}});
  std::vector<Formula> formulas;
  for (const NamedParameter& p : groups.matrices[0].parameters)
    formulas.emplace_back(p.parameter.shape(), doubles(p.parameter.value()));
  for (Index s = 0; s < 6; ++s) {
    if (s == 4)
      for (Optimizer* each : std::initializer_list<Optimizer*>{&o, &adamw}) each->set_learning_rate(0.01);
    give_gradients(o, s);
    for (std::size_t i = 0; i < 2; ++i) adamw.parameters()[i].set_grad(o.parameters()[formulas.size() + i].grad());
    for (std::size_t k = 0; k < formulas.size(); ++k)
      formulas[k].step(doubles(o.parameters()[k].grad()), o.learning_rate() / 2, 0.9, 0.1);
    o.step();
    adamw.step();
    for (std::size_t k = 0; k < formulas.size(); ++k) {
      const Values got = doubles(o.parameters()[k].value());
      for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - formulas[k].w[i]) < 3e-6);
    }
    for (std::size_t i = 0; i < 2; ++i)
      CHECK(same_bits(o.parameters()[formulas.size() + i].value().to_vector(),
                      adamw.parameters()[i].value().to_vector()));
  }
}

TEST_CASE("Muon: whatever the size of the gradient, the step is as large; without one only the decay") {
  const auto after = [](double scale, double decay) {
    const Parameter w(made({6, 9}, [](Index i) { return start(1, i); }));
    Muon o(matrix(w), {.lr = 0.1, .weight_decay = decay});
    give_gradients(o, 0, scale);
    o.step();
    return doubles(w.value());
  };
  const Values once = after(1, 0), more = after(1024, 0), less = after(1.0 / 1024, 0), none = after(0, 0.5);
  double squares = 0;
  for (std::size_t i = 0; i < once.size(); ++i) {
    CHECK((once[i] == more[i] && std::abs(once[i] - less[i]) < 1e-6));
    const double before = start(1, static_cast<Index>(i));
    CHECK(none[i] == doctest::Approx(0.95 * before));
    squares += (once[i] - before) * (once[i] - before);
  }
  const double rms = std::sqrt(squares / 54) / 0.1;  // of a step by lr 1: as AdamW's
  CHECK((rms > 0.15 && rms < 0.25));
  for (const double broken : {std::numeric_limits<double>::infinity(), std::nan("")}) {  // it is clipping that tells
    const Parameter w(Array::full({2, 2}, 1));
    Muon o(matrix(w));
    w.set_grad(of({2, 2}, {1, 1, broken, 1}));
    o.step();
    CHECK(std::isnan(static_cast<double>(w.value().at({1, 0}))));
  }
}

TEST_CASE("Muon: equal bits for every number of threads and every instruction set; a warm step needs no new memory") {
  const auto run = [] {
    Muon o(many({{96, 200}, {300, 64}}), {.lr = 0.02});
    for (Index s = 0; s < 3; ++s) {
      give_gradients(o, s);
      o.step();
    }
    const MemoryStats before = memory_stats();
    o.step();
    CHECK(memory_stats().live_blocks == before.live_blocks);
    return numbers(o);
  };
  const std::vector<real> expected = run();
  on_all_hardware({1, 2, 7}, [&] { CHECK(same_bits(run(), expected)); });
}

TEST_CASE("muon_groups: tables, the head and what is no matrix are AdamW's") {
  GPTConfig config = least_gpt();
  for (const bool tied : {true, false}) {
    config.tie_weights = tied;
    const MuonGroups groups = muon_groups(GPT(config, Generator(1)), 0.1);
    CHECK(names_of(groups.matrices) == gpt_matrices);
    CHECK(names_of(groups.others) == "transformer.wte.weight+ transformer.wpe.weight+ " +
                                         std::string(tied ? "" : "lm_head.weight+ ") + gpt_vectors);
  }
  const MuonGroups mlp = muon_groups(MLP({3, 8, 8, 2}, Generator(1)), 0.0);
  CHECK(names_of(mlp.matrices) == "layers.0.weight layers.1.weight ");
  CHECK(describe(Muon(muon_groups(GPT(config, Generator(1)), 0.1)).groups()) ==
        "decayed (weight_decay 0.1): 4 tensors, 192 numbers\ndecayed (weight_decay 0.1): 3 tensors, 56 numbers\n"
        "not decayed: 10 tensors, 60 numbers\n");
}

/// Matrices of its own before, between and after its children.
struct Mixed : Layer<Mixed> {
  Parameter first{Array::full({2, 3}, 1)}, middle{Array::full({4, 3}, 1)}, last{Array::full({3, 3}, 1)};
  Embedding table{5, 3, Generator(1)};
  Linear inner{3, 3, Generator(1)};
  void visit(Visitor& v) override {
    v("first", first);
    v("table", table);
    v("middle", middle);
    v("inner", inner);
    v("last", last);
  }
  Tensor forward(const Tensor& x) const { return x; }
};

TEST_CASE("muon_groups: matrices of the model itself, wherever its children stand") {
  const MuonGroups mixed = muon_groups(Mixed(), 0.1);
  CHECK(names_of(mixed.matrices) == "first+ middle+ inner.weight+ ");
  CHECK(names_of(mixed.others) == "table.weight+ last+ inner.bias ");
  const MuonGroups linear = muon_groups(Linear(2, 3, Generator(1)), 0.1);
  CHECK((names_of(linear.matrices) == "" && names_of(linear.others) == "weight+ bias "));
  const MuonGroups table = muon_groups(Embedding(2, 3, Generator(1)), 0.1);
  CHECK((names_of(table.matrices) == "" && names_of(table.others) == "weight+ "));
}

TEST_CASE("Muon: errors") {
  const Parameter w(Array::full({2, 2}, 1)), v(Array::full({3}, 1));
  REFUSES(Muon({{{{{"v", v}}}}, {}}));
  REFUSES(Muon({{{{{"a", w}}}}, {{{{"b", w}}}}}));
  REFUSES(Muon(matrix(w), {.momentum = 1}));
  REFUSES(Muon(matrix(w), {.ns_steps = 0}));
  REFUSES(Muon(matrix(w), {.betas = {0.9, 1}}));
  for (const double bad : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    CHECK_THROWS_AS(Muon(matrix(w), {.lr = bad}), Error);
    CHECK_THROWS_AS(Muon(matrix(w), {.momentum = bad}), Error);
    CHECK_THROWS_AS(Muon(matrix(w), {.eps = bad}), Error);
    CHECK_THROWS_AS(Muon(matrix(w), {.weight_decay = bad}), Error);
  }
}

}  // namespace
}  // namespace mote::test::muon_test
