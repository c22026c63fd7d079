// Measurements. `bench overhead` times what one recorded op costs; `bench memory` counts what a training step
// allocates from the system; `bench matmul` compares the matrix product with a plain multiply-add loop on this machine.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/kernels/gemm.h"
#include "examples/program.h"
#include "models/gpt.h"
#include "train/adamw.h"
#include "train/fit.h"
#include "train/tasks/copy.h"

using namespace mote;

namespace {

/// The median of `runs` timings of body(), in microseconds per one of its `count` repetitions.
double median_us(int runs, int count, const std::function<void()>& body) {
  std::vector<double> times;
  body();
  for (int r = 0; r < runs; ++r) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) body();
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() /
                    count);
  }
  std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
  return times[static_cast<std::size_t>(runs / 2)];
}

/// One [n, n] addition of two tracked inputs: values only, recorded, and recorded and differentiated.
void overhead() {
  std::printf("cost of one element-wise addition, microseconds, median of 15\n");
  std::printf("%8s %12s %12s %12s %22s\n", "shape", "numbers", "recorded", "+ backward", "recording and its share");
  for (const Index n : {1, 8, 32, 64}) {
    Generator random(1);
    Tensor a = randn({n, n}, random).requires_grad_();
    Tensor b = randn({n, n}, random).requires_grad_();
    const Array seed = Array::full({n, n}, 1);
    const int count = 5000;
    const double numbers = median_us(15, count, [&] { const Array y = a.array() + b.array(); });
    const double recorded = median_us(15, count, [&] { const Tensor y = a + b; });
    const double both = median_us(15, count, [&] {
      const Tensor y = a + b;
      y.backward(seed);
      a.zero_grad();
      b.zero_grad();
    });
    const double extra = both - numbers;
    std::printf("%3lldx%-4lld %12.3f %12.3f %12.3f %12.3f (%.0f %%)\n", static_cast<long long>(n),
                static_cast<long long>(n), numbers, recorded, both, extra, 100 * extra / both);
  }
  // a chain: what a deep graph costs per op, collecting and sorting included
  Generator random(1);
  Tensor x = randn({32, 32}, random).requires_grad_();
  const Tensor step = randn({32, 32}, random);
  const double chain = median_us(15, 5,
                                 [&] {
                                   Tensor y = x;
                                   for (int i = 0; i < 1000; ++i) y = y + step;
                                   y.backward(Array::full({32, 32}, 1));
                                   x.zero_grad();
                                 }) /
                       1000;
  std::printf("a chain of 1000 additions [32, 32]: %.3f per addition, forward and backward\n", chain);
}

/// What a warm training step allocates from the system, in blocks of arrays and graph nodes.
void memory() {
  const CopyTask task;
  GPTConfig config;
  config.block_size = task.block_size(), config.vocab_size = task.vocab_size();
  config.n_layer = 2, config.n_head = 4, config.n_embd = 64, config.dropout = 0.1;
  const Generator random(1), data(2);
  GPT model(config, random);
  AdamW optimizer(decay_groups(model, 0.1));
  const auto train = [&](Index steps) {
    fit(optimizer,
        [&](Index) {
          const Batch batch = task.batch(64, Split::train, data);
          return model.loss(batch.ids, batch.targets);
        },
        {.steps = steps});
  };
  train(3);
  const MemoryStats before = memory_stats();
  train(20);
  const MemoryStats after = memory_stats();
  std::printf("20 warm training steps of the copy task's GPT: %lld requests to the system\n",
              static_cast<long long>(after.system_requests - before.system_requests));
  std::printf("live %.2f MB, cached %.2f MB, peak %.2f MB\n", static_cast<double>(after.live_bytes) * 1e-6,
              static_cast<double>(after.cached_bytes) * 1e-6, static_cast<double>(after.peak_bytes) * 1e-6);
}

/// The speed of the matrix product as a share of what the same kernel reaches on data in the first-level cache.
void matmul_speed() {
  const kernels::Table& t = kernels::table();
  const int before = threads();
  set_threads(1);
  const Index rows = t.tile_rows, columns = t.tile_columns, depth = 128;
  std::vector<real> a(static_cast<std::size_t>(rows * depth), real(1)),
      b(static_cast<std::size_t>(columns * depth), real(1)), c(static_cast<std::size_t>(rows * columns));
  const double tile_us = median_us(15, 2000, [&] {
    t.gemm_tile(depth, a.data(), 1, rows, b.data(), columns, c.data(), columns, rows, columns, kernels::Into::set);
  });
  const double peak = 2.0 * static_cast<double>(rows * columns * depth) / tile_us * 1e-3;
  std::printf("%s tile %lldx%lld in first-level cache: %.1f GFLOP/s, one thread\n", t.name,
              static_cast<long long>(rows), static_cast<long long>(columns), peak);
  std::printf("%22s %12s %12s\n", "m x n x k", "GFLOP/s", "share");
  struct Case {
    Index m, n, k;
    bool transposed;
  };
  for (const Case s : {Case{64, 64, 64, false}, Case{256, 256, 256, false}, Case{1024, 1024, 1024, false},
                       Case{1280, 192, 64, true}, Case{1280, 256, 64, true}, Case{20, 20, 16, true}}) {
    Generator random(1);
    const Array x = randn({s.m, s.k}, random).array();
    const Array w =
        s.transposed ? randn({s.n, s.k}, random).array().transpose(0, 1) : randn({s.k, s.n}, random).array();
    const double us = median_us(7, s.m * s.n * s.k > 100000000 ? 3 : 200, [&] { const Array y = matmul(x, w); });
    const double speed = 2.0 * static_cast<double>(s.m * s.n * s.k) / us * 1e-3;
    std::printf("%6lld x %4lld x %4lld %s %12.1f %10.0f %%\n", static_cast<long long>(s.m), static_cast<long long>(s.n),
                static_cast<long long>(s.k), s.transposed ? "NT" : "NN", speed, 100 * speed / peak);
  }
  set_threads(before);
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "overhead") return overhead(), 0;
    if (what == "memory") return memory(), 0;
    if (what == "matmul") return matmul_speed(), 0;
    throw UsageError("say what to measure: overhead, memory or matmul");
  });
}
