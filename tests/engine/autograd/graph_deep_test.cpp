// Chains of a million ops on a small stack, however they end, and graphs of several threads.
#include <pthread.h>

#include <atomic>
#include <functional>
#include <thread>

#include "engine/ops/ops.h"
#include "tests/process.h"
#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::graph_deep_test {
namespace {

constexpr int million = 1'000'000;

/// Runs f on a thread of its own with 256 KiB of stack (more under a sanitizer, whose frames are larger).
void on_small_stack(std::function<void()> f) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, (sanitized ? 1024 : 256) * 1024) == 0);
  pthread_t thread;
  const auto run = [](void* body) -> void* {
    (*static_cast<std::function<void()>*>(body))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, run, &f) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  REQUIRE(pthread_attr_destroy(&attributes) == 0);
}

Tensor chain(const Tensor& x, int length) {
  Tensor y = x;
  for (int i = 0; i < length; ++i) y = y + real(1);
  return y;
}

/// Runs f on the small stack and looks that every node and byte of it has gone.
void leaves_nothing(const std::function<void()>& f) {
  const Leaks leaks;
  on_small_stack(f);
  CHECK(leaks.nodes() == 0);
  CHECK(leaks.bytes() == 0);
  release_memory();
}

TEST_CASE("graph: a chain of 1,000,000 ops, differentiated and dropped on 256 KiB of stack") {
  leaves_nothing([] {
    const Tensor x = Tensor(real(0)).requires_grad_();
    const Tensor y = chain(x, million);
    REQUIRE(y.item() == million);
    CHECK(live_nodes() >= million);
    y.backward();
    CHECK(live_nodes() < million);  // freed as it goes, though y is still here
    CHECK(x.grad().item() == 1);
  });
}

TEST_CASE("graph: a chain of 1,000,000 ops dropped without backward") {
  leaves_nothing([] { chain(Tensor(real(0)).requires_grad_(), million); });
}

TEST_CASE("graph: a long chain dropped by another thread") {
  leaves_nothing([] {
    Tensor y = chain(Tensor(real(0)).requires_grad_(), million / 4);
    on_small_stack([last = std::move(y)]() mutable { last = Tensor(); });
  });
}

TEST_CASE("graph: a long chain whose rule throws half way") {
  leaves_nothing([] {
    Tensor x = Tensor(real(0)).requires_grad_();
    const Tensor half = chain(x, million / 8);
    Op op("broken", half);
    const Tensor middle = op.record(half.array(), [](const Array&, Grads&) { throw Error("no way back"); });
    const Tensor y = chain(middle, million / 8);
    REFUSES(y.backward());
    CHECK(live_nodes() < million / 8);  // what the graph held is let go, though half and y are still here
    REFUSES((half * real(2)).backward());
  });
}

TEST_CASE("graph: long chains through the other inputs, and a ladder") {
  leaves_nothing([] {
    const Tensor x = Tensor(real(1)).requires_grad_();
    Tensor y = x, z = x;
    for (int i = 0; i < 50000; ++i) {  // y and z hold each other's past
      const Tensor next = x + y;
      z = next * z;
      y = z - next;
    }
  });
}

TEST_CASE("graph: two threads with graphs of their own") {
  const Leaks leaks;
  std::atomic<int> wrong{0};
  const auto work = [&wrong](real factor) {
    for (int i = 0; i < 500; ++i) {
      const Tensor x = Tensor(array({3}, {1, 2, 3})).requires_grad_();
      sum(x * x * factor).backward();
      const std::vector<real> expected{2 * factor, 4 * factor, 6 * factor};
      if (x.grad().to_vector() != expected) ++wrong;
    }
  };
  std::thread other(work, real(3));
  work(real(5));
  other.join();
  CHECK(wrong == 0);
  CHECK(leaks.nodes() == 0);
  CHECK(leaks.bytes() == 0);
}

TEST_CASE("graph: two threads go back into one leaf: both gradients arrive whole") {
  const Parameter w(array({4}, {1, 1, 1, 1}));
  const auto work = [&w] {
    for (int i = 0; i < 1000; ++i) {
      sum(w * real(2)).backward();
      sum(slice(w, 0, 1, 3)).backward();  // the add_slice way in
    }
  };
  std::thread other(work);
  work();
  other.join();
  CHECK(w.grad().to_vector() == std::vector<real>{4000, 6000, 6000, 4000});
}

}  // namespace
}  // namespace mote::test::graph_deep_test
