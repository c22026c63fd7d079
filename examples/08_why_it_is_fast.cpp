// Lesson 8. Why it is fast: one product of matrices, written seven times; what each way gains, and how far it is from
// what this processor can do.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/kernels/gemm.h"
#include "engine/kernels/kernels.h"
#include "engine/watch/limits.h"
#include "examples/program.h"

using namespace mote;

namespace {

// C = A B for three matrices [n, n], row after row in memory: element (i, k) of A is a[i * n + k].
//
// Each of the n^2 elements of C takes n multiply-adds, 57 million in all. A processor has units that do 8 or 16 of them
// at once, twice in each of four billion cycles per second. The arithmetic is never the difficulty; bringing the
// elements to it is.
constexpr Index n = 384;
using Matrix = std::vector<real>;

/// 1. As the formula says. In the inner loop k moves down a column of B, and the next element of a column is n elements
/// away: each one comes with a cache line of 64 bytes, of which 60 are not needed now. And each sum waits for the one
/// before it, three or four cycles, before it can begin.
void three_loops(const Matrix& a, const Matrix& b, Matrix& c) {
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      real sum = 0;
      for (Index k = 0; k < n; ++k) sum += a[size_t(i * n + k)] * b[size_t(k * n + j)];
      c[size_t(i * n + j)] = sum;
    }
}

/// 2. The same loops in another order. Now j is innermost: B and C are read along their rows, in order, and the next
/// sum is another element's, so that nothing waits. But for each multiply-add, two elements are read and one is
/// written. Every element of C still adds the same products, k = 0 first: the bits are those of the three loops.
void by_rows(const Matrix& a, const Matrix& b, Matrix& c) {
  std::fill(c.begin(), c.end(), real(0));
  for (Index i = 0; i < n; ++i)
    for (Index k = 0; k < n; ++k) {
      const real x = a[size_t(i * n + k)];
      const real* const row = &b[size_t(k * n)];
      real* const sums = &c[size_t(i * n)];
      for (Index j = 0; j < n; ++j) sums[j] += x * row[j];
    }
}

/// A block of 4 x 4 elements of C, in registers for the whole loop over k: 8 elements are read for 16 multiply-adds,
/// none is written. `row` is how far apart the rows of B lie.
void block_of_16(const real* a, const real* b, Index row, real* c) {
  real sum[4][4] = {};
  for (Index k = 0; k < n; ++k) {
    const real *const y = b + k * row, y0 = y[0], y1 = y[1], y2 = y[2], y3 = y[3];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const real x = a[i * n + k];
      sum[i][0] += x * y0, sum[i][1] += x * y1, sum[i][2] += x * y2, sum[i][3] += x * y3;
    }
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[i * n + j] = sum[i][j];
}

/// 3. Blocks: each element that was read is used four times before it is forgotten.
void blocked(const Matrix& a, const Matrix& b, Matrix& c) {
  for (Index j = 0; j < n; j += 4)
    for (Index i = 0; i < n; i += 4) block_of_16(&a[size_t(i * n)], &b[size_t(j)], n, &c[size_t(i * n + j)]);
}

/// Four, or more, columns of B one row after the other: a panel, in which nothing lies between what is needed.
void pack(const Matrix& b, Index first, Index columns, real* panel) {
  for (Index k = 0; k < n; ++k)
    for (Index j = 0; j < columns; ++j) panel[k * columns + j] = first + j < n ? b[size_t(k * n + first + j)] : real(0);
}

/// 4. Packed: the four columns of B that a block needs are copied next to each other first. That costs one pass over B,
/// and then all blocks below each other read 6 KB in order, from the nearest cache, instead of 384 lines far apart.
void packed(const Matrix& a, const Matrix& b, Matrix& c) {
  Matrix panel(size_t(4 * n));
  for (Index j = 0; j < n; j += 4) {
    pack(b, j, 4, panel.data());
    for (Index i = 0; i < n; i += 4) block_of_16(&a[size_t(i * n)], panel.data(), 4, &c[size_t(i * n + j)]);
  }
}

/// 5. Vectors: the same blocks, as large as the registers allow, computed with instructions that multiply and add 4, 8
/// or 16 elements at once: with AVX-512, 14 x 32 elements of C in 28 registers. These are mote's own blocks
/// (engine/kernels/target/gemm.h), chosen for this processor when the program starts. Each step rounds once, after
/// the addition, not twice: the last bits are others than those above, on every machine the same.
void columns_of_blocks(const Matrix& a, const Matrix& b, Matrix& c, Index begin, Index end) {
  const kernels::Table& t = kernels::table();
  const Index width = t.gemm_width(n);  // of a block
  Matrix panel(size_t(width * n));
  for (Index j = begin; j < end; j += width) {
    pack(b, j, width, panel.data());
    t.gemm_tiles({.rows = n,
                  .columns = std::min(width, end - j),
                  .k = n,
                  .a = a.data(),
                  .a_row = n,
                  .a_k = 1,
                  .b = panel.data(),
                  .b_k = width,
                  .width = width,
                  .b_panel = width * n,
                  .c = &c[size_t(j)],
                  .c_row = n,
                  .bias = nullptr,
                  .add = false});
  }
}
void vectorised(const Matrix& a, const Matrix& b, Matrix& c) { columns_of_blocks(a, b, c, 0, n); }

/// 6. Threads: each takes some panels of B, packs them itself, and computes those columns of C. No two write the same
/// element and none waits for another; and since no sum is cut in two, the bits do not depend on how many there are.
void threaded(const Matrix& a, const Matrix& b, Matrix& c) {
  const Index width = kernels::table().gemm_width(n);
  parallel_for((n + width - 1) / width, 1,
               [&](Index begin, Index end) { columns_of_blocks(a, b, c, begin * width, std::min(end * width, n)); });
}

/// 7. mote's product, for any size, transposed or not: engine/kernels/gemm.cpp decides what to pack, how large blocks
/// must be to stay in each cache, and how to share them between threads.
void motes_own(const Matrix& a, const Matrix& b, Matrix& c) {
  kernels::gemm(n, n, n, {a.data(), n, 1}, {b.data(), n, 1}, c.data(), n);
}

double seconds_of(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The fastest of a few runs, as many as take 30 ms, from 3 to 25: what else the machine did made the others slower.
double time_of(const std::function<void()>& body) {
  double fastest = seconds_of(body);
  for (int i = 0, runs = static_cast<int>(std::clamp(0.03 / fastest, 2.0, 24.0)); i < runs; ++i)
    fastest = std::min(fastest, seconds_of(body));
  return fastest;
}

/// GFLOP/s, the highest of five attempts of a millisecond.
double measured_limit() {
  double highest = 0;
  for (int i = 0; i < 5; ++i) highest = std::max(highest, kernels::measure_multiply_adds(0.001));
  return highest;
}

int lesson() {
  Matrix a(size_t(n * n)), b(a);
  for (Index i = 0; i < n * n; ++i) {
    a[size_t(i)] = static_cast<real>((i * 7919) % 1000) / 500 - 1;  // any numbers between -1 and 1
    b[size_t(i)] = static_cast<real>((i * 104729) % 1000) / 500 - 1;
  }
  struct Way {
    const char* name;
    void (*run)(const Matrix& a, const Matrix& b, Matrix& c);
    bool parallel = false;
  };
  const std::vector<Way> ways{
      {"three loops", three_loops}, {"by rows", by_rows},         {"blocked", blocked},           {"packed", packed},
      {"vectorised", vectorised},   {"threaded", threaded, true}, {"mote's own", motes_own, true}};
  const int all = threads();
  std::printf(
      "[%d, %d] times [%d, %d]: %.0f million multiply-adds. The limit is multiplying and adding in registers,\n"
      "measured beside each: %s, on one thread, and in the last two lines on %d.\n\n",
      int(n), int(n), int(n), int(n), double(n * n * n) * 1e-6, kernels::table().name, all);
  std::printf("%-14s %10s %10s %10s %10s %12s\n", "", "ms", "GFLOP/s", "limit", "of it", "speed-up");
  std::vector<Matrix> results;
  double first = 0;
  for (const Way& way : ways) {
    set_threads(way.parallel ? all : 1);
    Matrix c(a.size());
    const double seconds = time_of([&] { way.run(a, b, c); });
    const double limit = measured_limit(), speed = 2.0 * double(n * n * n) / seconds * 1e-9;
    if (first == 0) first = seconds;
    std::printf("%-14s %10.2f %10.1f %10.1f %8.1f %% %10.1f x\n", way.name, seconds * 1e3, speed, limit,
                100 * speed / limit, first / seconds);
    results.push_back(std::move(c));
  }
  // Nothing was left out to be fast.
  const bool plain = results[1] == results[0] && results[2] == results[0] && results[3] == results[0];
  const bool fused = results[5] == results[4] && results[6] == results[4];
  double largest = 0;
  for (size_t i = 0; i < results[0].size(); ++i)
    largest = std::max(largest, static_cast<double>(std::fabs(results[0][i] - results[4][i])));
  std::printf(
      "\nThe first four results are equal to the last bit: %s. So are the last three: %s.\n"
      "Between these groups the largest difference is %.1e: the last three round once per multiply-add, not twice.\n",
      plain ? "yes" : "no", fused ? "yes" : "no", largest);
  std::printf(
      "The processor was the same all the time; only the order of the work has changed.\n"
      "For other shapes: ./build/examples/bench matmul --m 256 --k 768 --n 3072\n");
  return plain && fused && largest < 1e-3 ? 0 : 1;
}

}  // namespace

int main(int, char** argv) { return run_program(argv[0], lesson); }
