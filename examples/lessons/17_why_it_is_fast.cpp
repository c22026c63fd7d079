// Lesson 17. Why is mote fast? One product of matrices is computed in three ways and by mote. All do the same
// arithmetic, in different orders.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "examples/lessons/lesson.h"

using namespace mote;

namespace {
// Nearly all the work of a model is products of matrices. Every linear layer is one product, and attention is two
// products (lesson 9). So one product, C = A B, stands for all. Matrices [n, n] lie in memory row after row, so
// element (i, k) of A is a[i * n + k]. Each of the n^2 elements of C is a sum of n products. So there are n^3
// multiply-adds, whatever their order. A processor can begin dozens of multiply-adds in a nanosecond, but an element
// may take a hundred nanoseconds to come from memory. An element comes together with its neighbours, in a cache line
// of 64 bytes. A loop that goes on to the next element already has that element. A loop that jumps elsewhere has
// fetched 60 bytes for nothing.
constexpr Index large = 384, small = 64;  // n for measuring times, and n for counting reads

/// Reads B like a plain pointer, and counts reads and jumps. The three ways to multiply below take B as a plain
/// pointer or as a Counting.
struct Counting {
  const real* data;
  Index reads = 0, jumps = 0, next = -1;
  real operator[](Index i) {
    ++reads;
    jumps += i != next;  // the element does not follow the one read before
    next = i + 1;
    return data[i];
  }
};
/// 1. Three loops, as in the formula. k moves down a column of B, so each read is n elements further on in memory than
/// the previous read.
constexpr auto three_loops = [](Index n, const real* a, auto& b, real* c) {
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      real sum = 0;
      for (Index k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
};
/// 2. By rows: the same loops in another order. B is read in the order in which it lies in memory, and the compiler
/// vectorizes the innermost loop, which means that several neighbours are computed at once. But an element of C is
/// read and written for each product.
constexpr auto by_rows = [](Index n, const real* a, auto& b, real* c) {
  std::fill(c, c + n * n, real(0));
  for (Index i = 0; i < n; ++i)
    for (Index k = 0; k < n; ++k)
      for (Index j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
};
using Four = real __attribute__((vector_size(4 * sizeof(real))));  // 4 neighbours for one instruction (SIMD)
/// Computes a block of 4 x 4 elements of C. The 16 sums stay in registers of the processor, so 16 multiply-adds read
/// only 8 elements and write none.
void block(Index n, const real* a, const real* columns, real* c) {
  Four sum[4] = {};
  for (Index k = 0; k < n; ++k, columns += 4) {
    const Four y{columns[0], columns[1], columns[2], columns[3]};
#pragma GCC unroll 4
    for (Index i = 0; i < 4; ++i) sum[i] += a[i * n + k] * y;
  }
  for (Index i = 0; i < 16; ++i) c[i / 4 * n + i % 4] = sum[i / 4][i % 4];
}
/// 3. Blocks. All blocks that lie below each other in C need the same 4 columns of B. These columns are first copied
/// next to each other. The copy has six kilobytes and stays in the processor's cache, and B itself is read only once.
constexpr auto blocks = [](Index n, const real* a, auto& b, real* c) {
  std::vector<real> columns(static_cast<std::size_t>(4 * n));
  for (Index j = 0; j < n; j += 4) {
    for (Index k = 0; k < n; ++k)
      for (Index column = 0; column < 4; ++column) columns.data()[4 * k + column] = b[k * n + j + column];
    for (Index i = 0; i < n; i += 4) block(n, a + i * n, columns.data(), c + i * n + j);
  }
};

/// Prints the time of the fastest of three runs, because the slower runs were held up by something else.
void print_time(const char* name, const auto& body) {
  double seconds = 1e9;
  for (int run = 0; run < 3; ++run) {
    const auto start = std::chrono::steady_clock::now();
    body();
    seconds = std::min(seconds, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::printf("\n%-22s %9.2f %9.1f", name, seconds * 1e3, 2e-9 * static_cast<double>(large * large * large) / seconds);
}

/// Prints the time of one way to multiply, and its reads and jumps, which are counted for smaller matrices. Returns
/// the product C and the counts.
std::pair<Array, Counting> measure(const char* name, const auto& way, const Array& a, const Array& b) {
  Array c = Array::zeros({large, large}), smaller = Array::zeros({small, small});
  const real* plain = b.data();
  print_time(name, [&] { way(large, a.data(), plain, c.mutate()); });
  Counting counting{b.data()};
  way(small, a.data(), counting, smaller.mutate());
  std::printf(" %15d %9d", static_cast<int>(counting.reads), static_cast<int>(counting.jumps));
  return {c, counting};
}

void lesson() {
  const Generator random(1);
  const Array a = randn({large, large}, random).array(), b = randn({large, large}, random).array();
  std::printf(
      "[384, 384] times [384, 384]; GFLOP/s are billions of products and sums a second. Counted for n = 64:\n"
      "\n                              ms   GFLOP/s   elements of B     jumps");
  const auto [c1, loops] = measure("1. three loops", three_loops, a, b);
  const auto [c2, rows] = measure("2. by rows", by_rows, a, b);
  const auto [c3, blocked] = measure("3. blocks", blocks, a, b);
  // mote computes blocks, too, but blocks as large as the processor's registers allow. Its instructions multiply and
  // add up to 16 elements at once, and every thread computes another part of C. See engine/kernels/gemm.cpp.
  Array one, many;
  print_time("mote, all threads", [&] { many = matmul(a, b); });
  set_threads(1);
  print_time("mote, one thread", [&] { one = matmul(a, b); });
  std::printf("\n\n");
  claim(loops.reads == 64 * 64 * 64 && loops.jumps == 64 * 64 * 64, "three loops jump for every product, n^3 times");
  claim(rows.reads == 64 * 64 * 64 && rows.jumps == 64, "by rows, B is read from its beginning to its end, n times");
  claim(blocked.reads == 64 * 64, "for blocks every element of B is brought once, and not n times");
  claim(c1.to_vector() == c2.to_vector() && c1.to_vector() == c3.to_vector(), "the three C are equal in every bit");
  Array once = Array::zeros({large});  // the first row of C by three loops, each multiply-add rounded once, not twice
  for (Index j = 0; j < large; ++j)
    for (Index k = 0; k < large; ++k) once.mutate()[j] = std::fma(a.data()[k], b.data()[k * large + j], once.data()[j]);
  claim(once.to_vector() == one.select(0, 0).to_vector() && once.to_vector() != c1.select(0, 0).to_vector(),
        "mote's C has other last bits: the processor rounds product and sum together, once; its order is the same");
  claim(one.to_vector() == many.to_vector(), "on all threads mote's C has the bits that it has on one");
  std::printf(
      "\nTry: blocks of 2 x 4 and of 8 x 4: which is faster? large = 388: which way is twice as fast, and why?\n"
      "Now read examples/lessons/18_keep_it.cpp: a training that was killed goes on.\n");
}
}  // namespace

int main(int, char** argv) { return run_lesson(argv, lesson, "SIMD; fused multiply-add; FLOPs"); }
