// index, index_put, gather, take_rows and index_add.
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

  CHECK(equal(take_rows(ints({{1, 2}, {3, 4}}), {1, 1, 0}), ints({{3, 4}, {3, 4}, {1, 2}})));
  CHECK(equal(take_rows(ints({5, 6, 7}), {2}), ints({7})));
  CHECK(take_rows(IntArray({0, 3}), {}).shape() == Shape{0, 3});
  CHECK(equal(take_rows(ints({{1, 2}, {3, 4}}).transpose(0, 1), {1}), ints({{2, 4}})));
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

/// index() of x [2, 3, 4], against loops over what a result's element is in x.
Oracle picked(std::vector<Index> at) {
  return [=](const std::vector<Value>& in) {
    std::vector<double> y;
    for (const Index i : at)
      if (!in[0].x.empty()) y.push_back(in[0].x[static_cast<std::size_t>(i)]);
    return y;
  };
}

TEST_CASE("index: check_op for lists, masks, positions and slices") {
  const Array x = random_array({2, 3, 4}, 1);
  const OpOptions options{.required = 0, .empty = {Array::zeros({2, 3, 0})}};
  const auto of = [](In t, std::initializer_list<IndexItem> items, const Shape& none) {
    return t[0].numel() ? index(t[0], items) : reshape(t[0], none);
  };
  check_op(
      "index",
      [&](In t) {
        return of(t, {Slice(), ints({0, 2}), 1}, {0});
      },
      picked({1, 9, 13, 21}), {x}, options);
  check_op(
      "index",
      [&](In t) {
        return of(t, {ints({0, 1}), Slice(), ints({1, 2})}, {0});
      },
      picked({1, 5, 9, 14, 18, 22}), {x}, options);
  check_op(
      "index",
      [&](In t) {
        return of(t, {ints({0, 1, 0}), ints({0, 2, 0}), ints({1, 3, 1})}, {0});
      },
      picked({1, 23, 1}), {x}, options);
  check_op(
      "index",
      [&](In t) {
        return of(t, {mask({false, true}), ints({-1})}, {0});
      },
      picked({20, 21, 22, 23}), {x}, options);
}

TEST_CASE("index: PyTorch's square brackets") {
  const Tensor x = reshape(arange(24), {2, 3, 4});
  const auto is = [](const Tensor& y, const Shape& shape, const std::vector<real>& values) {
    CHECK(y.shape() == shape);
    CHECK(y.to_vector() == values);
  };
  is(index(x, {1, 0, 2}), {}, {14});
  is(index(x, {Slice(), -1, Slice(1, 3)}), {2, 2}, {9, 10, 21, 22});
  is(index(x, {"...", -1}), {2, 3}, {3, 7, 11, 15, 19, 23});
  is(index(x, {1, Slice(0, {}, 2), Slice(-1)}), {2, 1}, {15, 23});
  is(index(x, {1, ints({0, 2})}), {2, 4}, {12, 13, 14, 15, 20, 21, 22, 23});
  is(index(x, {1, Slice(), ints({0, 0})}), {3, 2}, {12, 12, 16, 16, 20, 20});
  is(index(x, {mask({true, false}), ints({0})}), {1, 4}, {0, 1, 2, 3});
  is(index(x, {0, "...", ints({{3}, {1}})}), {3, 2, 1}, {3, 1, 7, 5, 11, 9});
  CHECK(index(x, {Slice(), None, 1}).shape() == Shape{2, 1, 4});
  CHECK(index(x, {ints({{0, 1}, {1, 0}})}).shape() == Shape{2, 2, 3, 4});
  CHECK(index(x, {Slice(), mask({true, false, true})}).shape() == Shape{2, 2, 4});
  is(index(x, {x > 21}), {2}, {22, 23});
  is(index(x, {x > 99}), {0}, {});
  CHECK(index(x, {}).shape() == x.shape());
  CHECK(index(x, {IntArray(Shape{0})}).shape() == Shape{0, 3, 4});

  // One item needs no braces.
  is(index(x, x > 21), {2}, {22, 23});
  CHECK(index(x, 1).to_vector() == index(x, {1}).to_vector());
  CHECK(index(x, Slice(1)).shape() == Shape{1, 3, 4});
  CHECK(index(x, ints({{0, 1}, {1, 0}})).shape() == Shape{2, 2, 3, 4});

  const IntArray ids = ints({{1, 2, 3}, {4, 5, 6}});
  CHECK(index(ids, ints({1, 1})).to_vector() == std::vector<Index>{4, 5, 6, 4, 5, 6});
  CHECK(index(ids, {Slice(), -1}).to_vector() == std::vector<Index>{3, 6});
  CHECK(index(ids, {int_arange(2), ints({2, 0})}).to_vector() == std::vector<Index>{3, 4});
  CHECK(index(ids, {ids > 4}).to_vector() == std::vector<Index>{5, 6});
}

TEST_CASE("index: a mask of one bool takes all of x, or nothing, along a new axis, as in PyTorch") {
  const Tensor one = tensor(-0.23), two = tensor({1, 2});
  CHECK(index(one, one > 0).shape() == Shape{0});
  CHECK(index(one, one < 0).shape() == Shape{1});
  CHECK(index(two, mask(false)).shape() == Shape{0, 2});
  CHECK(index(two, mask(true)).to_vector() == two.to_vector());
  CHECK(index(two, {mask(true), 1}).shape() == Shape{1});
  CHECK(index(ints({1, 2}), mask(false)).shape() == Shape{0, 2});
  const Tensor tracked = tensor(3).requires_grad_();
  sum(index(tracked, mask(false))).backward();
  CHECK(tracked.grad().item() == 0);
}

TEST_CASE("index_put: check_op for slices, lists, masks and a repeated position") {
  const auto put = [](std::initializer_list<IndexItem> items, const std::vector<std::size_t>& to, const Array& values) {
    const std::vector<IndexItem> kept(items);
    const Oracle oracle = [to](const std::vector<Value>& in) {
      std::vector<double> y = in[0].x;
      for (std::size_t i = 0; i < to.size() && !y.empty(); ++i) y[to[i]] = in[1].x[i % in[1].x.size()];
      return y;
    };
    const OpOptions options{.required = 0, .empty = {Array::zeros({0, 4}), Array::zeros({1})}};
    const auto of = [kept](In t) {
      if (t[0].numel() == 0) return index_put(t[0], {Slice()}, t[1]);
      return kept.size() == 1 ? index_put(t[0], {kept[0]}, t[1]) : index_put(t[0], {kept[0], kept[1]}, t[1]);
    };
    check_op("index_put", of, oracle, {random_array({3, 4}, 1), values}, options);
  };
  put({Slice(), Slice(0, {}, 2)}, {0, 2, 4, 6, 8, 10}, random_array({3, 2}, 2));
  put({1}, {4, 5, 6, 7}, random_array({4}, 2));
  put({ints({0, 2}), ints({1, 3})}, {1, 11}, random_array({2}, 2));
  put({ints({0, 2, 0}), ints({1, 3, 1})}, {1, 11, 1}, random_array({3}, 2));
  put({mask({false, true, true}), -1}, {7, 11}, random_array({1}, 2));
}

TEST_CASE("index_put: PyTorch's assignment to square brackets") {
  // x = torch.arange(6.).reshape(2, 3); x[x > 2] = -1; x[..., -1] = 9; x[[0, 1], [1, 0]] = torch.tensor([5., 6.])
  Tensor x = reshape(arange(6), {2, 3});
  x = index_put(x, x > 2, -1);
  CHECK(x.to_vector() == std::vector<real>{0, 1, 2, -1, -1, -1});
  x = index_put(x, {"...", -1}, 9);
  CHECK(x.to_vector() == std::vector<real>{0, 1, 9, -1, -1, 9});
  x = index_put(x, {ints({0, 1}), ints({1, 0})}, tensor({5, 6}));
  CHECK(x.to_vector() == std::vector<real>{0, 5, 9, 6, -1, 9});
  const Tensor row = x;
  x = index_put(x, 0, tensor({1, 2, 3}));
  CHECK(x.to_vector() == std::vector<real>{1, 2, 3, 6, -1, 9});
  CHECK(row.to_vector() == std::vector<real>{0, 5, 9, 6, -1, 9});
  CHECK(index_put(transpose(x, 0, 1), {Slice(), 0}, 0).to_vector() == std::vector<real>{0, 6, 0, -1, 0, 9});

  const IntArray ids = ints({{1, 2, 3}, {4, 5, 6}});
  CHECK(index_put(ids, ids > 4, -100).to_vector() == std::vector<Index>{1, 2, 3, 4, -100, -100});
  CHECK(index_put(ids, {Slice(), 0}, ints({7, 8})).to_vector() == std::vector<Index>{7, 2, 3, 8, 5, 6});
  CHECK(index_put(ids, {ints({0, 0}), 0}, ints({7, 8})).at({0, 0}) == 8);
  // As in PyTorch, values may have leading axes of extent 1, and an IntArray of rank 0 is a position.
  const Tensor values = tensor({{{7, 8, 9}}}).requires_grad_();
  const Tensor y = index_put(x, 0, values);
  y.backward(ones({2, 3}));
  CHECK(index(y, 0).to_vector() == std::vector<real>{7, 8, 9});
  CHECK(values.grad().shape() == Shape{1, 1, 3});
  CHECK(index_put(ids, 0, ints({{7, 8, 9}})).to_vector() == std::vector<Index>{7, 8, 9, 4, 5, 6});
  CHECK(index(zeros({3, 1, 1}), {ints(0), "...", ints({-1, 0, 0})}).shape() == Shape{1, 3});
  REFUSES(index_put(x, {0}, zeros({2})));
  REFUSES(index_put(x, {2}, 1));
  REFUSES(index_put(ids, {0}, ints({1, 2})));
}

TEST_CASE("index: what does not fit") {
  const Tensor x = zeros({2, 3});
  REFUSES(index(x, {2}));
  REFUSES(index(x, {0, 0, 0}));
  REFUSES(index(x, {ints({0, 2})}));
  REFUSES(index(x, {Slice(), ints({-4})}));
  REFUSES(index(x, {ints({0, 1}), ints({0, 1, 2})}));
  REFUSES(index(x, {mask({true, false, true})}));
  REFUSES(index(x, {"...", "..."}));
  REFUSES(index(x, {".."}));
  REFUSES(index(Tensor(), {0}));
}

TEST_CASE("index_add") {
  const IntArray at = ints({2, 0, 2});
  const Oracle added = [](const std::vector<Value>& in) {
    std::vector<double> y = in[0].x;
    const std::size_t to[] = {2, 0, 2};
    for (std::size_t i = 0; i < in[1].x.size(); ++i) y[i / 12 * 12 + to[i / 4 % 3] * 4 + i % 4] += in[1].x[i];
    return y;
  };
  check_op("index_add", [&](In t) { return index_add(t[0], 1, at, t[1]); }, added,
           {random_array({2, 3, 4}, 1), random_array({2, 3, 4}, 2)},
           {.error = [] { index_add(zeros({3}), 0, ints({3}), zeros({1})); },
            .error_text = "index_add: index 3 is out of range for axis 0 of [3]"});
  REFUSES(index_add(zeros({3, 2}), 0, ints({0, 1}), zeros({1, 2})));
  REFUSES(index_add(zeros({3, 2}), 0, ints({{0}}), zeros({1, 2})));
}

}  // namespace
}  // namespace mote::test::index_test
