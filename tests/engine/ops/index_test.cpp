// gather and take_rows.
#include "engine/ops/index.h"

#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/create.h"
#include "engine/ops/loss.h"
#include "engine/ops/reduce.h"
#include "tests/sentences.h"
#include "tests/support.h"

namespace mote::test::index_test {
namespace {

TEST_CASE("gather") {
  const IntArray columns = ints({{2, 0}, {1, 1}, {0, 2}}), rows = ints({{2, 0, 1}, {0, 0, 2}});
  const auto taken = [](int axis, const IntArray& index) -> Oracle {  // of x [3, 3], or of nothing
    return [=](const std::vector<Value>& in) {
      std::vector<double> y;
      for (Index i = 0; i < index.numel() && !in[0].x.empty(); ++i) {
        const Index r = i / index.shape()[1], c = i % index.shape()[1], at = index.data()[i];
        y.push_back(in[0].x[static_cast<std::size_t>(axis == 0 ? at * 3 + c : r * 3 + at)]);
      }
      return y;
    };
  };
  const Array x = random_array({3, 3}, 1);
  const auto by_columns = [&](In t) { return gather(t[0], 1, t[0].numel() ? columns : IntArray(Shape{0, 2})); };
  const auto by_rows = [&](In t) { return gather(t[0], -2, t[0].numel() ? rows : IntArray(Shape{2, 0})); };
  check_op("gather", by_columns, taken(1, columns), {x},
           {.required = 0,
            .error =
                [] {
                  gather(zeros_of(2, 3), 1, ints({{0}, {3}}));
                },
            .error_text = "gather: index 3 is out of range for axis 1 of [2, 3]"});
  check_op("gather", by_rows, taken(0, rows), {x}, {.required = 0, .empty = {Array::zeros({3, 0})}});
}

TEST_CASE("gather: what is out of range, of the wrong rank, too large, empty") {
  const Tensor x = zeros({2, 3});
  REFUSES(gather(x, 1, ints({{-1}})));
  REFUSES(gather(x, 1, ints({{std::numeric_limits<Index>::max()}})));
  REFUSES(gather(x, 1, ints({1})));
  REFUSES(gather(x, 1, IntArray(Shape{3, 1})));
  REFUSES(gather(x, 2, ints({{0}})));
  CHECK(gather(x, 1, IntArray(Shape{2, 0})).shape() == Shape{2, 0});
  CHECK(gather(x, 1, IntArray(Shape{1, 7})).shape() == Shape{1, 7});  // along the axis the index may be longer
  CHECK(gather(zeros({0, 3}), 1, IntArray(Shape{0, 2})).shape() == Shape{0, 2});
}

TEST_CASE("take_rows: tensors, tokens, gradients, errors") {
  const Tensor x = Tensor(Array({3, 2}, std::vector<real>{1, 2, 3, 4, 5, 6})).requires_grad_();
  const Tensor y = take_rows(x, {2, 0, 2});
  CHECK(y.shape() == Shape{3, 2});
  CHECK(y.to_vector() == std::vector<real>{5, 6, 1, 2, 5, 6});
  sum(y * Tensor(Array({3, 2}, std::vector<real>{1, 2, 3, 4, 5, 6}))).backward();
  CHECK(x.grad().to_vector() == std::vector<real>{3, 4, 0, 0, 6, 8});
  CHECK(take_rows(Tensor(Array({3}, std::vector<real>{7, 8, 9})), {1, 2}).to_vector() == std::vector<real>{8, 9});
  CHECK(take_rows(x, {}).shape() == Shape{0, 2});
  CHECK(take_rows(Tensor(Array::zeros({0, 2, 5})), {}).shape() == Shape{0, 2, 5});
  CHECK(take_rows(Tensor(Array::zeros({4, 2, 0})), {3, 1}).shape() == Shape{2, 2, 0});
  const Array wide = Array({2, 3}, std::vector<real>{1, 2, 3, 4, 5, 6}).transpose(0, 1);  // any strides
  CHECK(take_rows(Tensor(wide), {1}).to_vector() == std::vector<real>{2, 5});

  CHECK(take_rows(ints({{1, 2}, {3, 4}}), {1, 1, 0}) == ints({{3, 4}, {3, 4}, {1, 2}}));
  CHECK(take_rows(ints({5, 6, 7}), {2}) == ints({7}));
  CHECK(take_rows(IntArray({0, 3}), {}).shape() == Shape{0, 3});
  CHECK(take_rows(ints({{1, 2}, {3, 4}}).transpose(0, 1), {1}) == ints({{2, 4}}));
  REFUSES(take_rows(x, {3}));
  REFUSES(take_rows(ints({5, 6}), {-1}));
  REFUSES(take_rows(Tensor(1), {0}));
}

TEST_CASE("gather, embedding, cross_entropy, ==: integers in any layout") {
  const IntArray turned = ints({{2, 0, 1}, {1, 1, 0}}).transpose(0, 1), stepped = turned.slice(0, 0, 3, 2),
                 repeated = turned.select(0, 0).expand({3, 2});
  const auto same = [](auto f, const IntArray& ids) {  // value and gradient
    const auto run = [&](const IntArray& i) {
      return Run([&](In x) { return f(x[0], i); }, {random_array({3, 3}, 1)});
    };
    return run(ids) == run(copy_of(ids));
  };
  for (const IntArray& ids : {turned, stepped, repeated}) {
    CAPTURE(text_of(ids.shape()));
    CHECK(same([](const Tensor& x, const IntArray& i) { return gather(x, 0, i); }, ids));
    CHECK(same([](const Tensor& x, const IntArray& i) { return gather(x, 1, i); }, ids));
    CHECK(same([](const Tensor& x, const IntArray& i) { return embedding(x, i); }, ids));
    CHECK(same(
        [](const Tensor& x, const IntArray& i) {
          return cross_entropy(embedding(x, IntArray(i.shape(), 2)), i, {.ignore_index = 1});
        },
        ids));
    CHECK((ids == 1).to_vector() == (copy_of(ids) == 1).to_vector());
  }
}

}  // namespace
}  // namespace mote::test::index_test
