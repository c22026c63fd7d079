// sort, argsort, topk and rank_first: values, positions, gradients, ties, NaN; histogram.
#include "engine/ops/order.h"

#include <algorithm>

#include "engine/ops/index.h"
#include "tests/sentences.h"
#include "tests/support.h"

namespace mote::test::order_test {
namespace {

/// Rows of x [..., 5], sorted by `before`, of which the first k are left.
Oracle sorted_rows(bool (*before)(double, double), std::size_t k) {
  return [=](const std::vector<Value>& in) {
    std::vector<double> y;
    for (std::size_t at = 0; at < in[0].x.size(); at += 5) {
      std::vector<double> row(in[0].x.begin() + static_cast<std::ptrdiff_t>(at),
                              in[0].x.begin() + static_cast<std::ptrdiff_t>(at + 5));
      std::sort(row.begin(), row.end(), before);
      y.insert(y.end(), row.begin(), row.begin() + static_cast<std::ptrdiff_t>(k));
    }
    return y;
  };
}
bool less(double a, double b) { return a < b; }
bool greater(double a, double b) { return a > b; }

TEST_CASE("sort, topk") {
  const Array x = distinct_array({3, 4, 5}, 1);
  check_op("sort", [](In t) { return sort(t[0]).values; }, sorted_rows(less, 5), {x});
  check_op("sort", [](In t) { return sort(t[0], 2, true).values; }, sorted_rows(greater, 5), {x});
  check_op("topk", [](In t) { return topk(t[0], 2).values; }, sorted_rows(greater, 2), {x});
  check_op("topk", [](In t) { return topk(t[0], 3, -1, false).values; }, sorted_rows(less, 3), {x});
  for (int axis = -3; axis < 3; ++axis) {
    const Ranked all = sort(Tensor(x), axis), two = topk(Tensor(x), 2, axis);
    CHECK(same_bits(gather(x, axis, all.indices).array(), all.values.array()));
    CHECK(equal(argsort(x, axis), all.indices));
    CHECK(two.values.shape() == x.shape().with(axis, 2));
    CHECK(same_bits(gather(x, axis, two.indices).array(), two.values.array()));
    CHECK(same_bits(two.values.array(), sort(Tensor(x), axis, true).values.array().slice(axis, 0, 2)));
  }
}

TEST_CASE("sort, topk: ties keep their order, NaN is the largest, as in PyTorch with stable=True") {
  const Tensor x = array({6}, {3, nan, 1, inf, -inf, 1});
  const std::vector<Index> up{4, 2, 5, 0, 3, 1}, down{1, 3, 0, 2, 5, 4};
  CHECK(sort(x).indices.to_vector() == up);
  CHECK(sort(x, 0, true).indices.to_vector() == down);
  CHECK(topk(x, 3).indices.to_vector() == std::vector<Index>{1, 3, 0});
  CHECK(topk(x, 2, 0, false).indices.to_vector() == std::vector<Index>{4, 2});
  const auto [values, indices] = sort(x);
  CHECK(distance(values.to_vector(), {-inf, 1, 1, 3, inf, nan}) == 0);
  CHECK(sort(zeros({2, 0})).values.shape() == Shape{2, 0});
  CHECK(topk(zeros({2, 3}), 0).values.shape() == Shape{2, 0});
  REFUSES(topk(zeros({2, 3}), 4));
  REFUSES(topk(zeros({2, 3}), -1));
  REFUSES(sort(zeros({2}), 1));
}

TEST_CASE("histogram: PyTorch's counts and edges") {
  const Histogram three = histogram(tensor({3, 1, 2, 6, 5, 4}), 3);
  CHECK(three.hist.to_vector() == std::vector<real>{2, 2, 2});
  CHECK(distance(three.bin_edges.to_vector(), {1, 8 / 3.0, 13 / 3.0, 6}) < 1e-6);
  CHECK(histogram(tensor({1, 1, 2, 4}), 3, true).hist.to_vector() ==
        std::vector<real>{real(0.5), real(0.25), real(0.25)});
  const Histogram same = histogram(tensor({2, 2}), 2);
  CHECK(same.hist.to_vector() == std::vector<real>{0, 2});
  CHECK(same.bin_edges.to_vector() == std::vector<real>{real(1.5), 2, real(2.5)});
  CHECK(histogram(random_array({1000}, 1)).hist.shape() == Shape{100});
  CHECK(sum(histogram(random_array({1000}, 1)).hist).item() == 1000);
  REFUSES(histogram(zeros({0})));
  REFUSES(histogram(zeros({3}), 0));
  REFUSES(histogram(array({2}, {1, inf})));
  REFUSES(histogram(tensor({1, 2}), std::numeric_limits<Index>::max()));
}

TEST_CASE("rank_first selects what a stable sort of the whole row puts first") {
  for (const Index n : {1, 7, 100, 3000})
    for (const Index k : {Index(1), Index(2), n / 3, n - 1, n}) {
      if (k < 1 || k > n) continue;
      for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        Array x = random_array({n}, seed, -3, 3);
        for (Index i = 0; i < n && seed % 2; ++i) x.mutate()[i] = std::round(x.mutate()[i]);  // equal ones, -0 beside 0
        if (seed == 3) x.mutate()[n / 2] = x.mutate()[n - 1] = nan;
        std::vector<Index> order(static_cast<std::size_t>(n));
        std::iota(order.begin(), order.end(), Index(0));
        std::stable_sort(order.begin(), order.end(),
                         [&](Index a, Index b) { return detail::ranks_before(x.data()[a], x.data()[b]); });
        order.resize(static_cast<std::size_t>(k));
        CAPTURE(n);
        CAPTURE(k);
        CAPTURE(seed);
        std::vector<Index> first;
        rank_first(x.data(), n, k, first);
        CHECK(first == order);
      }
    }
}

TEST_CASE("the array and the shape of a temporary live on") {
  const Tensor x = ones({2, 3});
  const Array& total = sum(x, 0).array();
  const Shape& shape = sum(x, 0).shape();
  const Array other = Array::full({3}, 7);  // would take the block that a dead array has left
  CHECK(total.to_vector() == std::vector<real>{2, 2, 2});
  CHECK(shape == Shape{3});
  CHECK(other.numel() == 3);
}

TEST_CASE("rank_first: counts that do not fit") {
  const real row[] = {1, 2};
  std::vector<Index> first;
  REFUSES(rank_first(row, 2, 3, first));
  REFUSES(rank_first(row, 2, -1, first));
  REFUSES(rank_first(row, -1, 0, first));
}

}  // namespace
}  // namespace mote::test::order_test
