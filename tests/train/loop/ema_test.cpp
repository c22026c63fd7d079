// EMA against its formula; the scope with its weights, left in every way; its place in a checkpoint.
#include "train/loop/ema.h"

#include "tests/sentences.h"
#include "tests/temp_folder.h"
#include "tests/tools.h"
#include "tests/train/optim/optimizer_cases.h"
#include "train/keep/checkpoint.h"
#include "train/optim/sgd.h"

namespace mote::test::ema_test {
namespace {

/// Two parameters, one of them long enough for several tasks, and a buffer.
struct Pair : Layer<Pair> {
  Parameter a, b;
  Array table;
  explicit Pair(double first = 1)
      : a(Array::full({2}, static_cast<real>(first))),
        b(made({3, 16384}, [](Index i) { return start(1, i); })),
        table(Array::full({2}, 7)) {}
  Tensor forward() const { return a; }
  void visit(Visitor& v) override {
    v("a", a);
    v("b", b);
    v.buffer("table", table);
  }
};
void set(const Parameter& p, double x) { p.set(Array::full(p.shape(), static_cast<real>(x))); }
double average_of(const EMA& ema) { return static_cast<double>(ema.averages()[0].parameter.value().at({0})); }

TEST_CASE("EMA: the first update copies, every other one keeps `decay` of the average") {
  const Pair m(1);
  EMA ema(m, {.decay = 0.75});
  CHECK((average_of(ema) == 1 && ema.updates() == 0));
  set(m.a, 8);
  ema.update();
  CHECK(average_of(ema) == 8);
  set(m.a, 4);
  ema.update();
  CHECK(average_of(ema) == 7);
  set(m.a, -1);
  ema.update();
  CHECK((average_of(ema) == 5 && ema.updates() == 3));
  CHECK(m.a.value().at({0}) == -1);

  for (const double decay : {0.0, 0.25, 0.5, 0.9, 0.999}) {
    EMA other(m, {.decay = decay});
    double expected = 0;
    for (Index s = 0; s < 50; ++s) {
      const double x = gradient(s, 3, 5);
      set(m.a, x);
      other.update();
      expected = s == 0 ? x : decay * expected + (1 - decay) * x;
      CHECK(std::abs(average_of(other) - expected) < 1e-6);
    }
  }
}

TEST_CASE("EMA: of a weight that is a view of an array, element by element") {
  const Pair m;
  const Array x = random_array({16384, 3}, 1).transpose(0, 1);
  EMA ema(m, {.decay = 0.5});
  m.b.set(Array::zeros(x.shape()));
  ema.update();
  m.b.set(x);
  ema.update();
  CHECK(ema.averages()[1].parameter.value().to_vector() == (x * real(0.5)).to_vector());
}

TEST_CASE("EMA: with warmup an update keeps at most (1 + n) / (10 + n), and `decay` from then on") {
  const Pair m(1);
  EMA ema(m, {.decay = 0.9, .warmup = true});
  double expected = 0;
  for (Index n = 0; n < 200; ++n) {
    const double steps = static_cast<double>(n), x = gradient(n, 3, 5);
    const double kept = n == 0 ? 0 : n < 80 ? (1 + steps) / (10 + steps) : 0.9;  // 81 / 90 is 0.9
    set(m.a, x);
    ema.update();
    expected = kept * expected + (1 - kept) * x;
    CHECK(std::abs(average_of(ema) - expected) < 1e-6);
  }
}

TEST_CASE("EMA: equal bits for every number of threads and every instruction set; no new memory") {
  const auto run = [] {
    const Pair m;
    EMA ema(m, {.decay = 0.9});
    SGD o(all_parameters(m), {.lr = 0.1});
    for (Index s = 0; s < 4; ++s) {
      for (const Parameter& p : o.parameters()) p.set_grad(made(p.shape(), [&](Index i) { return gradient(s, 1, i); }));
      o.step();
      ema.update();
    }
    const MemoryStats before = memory_stats();
    ema.update();
    ema.update();
    CHECK(memory_stats().live_blocks == before.live_blocks);
    return ema.averages()[1].parameter.value();
  };
  const Array expected = run();
  on_all_hardware({1, 2, 7}, [&] { CHECK(same_bits(run(), expected)); });
}

TEST_CASE("AveragedWeights: the averages, and the weights again to the bit, also after an exception") {
  const Pair m(1);
  EMA ema(m, {.decay = 0.5});
  ema.update();
  set(m.a, 3);
  ema.update();
  const Array a = m.a.value(), b = m.b.value();
  const auto back = [&] { return m.a.value().data() == a.data() && m.b.value().data() == b.data(); };
  {
    const AveragedWeights averaged(ema);
    CHECK(m.a.value().at({1}) == 2);
    m.a.mutate()[0] = 9;  // is lost
    REFUSES(const AveragedWeights twice(ema));
    const std::string in_use = "EMA: the model has its averaged weights now: end the scope of AveragedWeights first";
    CHECK(error_of([&] { ema.update(); }) == in_use);
    CHECK(error_of([&] { ema.averages(); }) == in_use);
  }
  CHECK(back());
  CHECK((average_of(ema) == 2 && ema.updates() == 2));
  try {
    const AveragedWeights averaged(ema);
    CHECK_FALSE(back());
    throw Error("out of the middle");
  } catch (const Error&) {
  }
  CHECK(back());
  const AveragedWeights again(ema);
  CHECK(m.a.value().at({0}) == 2);
}

TEST_CASE("EMA: a checkpoint keeps it; its averages load as weights") {
  const TempFolder folder;
  Pair m(1);
  EMA ema(m, {.decay = 0.5});
  ema.update();
  set(m.a, 3);
  ema.update();
  Checkpoint run;
  run.add("model", m);
  run.add("ema", ema);
  run.save(folder.path("run"));

  Pair other(5);
  EMA loaded(other, {.decay = 0.5});
  Checkpoint same;
  same.add("model", other);
  same.add("ema", loaded);
  same.load(folder.path("run"));
  CHECK((average_of(loaded) == 2 && loaded.updates() == 2 && other.a.value().at({0}) == 3));
  for (const auto& [n, e] : {std::pair{&m, &ema}, {&other, &loaded}}) {
    set(n->a, 10);
    e->update();
  }
  CHECK(average_of(loaded) == average_of(ema));
  {
    const AveragedWeights averaged(ema);
    CHECK_THROWS_AS(run.save(folder.path("no")), Error);
    CHECK_THROWS_AS(run.load(folder.path("run")), Error);
  }

  Pair averages(5);
  load_weights(averages, folder.path("run"), "ema");
  CHECK((averages.a.value().at({0}) == 2 && averages.table.at({0}) == 7));
  GPT gpt(least_gpt(), Generator(1));
  CHECK_THROWS_AS(load_weights(gpt, folder.path("run"), "ema"), Error);

  EMA another(other, {.decay = 0.75});
  Checkpoint different;
  different.add("model", other);
  different.add("ema", another);
  REFUSES(different.load(folder.path("run")));
  CHECK(another.updates() == 0);
}

TEST_CASE("EMA: errors") {
  const Pair m;
  REFUSES(EMA(m, {.decay = 1}));
  CHECK_THROWS_AS(EMA(m, {.decay = -0.1}), Error);
  CHECK_THROWS_AS(EMA(m, {.decay = std::nan("")}), Error);
  struct Nothing : Layer<Nothing> {
    Tensor forward() const { return {}; }
    void visit(Visitor&) override {}
  };
  REFUSES(EMA(Nothing(), {}));
}

}  // namespace
}  // namespace mote::test::ema_test
