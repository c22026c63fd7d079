// Rules that go wrong, and the two settings that watch a graph: MOTE_CHECK=finite and MOTE_DEBUG=1.

#include <functional>
#include <iostream>
#include <sstream>

#include "engine/array/random.h"
#include "engine/ops/ops.h"
#include "nn/module.h"
#include "tests/process.h"
#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::watched_graph_test {
namespace {

Tensor leaf(const std::vector<double>& values) {
  return Tensor(array({static_cast<Index>(values.size())}, values)).requires_grad_();
}

template <class Rule>
Tensor custom(OpName name, const Tensor& x, Rule rule) {
  Op op(name, x);
  return op.record(x.array(), std::move(rule));
}

TEST_CASE("graph: a rule that throws: the error arrives, the graph is freed, the next pass works") {
  const Leaks leaks;
  {
    const Tensor x = leaf({1, 2}), w = leaf({3, 4});
    Tensor before = x * w;
    before.retain_grad();
    const Tensor broken = custom("broken", before, [](const Array&, Grads&) { check(false, "cannot go back"); });
    Tensor y = sum(broken * w);
    y += sum(before);  // `before` has a part of its gradient when the rule throws
    REFUSES(y.backward());
    CHECK(leaks.nodes() == 5);  // two leaves and the three handles above: what lay between has gone
    CHECK((!w.grad().defined() && !x.grad().defined()));  // also of what is newer than the broken one
    CHECK(!before.grad().defined());
    CHECK(thread_context.op == nullptr);
    REFUSES(y.backward());
    CHECK(!NoGrad::active());
    sum(x * w).backward();
    CHECK(x.grad().to_vector() == std::vector<real>{3, 4});
  }
  CHECK(leaks.nodes() == 0);
  CHECK(leaks.bytes() == 0);
}

TEST_CASE("graph: a rule with a wrong shape or a wrong input is named") {
  const Tensor x = leaf({1, 2});
  const auto back = [&](auto rule) { return error_of([&] { sum(custom("mine", x, rule)).backward(); }); };
  CHECK(back([](const Array&, Grads& dx) { dx.add(0, Array::zeros({3})); }) ==
        "mine: [3] cannot be summed to [2]: a sum undoes broadcasting, and [2] does not broadcast to [3]");
  CHECK(back([](const Array& dy, Grads& dx) { dx.add(0, sum(dy)); }) ==
        "mine: [] cannot be summed to [2]: a sum undoes broadcasting, and [2] does not broadcast to []");
  CHECK(back([](const Array& dy, Grads& dx) { dx.add(1, dy); }) ==
        "mine: the backward rule asks for input 1 (counted from 0), but the number of inputs is 1");
  CHECK(back([](const Array&, Grads& dx) { (void)dx.wants(9); }) ==
        "mine: the backward rule asks for input 9 (counted from 0), but the number of inputs is 1");
  const std::string nothing = ", which requires a gradient: it must call dx.add(";
  CHECK(back([](const Array&, Grads&) {}) ==
        "mine: the backward rule sends nothing to input 0" + nothing + "0, ...), if need be with zeros");
  const Tensor z = leaf({3, 4});
  const auto second = [&](const Tensor& b) {
    return error_of([&] {
      Op op("pair", x, b);
      op.record(x.array(), [](const Array&, Grads& dx) { dx.add(0, Array::zeros({2})); }).backward(x.array());
    });
  };
  CHECK(second(z).starts_with("pair: the backward rule sends nothing to input 1" + nothing + "1, ...)"));
  CHECK(second(z.detach()) == "(no error)");
  CHECK(x.grad().to_vector() == std::vector<real>{0, 0});
}

// A rule cannot hold the graph it is part of: it captures nothing, and what it keeps owns no node.
struct Plain {
  Index n;
  double x;
};
static_assert(is_saveable<Array> && is_saveable<Mask> && is_saveable<IntArray> && is_saveable<Shape>);
static_assert(is_saveable<real> && is_saveable<Plain> && is_saveable<std::vector<Array>> &&
              is_saveable<std::optional<Array>>);
static_assert(is_saveable<kernels::Unary*>);
static_assert(!is_saveable<Tensor> && !is_saveable<Parameter> && !is_saveable<NodePtr> && !is_saveable<Generator>);
static_assert(!is_saveable<std::shared_ptr<Tensor>> && !is_saveable<std::vector<Tensor>> && !is_saveable<Tensor*>);
static_assert(!is_saveable<std::function<void()>> && !is_saveable<std::optional<Tensor>>);

struct Inner : Layer<Inner> {
  Tensor forward(const Tensor& x) const { return log(x * real(0)); }
  void visit(Visitor&) override {}
};
struct Outer : Layer<Outer> {
  Inner inner;
  Tensor forward(const Tensor& x) const { return inner(x); }
  void visit(Visitor& v) override { v("inner", inner); }
};

TEST_CASE("graph: MOTE_CHECK=finite names the first NaN and the first infinity") {
  const Tensor zero = leaf({0, 1});
  CHECK(error_of([&] { sum(sqrt(zero)).backward(); }) == "(no error)");  // off by default
  const Setting on("MOTE_CHECK", "finite");
  REFUSES(log(zero));
  REFUSES(div(zero, zero * real(0)));
  REFUSES(log(zero - real(1)));
  REFUSES(exp(leaf({1, 2000})));
  REFUSES(add(Tensor(array({1}, {2})), Tensor(nan)));
  CHECK(error_of([&] { mul(Tensor(inf), zero + real(1)); }) == "(no error)");  // an infinity from an infinity
  CHECK(error_of([&] { (zero * real(3)).backward(array({2}, {inf, 1})); }) == "(no error)");
  REFUSES(sum(sqrt(zero)).backward());
  const Tensor poisoned = custom("poisoned", zero, [](const Array& dy, Grads& dx) { dx.add(0, dy * nan); });
  REFUSES(sum(poisoned).backward());
  const Tensor part = slice(zero, 0, 0, 1);  // sends its gradient to a part of its input's
  REFUSES(part.backward(array({1}, {nan})));
}

TEST_CASE("graph: MOTE_CHECK=finite names the layer, forward and backward") {
  const Outer net;
  const Tensor x = Array::full({3, 2}, 1);
  const Setting on("MOTE_CHECK", "finite");
  REFUSES(net(x));
  struct Root : Layer<Root> {
    Tensor forward(const Tensor& t) const { return sqrt(t); }
    void visit(Visitor&) override {}
  };
  const Root root;
  const Tensor zero = leaf({0});
  const Tensor y = root(zero);
  REFUSES(y.backward());
}

TEST_CASE("graph: MOTE_CHECK=finite lets masked_fill make its infinities, and what follows work with them") {
  const Setting on("MOTE_CHECK", "finite");
  const Tensor x = leaf({1, 2, 3});
  const Mask blocked = x > Tensor(real(2));
  const Tensor y = softmax(masked_fill(x, blocked, -inf), 0);
  sum(y * y).backward();
  CHECK(y.to_vector()[2] == 0);
  CHECK(x.grad().to_vector()[2] == 0);
}

TEST_CASE("graph: MOTE_DEBUG=1 prints one line per op, forward and backward, and nothing without it") {
  std::ostringstream lines;
  std::streambuf* const before = std::cerr.rdbuf(lines.rdbuf());
  {
    const Setting on("MOTE_DEBUG", "1");
    const Tensor x = leaf({1, 2});
    sum(x * x).backward();
  }
  sum(leaf({1, 2})).backward();
  std::cerr.rdbuf(before);
  CHECK(lines.str() == "mul([2], [2]) -> [2]\nsum([2]) -> []\nbackward sum []\nbackward mul [2]\n");
}

}  // namespace
}  // namespace mote::test::watched_graph_test
