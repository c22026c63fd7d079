// What is made of names: summary, copy_weights, refused names, layer paths in errors.

#include "engine/ops/ops.h"
#include "nn/activation.h"
#include "nn/linear.h"
#include "nn/norm.h"
#include "nn/sequential.h"
#include "tests/tools.h"

namespace mote::test::module_names_test {
namespace {

struct Block : Layer<Block> {
  LayerNorm norm;
  Linear proj;
  Block(Index width, Generator& random) : norm(width), proj(width, width, random) {}
  Tensor forward(const Tensor& x) const { return proj(norm(x)); }
  void visit(Visitor& v) override {
    v("norm", norm);
    v("proj", proj);
  }
};

struct Model : Layer<Model> {
  std::vector<Block> h;
  Linear head;
  Parameter scale;
  Array seen = Array::zeros({2});
  Model(Index width, Generator& random) : head(width, 4, random, false), scale(Array::full({1}, 1)) {
    for (int i = 0; i < 2; ++i) h.emplace_back(width, random);
  }
  Tensor forward(const Tensor& x) const {
    Tensor y = x;
    for (const Block& b : h) y = b(y);
    return head(y) * scale;
  }
  void visit(Visitor& v) override {
    v("h", h);
    v("head", head);
    v("scale", scale);
    v.buffer("seen", seen);
  }
};

TEST_CASE("summary: one line per layer with parameters of its own") {
  Generator random(1);
  const Model m(4, random);
  m.h[1].proj.bias.set_trainable(false);
  CHECK(summary(m) ==
        "layer     type       parameters                            count\n"
        "(self)    Model      scale [1]                                 1\n"
        "h.0.norm  LayerNorm  weight [4], bias [4]                      8\n"
        "h.0.proj  Linear     weight [4, 4], bias [4]                  20\n"
        "h.1.norm  LayerNorm  weight [4], bias [4]                      8\n"
        "h.1.proj  Linear     weight [4, 4], bias [4] (frozen)         20\n"
        "head      Linear     weight [4, 4]                            16\n"
        "total     Model                                               73\n");
}

TEST_CASE("summary: a tied parameter is shown twice and counted once") {
  Generator random(1);
  Model m(4, random);
  m.head.weight = m.h[0].proj.weight;
  CHECK(summary(m).find("head      Linear     weight [4, 4] (tied)") != std::string::npos);
  CHECK(summary(m).find(" 57\n") != std::string::npos);
  CHECK(summary(ReLU()) ==
        "layer  type  parameters      count\n"
        "total  ReLU                      0\n");
}

template <class M>
struct Around : Layer<Around<M>> {
  void visit(Visitor&) override {}
};

TEST_CASE("type_name: without namespaces and template arguments' own") {
  Generator random(1);
  CHECK(Linear(1, 1, random).type_name() == "Linear");
  CHECK(Model(2, random).type_name() == "Model");
  CHECK(Around<Linear>().type_name() == "Around<mote::Linear>");
}

TEST_CASE("copy_weights: all problems at once, and nothing copied") {
  Generator random(1);
  Model from(4, random), to(4, random);
  to.h.emplace_back(4, random);
  to.head = Linear(4, 5, random);
  to.seen = Array::zeros({3});
  const Array before = copy_of(to.h[0].proj.weight.value());
  CHECK(error_of([&] { copy_weights(from, to); }) ==
        "copy_weights: the source does not fit this Model:"
        "\n  'h.2.norm.weight' is missing there"
        "\n  'h.2.norm.bias' is missing there"
        "\n  'h.2.proj.weight' is missing there"
        "\n  'h.2.proj.bias' is missing there"
        "\n  'head.weight' is [4, 4] there and [5, 4] here"
        "\n  'head.bias' is missing there"
        "\n  'seen' is [2] there and [3] here");
  CHECK(error_of([&] { copy_weights(to, from); }).find("\n  'head.bias' has no place here") != std::string::npos);
  CHECK(same_bits(to.h[0].proj.weight.value(), before));
}

/// Lists whatever a test gives it.
struct Odd : Layer<Odd> {
  std::vector<std::string> names;
  bool as_buffer;
  Parameter p{Array::zeros({1})}, q{Array::zeros({1})};
  Array a = Array::zeros({1});
  explicit Odd(std::vector<std::string> n, bool buffer = false) : names(std::move(n)), as_buffer(buffer) {}
  Tensor forward(const Tensor& x) const { return x; }
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
  Tensor forward(const Tensor& x) const { return x; }
  void visit(Visitor& v) override {
    v.stream("random", a);
    v.stream("random", b);
  }
};

TEST_CASE("visit: names with dots, empty and repeated names are refused") {
  CHECK(error_of([] { named_parameters(Odd({"a.b"})); }) ==
        "visit: 'a.b' is not a field's name: it must not be empty or contain a dot");
  CHECK(error_of([] { named_parameters(Odd({""})); }) ==
        "visit: '' is not a field's name: it must not be empty or contain a dot");
  CHECK(error_of([] { named_parameters(Odd({"w", "w"})); }) == "visit: two fields are named 'w'");
  CHECK(error_of([] { named_parameters(Odd({"w", "w"}, true)); }) == "visit: two fields are named 'w'");
  CHECK(error_of([] { named_buffers(Odd({"w", "w"}, true)); }) == "visit: two fields are named 'w'");
  CHECK(error_of([] { named_streams(TwoStreams()); }) == "visit: two fields are named 'random'");
  CHECK(error_of([] { named_parameters(Odd({"w", "b"}, true)); }) == "(no error)");
}

TEST_CASE("path: an error names the layer it happened in, from the outermost one called") {
  Generator random(1);
  const Model m(4, random);
  const Tensor wrong = Array::zeros({2, 5});
  const std::string text = error_of([&] { m(wrong); });
  CHECK(text.find("layer_norm: ") == 0);
  CHECK(text.find(" (in h.0.norm)") == text.size() - 14);
  CHECK(error_of([&] { m.h[1](wrong); }).find(" (in norm)") != std::string::npos);
  CHECK(error_of([&] { m.head(wrong); }).find(" (in Linear)") != std::string::npos);
  CHECK(current_layer().empty());  // the scopes are closed again
  CHECK(thread_context.op == nullptr);
  CHECK(m(Tensor(Array::zeros({2, 4}))).shape() == Shape{2, 4});
}

struct Hidden : Layer<Hidden> {  // forgets its child in visit()
  Linear child;
  explicit Hidden(Generator& random) : child(2, 2, random) {}
  Tensor forward(const Tensor& x) const { return child(x); }
  void visit(Visitor&) override {}
};

TEST_CASE("path: a layer that visit() does not list goes by its type") {
  Generator random(1);
  const Sequential net{Hidden(random)};
  CHECK(error_of([&] { net(Tensor(Array::zeros({1, 3}))); }).find(" (in 0.Linear)") != std::string::npos);
}

}  // namespace
}  // namespace mote::test::module_names_test
