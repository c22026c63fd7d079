// What every module can do: names, ties, clone, move, train/eval, freezing, refused names, summary, copy_weights.
#include "nn/module.h"

#include "engine/ops/ops.h"
#include "nn/activation.h"
#include "nn/dropout.h"
#include "nn/embedding.h"
#include "nn/linear.h"
#include "nn/norm.h"
#include "nn/sequential.h"
#include "tests/module_tools.h"
#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::module_test {
namespace {

/// Two layers in a list, a norm that may be there or not, a buffer; the head is tied to the embedding.
struct Small : Layer<Small> {
  Embedding wte;
  std::vector<Linear> h;
  std::optional<LayerNorm> ln;
  Dropout drop;
  Array steps = Array::zeros({1});
  Linear head;

  explicit Small(Generator& random, bool norm = true)
      : wte(5, 3, random), drop(0.5, random), head(3, 5, random, false) {
    for (int i = 0; i < 2; ++i) h.push_back(Linear(3, 3, random));
    if (norm) ln.emplace(3);
    head.weight = wte.weight;
  }
  Tensor forward(const IntArray& ids) const {
    Tensor x = wte(ids);
    for (const Linear& layer : h) x = layer(x);
    return head(ln ? (*ln)(x) : x);
  }
  void visit(Visitor& v) override {
    v("wte", wte);
    v("h", h);
    v("ln", ln);
    v("drop", drop);
    v.buffer("steps", steps);
    v("head", head);
  }
};

const IntArray ids = ints({2});

std::vector<std::string> names_of(const Module& m, bool ties = false) {
  std::vector<std::string> names;
  for (const NamedParameter& p : named_parameters(m, ties)) names.push_back(p.name);
  return names;
}

TEST_CASE("module: names in visit order, a tied parameter once under its first name") {
  Generator random(1);
  const Small m(random);
  const std::vector<std::string> once{"wte.weight", "h.0.weight", "h.0.bias", "h.1.weight",
                                      "h.1.bias",   "ln.weight",  "ln.bias"};
  std::vector<std::string> all = once;
  all.push_back("head.weight");
  CHECK(names_of(m) == once);
  CHECK(names_of(m, true) == all);
  CHECK(parameters(m).size() == 7);
  CHECK(parameter_count(m) == 15 + 2 * (9 + 3) + 6);
  REQUIRE(named_buffers(m).size() == 1);
  CHECK(named_buffers(m)[0].name == "steps");
  static_assert(std::is_same_v<decltype(named_buffers(m)[0].array), const Array*>, "a const module stays as it is");
  CHECK(named_buffers(m)[0].array == &m.steps);
  Small changeable(random);
  named_buffers(changeable)[0].array->mutate()[0] = 3;
  CHECK(changeable.steps.at({0}) == 3);
  CHECK(names_of(Small(random, false)).size() == 5);  // a child that is not there has no names
  std::vector<std::string> layers;
  for (const NamedModule& layer : named_modules(m)) layers.push_back(layer.name);
  CHECK(layers == std::vector<std::string>{"", "wte", "h.0", "h.1", "ln", "drop", "head"});
  CHECK(named_modules(m)[0].module == &m);
  CHECK(named_modules(m)[3].module == &m.h[1]);
}

/// Two dropouts on one stream, a third on its own.
struct Streams : Layer<Streams> {
  Dropout a, b;
  Generator own;
  Streams(const Generator& random, std::uint64_t seed) : a(0.5, random), b(0.5, random), own(seed) {}
  void visit(Visitor& v) override {
    v("a", a);
    v("b", b);
    v.stream("own", own);
  }
};

std::vector<std::string> names_of(const std::vector<NamedStream>& streams) {
  std::vector<std::string> names;
  for (const NamedStream& s : streams) names.push_back(s.name);
  return names;
}

TEST_CASE("module: streams in visit order, one that several layers draw from once under its first name") {
  const Generator random(1);
  const Streams m(random, 2);
  const std::vector<NamedStream> once = named_streams(m), all = named_streams(m, true);
  CHECK(names_of(once) == std::vector<std::string>{"a.random", "own"});
  CHECK(names_of(all) == std::vector<std::string>{"a.random", "b.random", "own"});
  CHECK(all[0].stream.same_as(random));
  CHECK(all[1].stream.same_as(random));
  CHECK(!all[2].stream.same_as(random));
  CHECK(named_streams(m.clone())[1].stream.same_as(m.own));
}

TEST_CASE("module: a tied cell gets both gradients and is frozen as one") {
  Generator random(1);
  const Small m(random);
  CHECK(m.head.weight.same_as(m.wte.weight));
  sum(m(ids)).backward();
  const std::vector<real> g = m.wte.weight.grad().to_vector();
  for (std::size_t row = 0; row < 5; ++row) CHECK(g[row * 3] != 0);  // the head's part; the embedding alone has row 2
  m.head.weight.set_trainable(false);
  CHECK(!m.wte.weight.trainable());
}

TEST_CASE("module: apply reaches every module, what it contains before itself") {
  Generator random(1);
  Small m(random);
  std::vector<const Module*> reached;
  apply(m, [&](Module& each) { reached.push_back(&each); });
  CHECK(reached == std::vector<const Module*>{&m.wte, &m.h[0], &m.h[1], &*m.ln, &m.drop, &m.head, &m});
}

TEST_CASE("module: a clone keeps ties, modes and what is frozen, each of its own") {
  Generator random(1);
  Small m(random);
  m.eval();
  m.h[1].bias.set_trainable(false);
  const Index cells = live_nodes();
  {
    Small copy = m.clone();
    CHECK(live_nodes() == cells + 7);
    CHECK(named_modules(copy).size() == 7);
    CHECK((copy.head.weight.same_as(copy.wte.weight) && !copy.wte.weight.same_as(m.wte.weight)));
    CHECK((!copy.training() && !copy.drop.training() && !copy.h[1].bias.trainable()));
    copy.train();
    copy.h[1].bias.set_trainable(true);
    copy.steps.mutate()[0] = 5;
    CHECK((!m.training() && !m.h[1].bias.trainable() && m.steps.at({0}) == 0));
    sum(copy(ids)).backward();
    CHECK((copy.wte.weight.grad().defined() && !m.wte.weight.grad().defined()));
  }
  CHECK(live_nodes() == cells);
}

TEST_CASE("module: copying is an error that names clone()") {
  Generator random(1);
  const Linear layer(2, 2, random);
  const auto says = [](const std::string& type) {
    return "copy: this " + type +
           " was passed or assigned by value, and its copy would share its parameters: write m.clone() for an "
           "independent one, std::move(m) to hand it over, or pass a reference";
  };
  const std::string text = says("Linear");
  const Index cells = live_nodes();
  CHECK(error_of([&] { const Linear copy = layer; }) == text);
  CHECK(error_of([&] { std::vector<Linear>(3, layer); }) == text);
  CHECK(error_of([&] { const Sequential s = Sequential{ReLU()}, t = s; }) == says("Sequential"));
  CHECK(error_of([&] {
          const auto f = [layer] { return layer.weight.numel(); };
          f();
        }) == text);
  CHECK(live_nodes() == cells);
  (void)layer.clone();
  CHECK(error_of([&] { const Linear copy = layer; }) == text);  // the permission ended with clone()
}

TEST_CASE("module: after a move the handles an optimizer took still are the parameters") {
  Generator random(1);
  auto m = std::make_unique<Small>(random);
  m->eval();
  const std::vector<Parameter> held = parameters(*m);
  Small moved = std::move(*m);
  m.reset();
  CHECK(!moved.training());
  sum(moved(ids)).backward();
  for (const Parameter& p : held) CHECK(p.grad().defined());
  held[0].mutate()[0] = 9;
  CHECK(moved.wte.weight.value().data()[0] == 9);
  Dropout trained(0.5, random), evaluated(0.5, random);
  evaluated.eval();
  trained = std::move(evaluated);
  CHECK(!trained.training());
  CHECK(error_of([&] { evaluated(ones({1})); }) ==  // a layer without parameters, too
        "layer: this Dropout was moved from: use the one that it was moved to");
  REFUSES((void)evaluated.clone());
}

TEST_CASE("module: a copy made during an Evaluation has the mode that comes after it; nothing is replaced meanwhile") {
  Generator random(1);
  Dropout layer(0.5, random);
  const auto replace = [&] { layer = Dropout(0.1, random); };
  {
    const Evaluation evaluation(layer);
    CHECK(layer.clone().training());
    REFUSES(replace());
    CHECK(layer.p == 0.5);
  }
  CHECK(layer.training());
  replace();
  CHECK(layer.p == 0.1);
}

TEST_CASE("module: one that is moved to itself says so and keeps all it has") {
  Generator random(1);
  Small m(random);
  const std::vector<std::string> before = names_of(m);
  Small& same = m;
  REFUSES(m = std::move(same));
  CHECK(names_of(m) == before);
  std::swap(m, same);  // of a third that holds it meanwhile
  CHECK(names_of(m) == before);
}

TEST_CASE("module: frozen parameters are constants; without_gradient names the trainable ones the loss missed") {
  Generator random(1);
  Small m(random);
  const auto loss = [&m] { return sum(m(ids) * Tensor(random_array({1, 5}, 1))); };
  CHECK(without_gradient(m) == names_of(m));
  set_trainable(m.h[0], false);
  loss().backward();
  CHECK(!m.h[0].weight.grad().defined());
  CHECK(m.h[1].weight.grad().defined());
  CHECK(without_gradient(m).empty());
  zero_grad(m);
  CHECK(!m.wte.weight.grad().defined());
  sum(m.h[1](Tensor(Array::zeros({1, 3})))).backward();
  CHECK(without_gradient(m) == std::vector<std::string>{"wte.weight", "ln.weight", "ln.bias"});
  set_trainable(m, false);
  CHECK(!loss().requires_grad());
  set_trainable(m, true);
  CHECK(loss().requires_grad());
}

/// Lists whatever a test gives it.
struct Odd : Layer<Odd> {
  std::vector<std::string> names;
  bool as_buffer;
  Parameter p{Array::zeros({1})}, q{Array::zeros({1})};
  Array a = Array::zeros({1});
  explicit Odd(std::vector<std::string> n, bool buffer = false) : names(std::move(n)), as_buffer(buffer) {}
  void visit(Visitor& v) override {
    v(names[0], p);
    if (names.size() < 2) return;
    if (as_buffer)
      v.buffer(names[1], a);
    else
      v(names[1], q);
  }
};

struct TwoStreams : Layer<TwoStreams> {
  Generator a, b;
  void visit(Visitor& v) override {
    v.stream("random", a);
    v.stream("random", b);
  }
};

TEST_CASE("visit: names with dots, empty and repeated names are refused") {
  for (const char* const name : {"a.b", ""})
    CHECK(error_of([=] { named_parameters(Odd({name})); }) ==
          "visit: '" + std::string(name) + "' is not a field's name: it must not be empty or contain a dot");
  const std::string twice = "visit: two fields are named 'w': each needs a name of its own";
  CHECK(error_of([] { named_parameters(Odd({"w", "w"})); }) == twice);
  CHECK(error_of([] { named_parameters(Odd({"w", "w"}, true)); }) == twice);
  Odd two_buffers({"w", "w"}, true);
  CHECK(error_of([&] { named_buffers(two_buffers); }) == twice);
  REFUSES(named_streams(TwoStreams()));
  CHECK(error_of([] { named_parameters(Odd({"w", "b"}, true)); }) == "(no error)");
}

TEST_CASE("summary: one line per layer with parameters of its own; a tied one is shown twice and counted once") {
  Generator random(1);
  const Small m(random);
  m.h[1].bias.set_trainable(false);
  CHECK(summary(m) ==
        "layer  type       parameters                            count\n"
        "wte    Embedding  weight [5, 3]                            15\n"
        "h.0    Linear     weight [3, 3], bias [3]                  12\n"
        "h.1    Linear     weight [3, 3], bias [3] (frozen)         12\n"
        "ln     LayerNorm  weight [3], bias [3]                      6\n"
        "head   Linear     weight [5, 3] (tied)                      0\n"
        "total  Small                                               45\n");
  CHECK(summary(Odd({"w", "b"})) ==
        "layer   type  parameters        count\n"
        "(self)  Odd   w [1], b [1]          2\n"
        "total   Odd                         2\n");
  CHECK(summary(ReLU()) ==
        "layer  type  parameters      count\n"
        "total  ReLU                      0\n");
}

template <class M>
struct Around : Layer<Around<M>> {
  void visit(Visitor&) override {}
};

TEST_CASE("type_name: without namespaces and template arguments' own") {
  CHECK(ReLU().type_name() == "ReLU");
  CHECK(TwoStreams().type_name() == "TwoStreams");
  CHECK(Around<Linear>().type_name() == "Around<mote::Linear>");
}

TEST_CASE("copy_weights: all problems at once, and nothing copied") {
  Generator random(1);
  Small from(random, false), to(random);
  to.h.emplace_back(3, 3, random);
  to.head = Linear(3, 4, random);
  to.steps = Array::zeros({3});
  const Array before = copy_of(to.h[0].weight.value());
  REFUSES(copy_weights(from, to));
  REFUSES(copy_weights(to, from));
  CHECK(same_bits(to.h[0].weight.value(), before));
}

}  // namespace
}  // namespace mote::test::module_test
