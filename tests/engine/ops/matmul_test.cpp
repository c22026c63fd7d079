// matmul and linear: check_op, layouts, NaN, batches, and the bits over rows, threads and instruction sets; what the
// bits are, gemm_test.cpp says.
#include "engine/ops/matmul.h"

#include "engine/ops/create.h"
#include "tests/row_oracles.h"

namespace mote::test::matmul_test {
namespace {

const OpFunction product = [](In x) { return matmul(x[0], x[1]); };

std::vector<double> naive(const double* a, const double* b, Index m, Index k, Index n) {
  std::vector<double> y;
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) {
      double total = 0;
      for (Index p = 0; p < k; ++p) total += a[i * k + p] * b[p * n + j];
      y.push_back(total);
    }
  return y;
}
/// Rank 2 by rank 2, or equal batches of them.
const Oracle oracle = [](const std::vector<Value>& in) {
  const Index m = in[0].shape[-2], k = in[0].shape[-1], n = in[1].shape[-1];
  std::vector<double> y;
  const Index batches = in[0].shape.rank() > 2 ? in[0].shape[0] : 1;
  for (Index i = 0; i < batches; ++i)
    for (const double v : naive(in[0].x.data() + i * m * k, in[1].x.data() + i * k * n, m, k, n)) y.push_back(v);
  return y;
};

TEST_CASE("matmul") {
  check_op("matmul", product, oracle, {random_array({3, 4}, 1), random_array({4, 5}, 2)},
           {.empty = {Array::zeros({3, 0}), Array::zeros({0, 5})},
            .error = [] { matmul(zeros_of(2, 3), zeros_of(4, 5)); },
            .error_text =
                "matmul: shapes [2, 3] and [4, 5] do not multiply (the 3 columns of the first against the 4 rows of "
                "the second)"});
  check_op("matmul", product, oracle, {random_array({5, 5}, 1), random_array({5, 5}, 2)},
           {.empty = {Array::zeros({0, 5}), random_array({5, 5}, 2)}});
  check_op("matmul", product, oracle, {random_array({2, 3, 4}, 1), random_array({2, 4, 2}, 2)});
  check_op("matmul", product, oracle, {random_array({2, 17}, 1), random_array({17, 19}, 2)},
           {.empty = {random_array({2, 3}, 1), Array::zeros({3, 0})}});
  CHECK(error_of([] {
          matmul(zeros_of(3), zeros_of(4, 2));
        }).starts_with("matmul: shapes [3] and [4, 2] do not multiply"));
  CHECK(error_of([] {
          matmul(zeros_of(2, 3), zeros_of(4));
        }).starts_with("matmul: shapes [2, 3] and [4] do not multiply"));
  CHECK(error_of([] { matmul(Tensor(real(1)), zeros({1})); }) ==
        "matmul: shapes [] and [1]: a scalar has no rows or columns; multiply with * instead");
  CHECK(error_of([] { matmul(zeros_of(2, 1, 2), zeros_of(3, 2, 2)); }) ==
        "matmul: shapes [2] and [3] do not broadcast (axis -1: 2 against 3)");
}

TEST_CASE("matmul: rank 1 is a row on the left and a column on the right") {
  const Array v = random_array({4}, 1), w = random_array({4}, 2), a = random_array({3, 4}, 3),
              batch = random_array({2, 4, 3}, 4);
  CHECK(matmul(v, w).shape() == Shape{});
  CHECK(same_bits(matmul(a, v), matmul(a, v.reshape({4, 1})).reshape({3})));
  CHECK(same_bits(matmul(v, batch), matmul(v.reshape({1, 4}), batch).reshape({2, 3})));
  CHECK(matmul(batch, random_array({3}, 5)).shape() == Shape{2, 4});
  for (const std::vector<Array>& in : std::vector<std::vector<Array>>{{v, w},
                                                                      {a, v},
                                                                      {v, batch},
                                                                      {batch, random_array({3}, 5)},
                                                                      {a, batch},
                                                                      {random_array({2, 1, 3, 4}, 6), batch}}) {
    const GradcheckResult right = gradcheck(product, in);
    CHECK_MESSAGE(right.ok, right.text);
  }
}

TEST_CASE("matmul: many shapes in any layout, on any hardware: the same bits") {
  const std::vector<Index> sizes{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 30, 31, 33, 63, 64, 65, 100};
  for (std::size_t s = 0; s < 120; ++s) {  // every size in every place, mixed
    const Index m = sizes[s % 19], k = sizes[(s * 7 + s / 19) % 19], n = sizes[(s * 11 + s / 7) % 19];
    CAPTURE(Shape({m, k, n}));
    const Array a = random_array({m, k}, 2 * s), b = random_array({k, n}, 2 * s + 1);
    const Array y = matmul(a, b);
    CHECK(same_bits(matmul(transposed_layout(a), b), y));
    CHECK(same_bits(matmul(a, transposed_layout(b)), y));
    CHECK(same_bits(matmul(transposed_layout(a), transposed_layout(b)), y));
    CHECK(same_bits(matmul(strided_layout(a), strided_layout(b)), y));
    CHECK(same_bits(matmul(expanded_layout(a), b), matmul(copy_of(expanded_layout(a)), b)));
    CHECK(same_bits(matmul(a, expanded_layout(b)), matmul(a, copy_of(expanded_layout(b)))));
    for (const kernels::Table* t : kernels::available_tables()) {
      const Hardware use(*t);
      CHECK(same_bits(matmul(a, b), y));
      CHECK(same_bits(matmul(transposed_layout(a), strided_layout(b)), y));
    }
  }
}

TEST_CASE("matmul: large enough for packing, blocks of k and several tasks: the same bits on 1, 2, 3, 7 threads") {
  for (const Shape& sizes : {Shape{130, 500, 90}, Shape{5, 800, 2100}, Shape{300, 40, 300}, Shape{1, 1000, 1000}}) {
    const Index m = sizes[0], k = sizes[1], n = sizes[2];
    CAPTURE(sizes);
    const Array a = random_array({m, k}, 1), b = random_array({k, n}, 2), turned = transposed_layout(b);
    const Array y = matmul(a, b);
    for (const kernels::Table* t : kernels::available_tables())
      for (const int count : {1, 2, 3, 7}) {
        if (std::string(t->name) == "portable" && count == 2) continue;  // slow, and 3 says the same
        const Hardware use(*t, count);
        CHECK(same_bits(matmul(a, b), y));
        CHECK(same_bits(matmul(a, turned), y));
      }
    const Index row = m / 2;
    CHECK(same_bits(matmul(a.slice(0, row, row + 1), b), y.slice(0, row, row + 1)));
    CHECK(same_bits(matmul(a, b.slice(1, n / 3, n / 2)), y.slice(1, n / 3, n / 2)));
  }
}

TEST_CASE("matmul: row i of the product is the product of row i, for every row") {
  const Array a = random_array({37, 65}, 1), b = random_array({65, 50}, 2), y = matmul(a, b);
  for (Index i = 0; i < 37; ++i) CHECK(same_bits(matmul(a.slice(0, i, i + 1), b), y.slice(0, i, i + 1)));
  for (Index i = 0; i < 30; ++i) CHECK(same_bits(matmul(a.slice(0, i, i + 7), b), y.slice(0, i, i + 7)));
}

TEST_CASE("matmul: k = 0 gives zeros even where memory was used before; m = 0, n = 0 are empty") {
  { const Array poison = Array::full({40, 40}, nan); }  // its block goes back to the cache, and comes out next
  CHECK(same_bits(matmul(Array::zeros({40, 0}), Array::zeros({0, 40})), Array::zeros({40, 40})));
  CHECK(matmul(Array::zeros({0, 3}), Array::zeros({3, 4})).shape() == Shape{0, 4});
  CHECK(matmul(Array::zeros({4, 3}), Array::zeros({3, 0})).shape() == Shape{4, 0});
  CHECK(matmul(Array::zeros({0, 4, 3}), Array::zeros({3, 2})).shape() == Shape{0, 4, 2});
  CHECK(matmul(Array::zeros({0}), Array::zeros({0})).item() == 0);
}

TEST_CASE("matmul: NaN and infinity stay in their row, and 0 times infinity is NaN") {
  const Array b = random_array({33, 40}, 2), clean = random_array({20, 33}, 1), y = matmul(clean, b);
  for (const kernels::Table* t : kernels::available_tables())
    for (const real bad : {nan, inf}) {
      const Hardware use(*t);
      Array a = copy_of(clean);
      a.mutate()[7 * 33 + 32] = bad;
      const Array z = matmul(a, b);
      for (Index j = 0; j < 40; ++j) CHECK_FALSE(std::isfinite(z.at({7, j})));
      CHECK(same_bits(z.slice(0, 0, 7), y.slice(0, 0, 7)));
      CHECK(same_bits(z.slice(0, 8, 20), y.slice(0, 8, 20)));
      CHECK(std::isnan(matmul(array({1, 2}, {0, 1}), array({2, 1}, {static_cast<double>(bad), 1})).item()));
    }
}

TEST_CASE("matmul: leading axes broadcast, and each product is that of its two matrices") {
  const std::vector<std::array<Shape, 3>> cases{{Shape{7, 32, 16}, Shape{1, 16, 8}, Shape{7, 32, 8}},
                                                {Shape{1, 3, 4}, Shape{2, 4, 5}, Shape{2, 3, 5}},
                                                {Shape{5, 17}, Shape{3, 17, 2}, Shape{3, 5, 2}},
                                                {Shape{2, 1, 3, 4}, Shape{3, 4, 2}, Shape{2, 3, 3, 2}}};
  for (const auto& [a, b, shape] : cases) {
    const Array x = random_array(a, 1), z = random_array(b, 2), y = matmul(x, z);
    REQUIRE(y.shape() == shape);
    const Index m = shape[-2], n = shape[-1], k = a[-1];
    const Shape batch = shape.without(-1).without(-1);
    const Array left = copy_of(x.expand(batch.insert(-1, m).insert(-1, k))).reshape({-1, m, k});
    const Array right = copy_of(z.expand(batch.insert(-1, k).insert(-1, n))).reshape({-1, k, n});
    for (Index i = 0; i < batch.numel(); ++i)
      CHECK(same_bits(y.reshape({-1, m, n}).select(0, i), matmul(left.select(0, i), right.select(0, i))));
    for (const int count : {1, 3, 7}) {
      const Hardware use(kernels::table(), count);
      CHECK(same_bits(matmul(x, z), y));
    }
  }
}

TEST_CASE("linear") {
  const Oracle naive_linear = [](const std::vector<Value>& in) {
    return linear_rows(in[0].x, in[1], in.size() > 2 ? &in[2] : nullptr, in[0].shape.without(-1).numel());
  };
  const Array x = random_array({2, 3, 4}, 1), weight = random_array({5, 4}, 2), bias = random_array({5}, 3);
  check_op("linear", [](In t) { return linear(t[0], t[1], t[2]); }, naive_linear, {x, weight, bias},
           {.empty = {Array::zeros({2, 0, 4}), weight, bias},
            .error = [] { linear(zeros_of(2, 3), zeros_of(5, 4)); },
            .error_text = "linear: x [2, 3] needs a last extent of 4 for weight [5, 4]"});
  check_op("linear", [](In t) { return linear(t[0], t[1]); }, naive_linear, {x, weight},
           {.empty = {Array::zeros({2, 0}), Array::zeros({5, 0})}});
  check_op("linear", [](In t) { return linear(t[0], t[1], t[2]); }, naive_linear, {random_array({4}, 1), weight, bias},
           {.empty = {Array::zeros({4}), Array::zeros({0, 4}), Array::zeros({0})}});
  CHECK(error_of([&] { linear(x, weight, zeros({4})); }) == "linear: bias [4] does not fit weight [5, 4]");
  CHECK(error_of([&] { linear(x, zeros({4})); }) == "linear: weight must be [out, in], but has shape [4]");
  CHECK(error_of([&] { linear(Tensor(real(1)), weight); }) ==
        "linear: x [] needs a last extent of 4 for weight [5, 4]");
}

}  // namespace
}  // namespace mote::test::matmul_test
