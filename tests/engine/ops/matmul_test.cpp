// matmul and linear: check_op, ranks, NaN, batches. What the bits are, in every shape, layout, instruction set and
// number of threads, gemm_test.cpp says.
#include "engine/ops/matmul.h"

#include "engine/ops/create.h"
#include "tests/row_oracles.h"
#include "tests/sentences.h"

namespace mote::test::matmul_test {
namespace {

const OpFunction product = [](In x) { return matmul(x[0], x[1]); };

/// Rank 2 by rank 2, or equal batches of them.
const Oracle oracle = [](const std::vector<Value>& in) {
  const Index m = in[0].shape[-2], k = in[0].shape[-1], n = in[1].shape[-1];
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  std::vector<double> y;
  for (Index batch = 0; batch < (in[0].shape.rank() > 2 ? in[0].shape[0] : 1); ++batch)
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) {
        double total = 0;
        for (Index p = 0; p < k; ++p)
          total += in[0].x[at((batch * m + i) * k + p)] * in[1].x[at((batch * k + p) * n + j)];
        y.push_back(total);
      }
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
  REFUSES(matmul(zeros_of(3), zeros_of(4, 2)));
  REFUSES(matmul(zeros_of(2, 3), zeros_of(4)));
  REFUSES(matmul(Tensor(real(1)), zeros({1})));
  REFUSES(matmul(zeros_of(2, 1, 2), zeros_of(3, 2, 2)));
}

TEST_CASE("matmul: rank 1 is a row on the left and a column on the right") {
  const Array v = random_array({4}, 1), w = random_array({4}, 2), a = random_array({3, 4}, 3),
              batch = random_array({2, 4, 3}, 4);
  CHECK(matmul(v, w).shape() == Shape{});
  CHECK(matmul(Array::zeros({0}), Array::zeros({0})).item() == 0);
  CHECK(same_bits(matmul(a, v), matmul(a, v.reshape({4, 1})).reshape({3})));
  CHECK(same_bits(matmul(v, batch), matmul(v.reshape({1, 4}), batch).reshape({2, 3})));
  CHECK(matmul(batch, random_array({3}, 5)).shape() == Shape{2, 4});
  for (const std::vector<Array>& in : std::vector<std::vector<Array>>{{v, w},
                                                                      {a, v},
                                                                      {v, batch},
                                                                      {batch, random_array({3}, 5)},
                                                                      {a, batch},
                                                                      {random_array({2, 1, 3, 4}, 6), batch}}) {
    check_gradient(product, in);
  }
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
  }
}

TEST_CASE("matmul by one matrix is one product, backward, too: the bits of linear") {
  const Array w = random_array({7, 5}, 2);
  for (const Shape& shape : {Shape{3, 200, 7}, Shape{2, 1, 300, 7}, Shape{7}, Shape{4, 7}, Shape{0, 3, 7}}) {
    const Array x = random_array(shape, 1), dy = random_array(shape.with(-1, 5), 3);
    const Run expected([](In t) { return linear(t[0], t[1]); }, {x, copy_of(w.transpose(0, 1))}, dy);
    const Array dw = expected.dx[1].transpose(0, 1);
    for (const Array& b : {w, copy_of(w.transpose(0, 1)).transpose(0, 1), w.reshape({1, 7, 5})}) {
      if (b.rank() == 3 && shape.rank() < 3) continue;
      const Run r(product, {x, b}, dy);
      CHECK(same_bits(r.y, expected.y));
      CHECK(same_bits(r.dx[0], expected.dx[0]));
      CHECK(same_bits(r.dx[1], dw.reshape(b.shape())));
    }
    if (shape.rank() < 3) continue;
    const Array turned = copy_of(x.transpose(-2, -1)).transpose(-2, -1);
    CHECK(same_bits(Run(product, {turned, w}, dy).dx[1], dw));
  }
  check_gradient(product, {random_array({2, 3, 4, 5}, 1), random_array({3, 5, 2}, 2)});
  check_gradient(product, {random_array({4, 5}, 1), random_array({1, 1, 5, 2}, 2)});
  check_gradient(product, {random_array({2, 3, 5}, 1), random_array({5}, 2)});
}

TEST_CASE("linear") {
  const Oracle naive_linear = [](const std::vector<Value>& in) {
    return linear_rows(in[0].x, in[1], in.size() > 2 ? &in[2] : nullptr, in[0].shape.without(-1).numel());
  };
  const Array x = random_array({2, 3, 4}, 1), weight = random_array({5, 4}, 2), bias = random_array({5}, 3);
  check_op("linear", [](In t) { return linear(t[0], t[1], t[2]); }, naive_linear, {x, weight, bias},
           {.required = 2,
            .empty = {Array::zeros({2, 0, 4}), weight, bias},
            .error = [] { linear(zeros_of(2, 3), zeros_of(5, 4)); },
            .error_text = "linear: x [2, 3] needs a last extent of 4 for weight [5, 4]"});
  check_op("linear", [](In t) { return linear(t[0], t[1]); }, naive_linear, {x, weight},
           {.empty = {Array::zeros({2, 0}), Array::zeros({5, 0})}});
  check_op("linear", [](In t) { return linear(t[0], t[1], t[2]); }, naive_linear, {random_array({4}, 1), weight, bias},
           {.required = 2, .empty = {Array::zeros({4}), Array::zeros({0, 4}), Array::zeros({0})}});
  REFUSES(linear(x, weight, zeros({4})));
  REFUSES(linear(x, zeros({4})));
  REFUSES(linear(Tensor(real(1)), weight));
}

TEST_CASE("outer") {
  const Oracle products = [](const std::vector<Value>& in) {
    std::vector<double> y;
    for (const double a : in[0].x)
      for (const double b : in[1].x) y.push_back(a * b);
    return y;
  };
  check_op("outer", [](In t) { return outer(t[0], t[1]); }, products, {random_array({3}, 1), random_array({4}, 2)});
  REFUSES(outer(Tensor(Array::zeros({2, 2})), Tensor(Array::zeros({2}))));
  REFUSES(outer(Tensor(Array::zeros({2})), Tensor(Array::zeros({}))));
}

}  // namespace
}  // namespace mote::test::matmul_test
