// The matrix product against plain loops that state its order of sums: every tile, layout, border of a block, option,
// table and number of threads, bit for bit; and how accurate long sums are.
#include "engine/kernels/gemm.h"

#include "engine/base/storage.h"
#include "tests/tools.h"

namespace mote::test::gemm_test {
namespace {

using kernels::Matrix;

struct Operand {
  std::vector<real> elements;
  Matrix matrix;
};
enum class Order { rows, columns, neither };  // which lie side by side

Operand operand(Index rows, Index columns, Order order, std::uint64_t seed, Index gap = 3) {
  Operand x;
  x.matrix = order == Order::rows      ? Matrix{nullptr, columns + gap, 1}
             : order == Order::columns ? Matrix{nullptr, 1, rows + gap}
                                       : Matrix{nullptr, 2 * columns + 1, 2};
  x.elements = random_array({(rows - 1) * x.matrix.row + (columns - 1) * x.matrix.column + 1}, seed, -1, 1).to_vector();
  x.matrix.data = x.elements.data();
  return x;
}

/// The definition.
real element(const Matrix& a, const Matrix& b, Index i, Index j, Index k, const real* bias) {
  real total = -real(0), sum = 0;  // -0 + x is x, also for x = -0
  for (Index p = 0; p < k; ++p) {
    if (p > 0 && p % kernels::sum_block == 0) {
      total += sum;
      sum = 0;
    }
    sum = std::fma(a.data[i * a.row + p * a.column], b.data[p * b.row + j * b.column], sum);
  }
  total += sum;
  return bias ? total + bias[j] : total;
}

void check_product(Index m, Index n, Index k, const Operand& a, const Operand& b, bool with_bias = false) {
  const Index c_row = n + 2;
  const std::vector<real> before = random_array({m * c_row}, 3, -1, 1).to_vector(),
                          biases = random_array({n}, 4, -1, 1).to_vector();
  const real* const bias = with_bias ? biases.data() : nullptr;
  std::vector<real> expected = before;
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) {
      expected[static_cast<std::size_t>(i * c_row + j)] = element(a.matrix, b.matrix, i, j, k, bias);
    }
  for (const kernels::Table* t : kernels::available_tables())
    for (const int count : {1, 3, 7}) {
      if (count > 1 && m * n * k < 100000) continue;  // one task
      const Hardware use(*t, count);
      std::vector<real> c = before;
      kernels::gemm(m, n, k, a.matrix, b.matrix, c.data(), c_row, bias);
      if (std::memcmp(c.data(), expected.data(), c.size() * sizeof(real)) == 0) continue;
      FAIL_CHECK("other bits from " << t->name << " with " << count << " threads: " << m << " x " << n << " x " << k);
    }
}

TEST_CASE("gemm: every height and width of a tile, every layout") {
  for (Index m = 1; m <= 17; ++m)
    for (const Index n : {1, 4, 8, 13, 16, 17, 24, 33, 48, 57, 64, 70})
      for (const Index k : {1, 19}) {
        const Order x = static_cast<Order>((m + n) % 3), z = static_cast<Order>((m + n / 3) % 3);
        check_product(m, n, k, operand(m, k, x, 1), operand(k, n, z, 2));
        check_product(m, n, k, operand(m, k, Order::rows, 1), operand(k, n, Order::rows, 2), true);
      }
}

TEST_CASE("gemm: borders of the blocks of a sum") {
  for (const Index k : {511, 512, 513, 1024, 1040})
    for (const bool bias : {false, true})
      for (const Order z : {Order::rows, Order::columns})
        check_product(3, 19, k, operand(3, k, Order::rows, 1), operand(k, 19, z, 2), bias);
}

TEST_CASE("gemm: products large enough for packing, several tasks and copies of A") {
  for (const Order x : {Order::rows, Order::columns})
    for (const Order z : {Order::rows, Order::columns}) {
      check_product(130, 100, 530, operand(130, 530, x, 1), operand(530, 100, z, 2), true);
      check_product(40, 390, 40, operand(40, 40, x, 1), operand(40, 390, z, 2));
    }
  const Index page = 4096 / sizeof(real);  // the rows of A in one set of the first-level cache
  check_product(50, 150, 70, operand(50, 70, Order::columns, 1, page - 50), operand(70, 150, Order::rows, 2));
  check_product(50, 150, 700, operand(50, 700, Order::rows, 1, 2 * page - 700), operand(700, 150, Order::rows, 2),
                true);
  check_product(1, 1000, 1000, operand(1, 1000, Order::rows, 1), operand(1000, 1000, Order::rows, 2));
  check_product(5, 2100, 800, operand(5, 800, Order::rows, 1), operand(800, 2100, Order::columns, 2));
}

TEST_CASE("gemm: B copied by the first row of tiles, whole or with columns left over") {
  for (const Index m : {101, 112, 126})
    for (const Index n : {50, 64, 79})
      check_product(m, n, 530, operand(m, 530, n == 64 ? Order::columns : Order::rows, 1),
                    operand(530, n, Order::rows, 2), n != 64);
}

TEST_CASE("gemm: few elements, many blocks of the sum") {
  for (const Order z : {Order::rows, Order::columns})
    for (const bool bias : {false, true}) {
      check_product(30, 70, 1100, operand(30, 1100, Order::columns, 1), operand(1100, 70, z, 2), bias);
      check_product(5, 3, 9000, operand(5, 9000, Order::rows, 1), operand(9000, 3, z, 2), bias);
    }
}

TEST_CASE("gemm: more rows, columns and k than are packed at a time, by any number of threads") {
  const Index m = 1200, n = 320, k = 4200;
  const Operand a = operand(m, k, Order::rows, 1), b = operand(k, n, Order::columns, 2);
  std::vector<real> alone(static_cast<std::size_t>(m * n)), shared = alone;
  for (const int count : {1, 3}) {
    const Hardware use(kernels::table(), count);
    kernels::gemm(m, n, k, a.matrix, b.matrix, (count == 1 ? alone : shared).data(), n);
  }
  CHECK(std::memcmp(alone.data(), shared.data(), alone.size() * sizeof(real)) == 0);
}

TEST_CASE("gemm: no k gives zeros and the bias") {
  const std::vector<real> bias{1, 2};
  std::vector<real> c{3, 4};
  kernels::gemm(1, 2, 0, {}, {}, c.data(), 2);
  CHECK(c == std::vector<real>{0, 0});
  kernels::gemm(1, 2, 0, {}, {}, c.data(), 2, bias.data());
  CHECK(c == bias);
  std::vector<real> gaps{1, 2, 3, 4, 5, 6};
  kernels::gemm(2, 2, 0, {}, {}, gaps.data(), 3);
  CHECK(gaps == std::vector<real>{0, 0, 3, 0, 0, 6});
}

TEST_CASE("gemm: a million products are summed to 1e-5, and twenty million ones to their number") {
  const Index k = 1000000;
  const std::vector<real> a = random_array({k}, 1, 0, 1).to_vector(), b = random_array({k}, 2, 0, 1).to_vector();
  double exact = 0;
  for (std::size_t p = 0; p < a.size(); ++p) exact += static_cast<double>(a[p]) * static_cast<double>(b[p]);
  real c = 0;
  kernels::gemm(1, 1, k, {a.data(), k, 1}, {b.data(), 1, 1}, &c, 1);
  CHECK(std::abs(static_cast<double>(c) / exact - 1) < (f64 ? 1e-12 : 1e-5));
  const real one = 1;
  kernels::gemm(1, 1, 20000000, {&one, 0, 0}, {&one, 0, 1}, &c, 1);
  CHECK(c == 20000000);
}

TEST_CASE("gemm_batch: the products one by one, whatever their number and the threads") {
  for (const auto& [count, k] : {std::pair<Index, Index>{1, 33}, {1, 1100}, {3, 33}, {50, 33}}) {
    const Index m = count == 3 ? 90 : 9, n = 70, skipped = count == 1 ? 2 : 0;
    const Operand a = operand((count + skipped) * m, k, Order::rows, 1),
                  b = operand((count + skipped) * k, n, Order::rows, 2);
    std::vector<Index> at_a, at_b;
    std::vector<real> expected(static_cast<std::size_t>(count * m * n));
    for (Index i = 0; i < count; ++i) {
      at_a.push_back((skipped + count - 1 - i) * m * a.matrix.row);
      at_b.push_back((skipped + i / 2) * k * b.matrix.row);
      kernels::gemm(m, n, k, {a.matrix.data + at_a.back(), a.matrix.row, 1},
                    {b.matrix.data + at_b.back(), b.matrix.row, 1}, expected.data() + i * m * n, n);
    }
    for (const int threads : {1, 2, 5}) {
      const Hardware use(kernels::table(), threads);
      std::vector<real> c(expected.size());
      kernels::gemm_batch({count, at_a.data(), at_b.data(), m * n}, m, n, k, a.matrix, b.matrix, c.data(), n);
      CHECK(c == expected);
    }
  }
}

TEST_CASE("gemm: however long the sum, its blocks side by side take little memory") {
  const Index n = 512, k = 33'000;  // 65 blocks of a MiB each, or two
  const std::vector<real> row(static_cast<std::size_t>(n), 1);
  std::vector<real> c(static_cast<std::size_t>(n * n));
  const Hardware two(kernels::table(), 2);
  reset_peak_memory();
  const Index before = memory_stats().live_bytes;
  kernels::gemm(n, n, k, {row.data(), 1, 0}, {row.data(), 0, 1}, c.data(), n);
  CHECK(c == std::vector<real>(c.size(), real(k)));
  CHECK(memory_stats().peak_bytes - before < Index(1) << 25);
}

}  // namespace
}  // namespace mote::test::gemm_test
