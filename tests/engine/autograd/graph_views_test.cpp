// A view that outlives its leaf; NoGrad; memory over many steps.

#include <thread>

#include "engine/base/env.h"
#include "engine/ops/ops.h"
#include "tests/tools.h"

namespace mote::test::graph_views_test {
namespace {

TEST_CASE("graph: a view outlives what it was taken from") {
  Tensor view;
  Array kept;
  {
    Tensor x = Tensor(array({2, 2}, {1, 2, 3, 4})).requires_grad_();
    x.node()->grad = Array::zeros({2, 2});
    view = transpose(x, 0, 1);
    kept = x.array().select(0, 1);
  }
  CHECK(view.to_vector() == std::vector<real>{1, 3, 2, 4});
  CHECK(kept.to_vector() == std::vector<real>{3, 4});
  sum(view * view).backward();  // the leaf's node lives on in the graph
}

TEST_CASE("graph: NoGrad nests, ends with its scope whichever way that is left, and is one thread's own") {
  const Tensor x = Tensor(real(2)).requires_grad_();
  const Leaks leaks;
  {
    const NoGrad outer;
    {
      const NoGrad inner;
      CHECK(!(x * x).requires_grad());
    }
    CHECK(!(x * x).requires_grad());
    bool elsewhere = false;
    std::thread([&] { elsewhere = (x * x).requires_grad(); }).join();
    CHECK(elsewhere);
    CHECK(leaks.nodes() == 0);
  }
  CHECK((x * x).requires_grad());
  CHECK_THROWS_AS(
      [] {
        const NoGrad here;
        throw Error("out");
      }(),
      Error);
  CHECK(!NoGrad::active());
  CHECK((x * x).requires_grad());
}

TEST_CASE("graph: NoGrad does not touch what was recorded before it") {
  const Tensor x = Tensor(real(3)).requires_grad_();
  const Tensor y = x * x;
  {
    const NoGrad here;
    CHECK(Tensor(real(1)).requires_grad_().requires_grad());  // leaves can still be made
    y.backward();
  }
  CHECK(x.grad().item() == 6);
}

TEST_CASE("graph: an optimizer's write between forward and backward changes no number that backward needs") {
  const Parameter w(array({1}, {3}));
  const Tensor y = w * w;
  w.mutate()[0] = 100;
  y.backward();
  CHECK(w.grad().item() == 6);
  CHECK(w.value().item() == 100);
}

TEST_CASE("graph: 3,000 steps, with backward, without, and with an error, leave nothing and grow nothing") {
  const Parameter w(random_array({8, 8}, 1)), b(random_array({8}, 2));
  const Array x = random_array({4, 8}, 3);
  const auto loss = [&] {
    const Tensor h = tanh(matmul(x, w) + b);
    return mean(h * h);
  };
  const auto step = [&](int i) {
    const Tensor y = loss();
    if (i % 3 == 0) y.backward();
    if (i % 3 == 1) CHECK_THROWS_AS(y * Tensor(Array::zeros({3})) + matmul(Tensor(x), Tensor(x)), Error);
    w.zero_grad();
    b.zero_grad();
  };
  for (int i = 0; i < 30; ++i) step(i);
  reset_peak_memory();
  const Leaks leaks;
  const MemoryStats before = memory_stats();
  Index first_peak = 0;
  for (int i = 0; i < 3000; ++i) {
    step(i);
    if (i == 2) first_peak = memory_stats().peak_bytes;
  }
  CHECK(leaks.nodes() == 0);
  CHECK(leaks.bytes() == 0);
  CHECK(memory_stats().peak_bytes == first_peak);
  if (!settings().system_alloc) CHECK(memory_stats().system_requests == before.system_requests);
}

}  // namespace
}  // namespace mote::test::graph_views_test
