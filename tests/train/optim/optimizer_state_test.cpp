// An optimizer's state taken and set; the promises of equal bits and of no new memory.

#include "engine/base/env.h"
#include "tests/tools.h"
#include "tests/train/optim/optimizer_cases.h"
#include "train/loop/clip.h"
#include "train/optim/adamw.h"
#include "train/optim/sgd.h"

namespace mote::test::optimizer_state_test {
namespace {

/// Bits of four parameters, one of them long enough for several tasks, after three AdamW and three SGD steps.
std::vector<real> long_run() {
  Groups groups = four();
  groups[0].parameters.push_back({"long", Parameter(made({3 * 16384 + 5}, [](Index i) { return start(9, i); }))});
  AdamW adam(groups, {.lr = 0.01, .weight_decay = 0.1});
  SGD sgd(groups, {.lr = 0.1, .momentum = 0.9, .weight_decay = 0.05, .nesterov = true});
  for (Index s = 0; s < 3; ++s) {
    take_step(adam, s);
    take_step(sgd, s);
  }
  return numbers(adam);
}

}  // namespace

TEST_CASE("optimizer: a state is a value; that it goes on where it stopped, resume_test says") {
  AdamW o(four(), {.lr = 0.01});
  for (Index s = 0; s < 5; ++s) take_step(o, s);
  const OptimizerState state = o.state();
  CHECK(state.counts.at("steps") == 5);
  CHECK(state.counts.at("p1.step") == 5);
  CHECK(state.counts.at("p2.step") == 4);  // no gradient in step 3
  CHECK(state.arrays.size() == 8);
  const std::vector<real> kept = state.arrays.at("p0.exp_avg").to_vector();
  take_step(o, 9);  // does not change it
  CHECK(state.arrays.at("p0.exp_avg").to_vector() == kept);
}

TEST_CASE("optimizer: a state that does not fit changes nothing") {
  AdamW o(four());
  take_step(o, 0);
  const OptimizerState good = o.state();
  OptimizerState bad = good;
  bad.arrays["p1.exp_avg"] = Array::zeros({4});
  bad.arrays.erase("p0.exp_avg_sq");
  bad.arrays["q.exp_avg"] = Array::zeros({4});
  bad.counts["p3.step"] = -1;
  bad.counts["steps"] = 7;
  CHECK_THROWS_WITH_AS(o.set_state(bad),
                       "AdamW: this state does not fit: array 'p0.exp_avg_sq' is missing; array 'p1.exp_avg' has shape "
                       "[4], its parameter [3]; array 'p3.exp_avg' is given, but its parameter has had no step; array "
                       "'p3.exp_avg_sq' is given, but its parameter has had no step; array 'q.exp_avg' is not of this "
                       "optimizer; count 'p3.step' must be at least 0",
                       Error);
  CHECK(o.state().counts == good.counts);
  CHECK(same_bits(o.state().arrays.at("p1.exp_avg").to_vector(), good.arrays.at("p1.exp_avg").to_vector()));
  SGD plain(four(), {.lr = 0.1});
  take_step(plain, 0);
  CHECK(plain.state().arrays.empty());
  CHECK_THROWS_AS(plain.set_state(good), Error);
  plain.set_state(plain.state());
}

TEST_CASE("Adam: a step count beyond 32 bits") {
  Adam o(four(), {.lr = 0.01});
  take_step(o, 0);
  OptimizerState late = o.state();
  for (auto& [name, count] : late.counts) count = (Index(1) << 31) + 5;
  o.set_state(late);
  const std::vector<real> before = numbers(o);
  take_step(o, 0);  // beta^t is 0 by now: no bias correction at all
  CHECK(o.steps() == (Index(1) << 31) + 6);
  const double g = gradient(0, 0, 0), m = 0.1 * g * 0.9 + 0.1 * g, v = 0.001 * g * g * 0.999 + 0.001 * g * g;
  CHECK(std::abs(static_cast<double>(before[0] - numbers(o)[0]) - 0.01 * m / (std::sqrt(v) + 1e-8)) < 1e-6);
}

TEST_CASE("optimizers: equal bits for every number of threads and every instruction set") {
  const std::vector<real> expected = long_run();
  on_all_hardware({1, 2, 3}, [&] { CHECK(same_bits(long_run(), expected)); });
}

TEST_CASE("optimizers: a warm step asks the system for no memory") {
  const Groups groups = four();
  AdamW adam(groups);
  SGD sgd(groups, {.lr = 0.1, .momentum = 0.9});
  for (Index s = 0; s < 3; ++s) {
    take_step(adam, s);
    clip_grad_norm(adam.parameters(), 0.1);
    sgd.step();
  }
  const MemoryStats before = memory_stats();
  adam.step();
  sgd.step();
  CHECK(memory_stats().live_blocks == before.live_blocks);
  for (Index s = 0; s < 5; ++s) {
    take_step(adam, s);
    clip_grad_norm(adam.parameters(), 0.1);
    sgd.step();
  }
  if (!settings().system_alloc) CHECK(memory_stats().system_requests == before.system_requests);
  CHECK(memory_stats().live_blocks == before.live_blocks);
}

TEST_CASE("optimizers: moments of a parameter without gradients end at 0") {
  // At a tenth less each time a float would stop at five times the smallest number there is and stay there, slow for
  // ever.
  const Groups groups = four();
  AdamW adam(groups, {.betas = {0.5, 0.5}});
  SGD sgd(groups, {.momentum = 0.9});
  take_step(adam, 0);
  sgd.step();
  for (const Parameter& p : adam.parameters()) p.set_grad(Array::zeros(p.shape()));
  for (int s = 0; s < 8000; ++s) {
    adam.step();
    sgd.step();
  }
  for (const OptimizerState& state : {adam.state(), sgd.state()})
    for (const auto& entry : state.arrays)
      for (const real x : entry.second.to_vector()) CHECK(x == 0);
}

}  // namespace mote::test::optimizer_state_test
