// Graphs apart from ops: how gradients add up, what is refused and in which words, known answers.

#include <thread>

#include "engine/ops/ops.h"
#include "engine/watch/graph_text.h"
#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::graph_test {
namespace {

Tensor leaf(const std::vector<double>& values) {
  return Tensor(array({static_cast<Index>(values.size())}, values)).requires_grad_();
}

/// x, counting how often its gradient passes.
Tensor counted(const Tensor& x, int& passes) {
  Op op("counted", x);
  return op.record(x.array(), save(reinterpret_cast<std::uintptr_t>(&passes)),
                   [](const Array& dy, Grads& dx, std::uintptr_t count) {
                     ++*reinterpret_cast<int*>(count);
                     dx.add(0, dy);
                   });
}

constexpr const char* consumed_mul =
    "backward: the graph behind 'mul' [2] was consumed by an earlier backward: run the forward pass again, or add the "
    "losses and call backward once";

TEST_CASE("graph: 40 stacked diamonds have 2^40 paths, of which none is walked twice") {
  const Tensor x = leaf({1});
  Tensor y = x;
  int passes = 0;
  for (int i = 0; i < 40; ++i) {
    const Tensor left = counted(y, passes);
    const Tensor right = counted(y, passes);
    y = left + right;
  }
  y.backward();
  CHECK(x.grad().item() == real(0x1p40));
  CHECK(passes == 80);
}

TEST_CASE("graph: a leaf used 100,000 times") {
  const Tensor x = leaf({1.5});
  std::vector<Tensor> parts;
  for (int i = 0; i < 100000; ++i) parts.push_back(x * real(2));
  const Tensor y = sum(concat(parts));
  parts.clear();
  y.backward();
  CHECK(x.grad().item() == 200000);
}

TEST_CASE("graph: threads that record one graph in turn leave it in order") {
  const Tensor x = leaf({2, 3});
  Tensor y = x * real(1);
  for (int turn = 0; turn < 6; ++turn) {
    std::thread([&] { y = y * x; }).join();
    y = y + x;
  }
  sum(y).backward();  // y = x^7 + x^6 + ... + x: 1 + 2 x + ... + 7 x^6
  CHECK(x.grad().to_vector() == std::vector<real>{769, 7108});

  // Gradients are added newest first, whoever recorded: (1e8 - 1e8) + 0.1, and not (0.1 - 1e8) + 1e8.
  const Tensor w = leaf({1});
  Tensor first, second;
  std::thread([&] { first = w * real(0.1); }).join();
  second = w * real(-1e8);
  std::thread([&] { first = first + second + w * real(1e8); }).join();
  sum(first).backward();
  CHECK(w.grad().item() == real(0.1));
}

TEST_CASE("graph: gradients of several backwards add up until zero_grad, and an array taken from grad() stays") {
  Tensor x = leaf({1, 2});
  sum(x * real(3)).backward();
  const Array before = x.grad();
  sum(x * x).backward();
  CHECK(x.grad().to_vector() == std::vector<real>{5, 7});
  CHECK(before.to_vector() == std::vector<real>{3, 3});
  x.zero_grad();
  CHECK(!x.grad().defined());
  sum(x * real(3)).backward();
  CHECK(x.grad().to_vector() == std::vector<real>{3, 3});
}

TEST_CASE("graph: what one backward sends to a leaf is added up before it is added to the gradient, as in PyTorch") {
  const Tensor x = leaf({1});
  const auto back = [&x](std::initializer_list<double> factors) {
    Tensor y = real(0);
    for (const double f : factors) y = y + x * static_cast<real>(f);
    sum(y).backward();
  };
  const double large = f64 ? 0x1p53 : 0x1p24;  // the first number to which adding 1 changes nothing
  back({large});
  back({1, 1});
  CHECK(x.grad().item() == static_cast<real>(large + 2));  // not (large + 1) + 1 = large
}

TEST_CASE("graph: a cleared gradient and one filled with zeros lead to the same bits") {
  const Parameter a(array({2}, {1, -2})), b(array({2}, {1, -2}));
  a.zero_grad();
  b.set_grad(Array::zeros({2}));
  sum(a * a).backward();
  sum(b * b).backward();
  CHECK(same_bits(a.grad(), b.grad()));
}

TEST_CASE("graph: gradients of leaves are contiguous, however a rule made them") {
  Tensor x = Tensor(random_array({2, 3}, 1)).requires_grad_();
  const auto ones = [&](const Tensor& y) {
    x.zero_grad();
    y.backward();
    REQUIRE(x.grad().is_contiguous());
    for (const real g : x.grad().values()) CHECK(g == 1);
  };
  ones(sum(x));
  ones(sum(transpose(x, 0, 1)));
  ones(sum(transpose(x, 0, 1) * Tensor(Array::full({3, 2}, 1))));
  x.zero_grad();
  x.backward(Array::full({1}, 2).expand({2, 3}));
  CHECK(x.grad().values().back() == 2);
}

TEST_CASE("graph: a dy handed over stays the caller's") {
  const Tensor x = leaf({1, 2});
  const Array dy = array({2}, {10, 20});
  (x + Tensor(real(1))).backward(dy);
  x.backward(dy);  // a leaf is its own result
  CHECK(x.grad().to_vector() == std::vector<real>{20, 40});
  CHECK(dy.to_vector() == std::vector<real>{10, 20});
}

TEST_CASE("graph: intermediates keep a gradient on request only") {
  const Tensor x = leaf({1, 2});
  Tensor asked = x * x;
  const Tensor silent = asked * real(3);
  asked.retain_grad();
  sum(silent).backward();
  CHECK(asked.grad().to_vector() == std::vector<real>{3, 3});
  REFUSES(silent.grad());
  CHECK(x.grad().to_vector() == std::vector<real>{6, 12});
  asked.zero_grad();
  CHECK(!asked.grad().defined());
  REFUSES(Tensor(real(1)).retain_grad());
  Tensor late = silent;
  REFUSES(late.retain_grad());
}

TEST_CASE("graph: an intermediate's gradient and what its rule kept are freed, even while it is held") {
  const Tensor x = Tensor(random_array({1000}, 1)).requires_grad_();
  const auto product = [&] {
    const Tensor a = x * real(3), b = x * real(2);
    return a * b;  // whose rule alone keeps a and b
  };
  const Tensor y = product(), loss = sum(y);
  const Index before = memory_stats().live_bytes;
  loss.backward();
  CHECK(memory_stats().live_bytes - before < -static_cast<Index>(500 * sizeof(real)));  // a, b less, x's gradient more
}

TEST_CASE("graph: w -= ... makes a result of a leaf, and grad() says so") {
  Tensor w = leaf({1, 2});
  const Tensor kept = w;
  w -= Tensor(real(0.5));
  w += Tensor(real(0.5));
  sum(w * w).backward();
  REFUSES(w.grad());
  REFUSES(sum(w * w).backward());
  CHECK(kept.grad().defined());
  Tensor sum_of_results = kept * real(2);
  sum_of_results += kept;
  REFUSES(sum_of_results.grad());
}

TEST_CASE("graph: a parameter without a value is named as such") {
  const Parameter empty;
  const std::string unfilled =
      "a parameter has not been filled: its layer's constructor must give it a value, as in scale = "
      "Parameter(Array::zeros({n}))";
  CHECK(error_of([&] { leaf({1, 2}) * empty; }) == "mul: " + unfilled);
  CHECK(error_of([&] { empty.shape(); }) ==
        "parameter: " + unfilled + " (or is it the bias of a layer that has none?)");
}

const std::string untracked =
    "backward: nothing this tensor was computed from requires a gradient: it comes from plain arrays or frozen "
    "parameters, or was computed under NoGrad (even by w -= ...), or detached";

TEST_CASE("graph: a frozen parameter gets no gradient, and one that another depends on is not blamed") {
  const Parameter w(Array::full({2}, 3)), b(Array::full({2}, 1));
  w.set_trainable(false);
  CHECK(error_of([&] { sum(Tensor(w)).backward(); }) == untracked);
  sum(w * Tensor(b)).backward();
  CHECK(!w.grad().defined());
  w.set_trainable(true);
  sum(w * Tensor(b)).backward();
  CHECK(w.grad().to_vector() == std::vector<real>{1, 1});
  b.set_trainable(false);
  w.set_trainable(false);  // a frozen teacher says nothing about a loss of plain arrays
  CHECK(error_of([&] { Tensor(real(1)).backward(); }) == untracked);
}

TEST_CASE("graph: moving a parameter copies the handle, and a gradient handed over becomes contiguous") {
  Parameter w(random_array({2, 3}, 1));
  const Parameter moved = std::move(w);
  CHECK((w.same_as(moved) && w.defined()));  // NOLINT: it stays as it was
  const Array g = random_array({3, 2}, 2);
  w.set_grad(g.transpose(0, 1));
  REQUIRE(w.grad().is_contiguous());
  CHECK(w.grad().values()[1] == g.at({1, 0}));
  REFUSES(w.set_grad(g));
}

/// 2 x, which does not say how its gradient goes back.
Tensor unrecorded(const Tensor& x) {
  const Op op("unrecorded", x);
  check(x.dim() > 0, "too small");
  return x.array() * real(2);
}

TEST_CASE("graph: an op that forgets record() is named when nothing is left to send back") {
  const Tensor x = leaf({1, 2});
  CHECK(error_of([&] { sum(unrecorded(x)).backward(); }) ==
        untracked + "; the op 'unrecorded' ended without op.record(...)");
  sum(x * x).backward();  // what happened before a backward that works is forgotten
  const auto named = [] { return error_of([] { Tensor(real(1)).backward(); }).find("unrecorded"); };
  CHECK(named() == std::string::npos);
  REFUSES(unrecorded(Tensor(real(1)).requires_grad_()));
  CHECK(named() == std::string::npos);  // an op that threw has forgotten nothing
}

TEST_CASE("graph: an op without a gradient is not blamed for one that goes nowhere") {
  const Tensor x = leaf({1, 2});
  argmax(x);
  const NoGrad forgotten;
  CHECK(error_of([&] { sum(x * x).backward(); }).find("argmax") == std::string::npos);
}

TEST_CASE("graph: a graph goes back once") {
  const Tensor x = leaf({1, 2});
  const Tensor shared = x * x;
  const Tensor first = sum(shared), second = sum(shared * real(2));
  first.backward();
  REFUSES(first.backward());
  CHECK(error_of([&] { second.backward(); }) == consumed_mul);
  CHECK(error_of([&] { sum(shared + real(1)).backward(); }) == consumed_mul);
  CHECK(x.grad().to_vector() == std::vector<real>{2, 4});  // the refused ones have added nothing
  const Tensor again = x * x;
  (sum(again) + sum(again * real(2))).backward();
  CHECK(x.grad().to_vector() == std::vector<real>{8, 16});
  const Tensor whole = sum(x * real(3));
  REFUSES((whole + first).backward());
  whole.backward();  // a part of what was refused that is whole still goes back
  CHECK(x.grad().to_vector() == std::vector<real>{11, 19});
}

TEST_CASE("graph: what backward refuses") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * real(2);
  REFUSES(y.backward());
  REFUSES(y.backward(Array::zeros({3})));
  REFUSES(sum(y).backward(Array()));
  CHECK(error_of([&] { Tensor(real(1)).backward(); }) == untracked);
  CHECK(error_of([&] { sum(y.detach()).backward(); }) == untracked);
  y.backward(array({2}, {1, 10}));  // none of the refusals has consumed anything
  CHECK(x.grad().to_vector() == std::vector<real>{2, 20});
  REFUSES(Tensor(y).requires_grad_());
}

TEST_CASE("graph: requires_grad_ switches leaves on and off") {
  Tensor x = array({1}, {3});
  x.requires_grad_().requires_grad_();
  CHECK(x.requires_grad());
  (x * x).backward();
  x.requires_grad_();  // already on: it keeps its gradient
  CHECK(x.grad().item() == 6);
  x.requires_grad_(false);
  CHECK(!x.requires_grad());
  CHECK(!x.grad().defined());
  CHECK(!(x * x).requires_grad());
}

TEST_CASE("graph: detach cuts, and shares the numbers") {
  const Tensor x = leaf({3});
  const Tensor y = x * x;
  const Tensor cut = y.detach();
  CHECK(!cut.requires_grad());
  CHECK(cut.array().data() == y.array().data());
  (y * cut).backward();  // d(y * 9)/dx
  CHECK(x.grad().item() == 54);
}

TEST_CASE("graph: graph_text lists the nodes in the order of recording") {
  const Tensor x = leaf({1, 2});
  const Tensor y = sum(x * x + real(1));
  CHECK(graph_text(y) == "%1 = leaf() [2]\n%2 = mul(%1, %1) [2]\n%3 = add(%2) [2]\n%4 = sum(%3) []\n");
}

}  // namespace
}  // namespace mote::test::graph_test
