// The ops that move numbers: check_op for each, and errors.
#include "engine/ops/view.h"

#include "engine/array/integers.h"
#include "engine/ops/compare.h"
#include "engine/ops/create.h"
#include "tests/sentences.h"
#include "tests/support.h"

namespace mote::test::view_test {
namespace {

/// The same view of an array: which elements that shows, views_test.cpp says.
Oracle viewed(std::function<Array(const Array&)> view) {
  return [view](const std::vector<Value>& in) { return Value(view(array(in[0].shape, in[0].x))).x; };
}
const Oracle same_order = [](const std::vector<Value>& in) { return in[0].x; };

TEST_CASE("reshape") {
  const Array x = random_array({2, 3, 4}, 1);
  const std::initializer_list<Integer> rows{-1, 4}, columns{4, -1};
  check_op("reshape", [&](In t) { return reshape(t[0], rows); }, same_order, {x},
           {.error = [&] { reshape(zeros_of(2, 3), columns); },
            .error_text = "reshape: shape [2, 3] has 6 elements and does not fit [4, -1]"});
  check_op("reshape",
           [](In t) {
             return reshape(t[0], t[0].numel() ? Shape{6, 2, 2} : Shape{0, 5});
           },
           same_order, {x}, {.required = 0});
  REFUSES(reshape(zeros({0, 3}), {0, -1}));
  CHECK(reshape(Tensor(real(2)), {1, 1}).shape() == Shape{1, 1});
}

TEST_CASE("view") {
  const std::initializer_list<Integer> squares{-1, 2, 2};
  check_op("view", [&](In t) { return view(t[0], squares); }, same_order, {random_array({2, 3, 4}, 1)},
           {.any_layout = false,
            .error = [] { view(transpose(zeros_of(2, 3), 0, 1), {6}); },
            .error_text = "view: the elements of shape [3, 2] cannot be viewed as [6] (transposed or sliced): use "
                          "reshape"});
}

TEST_CASE("contiguous") {
  check_op("contiguous", [](In t) { return contiguous(t[0]); }, same_order, {random_array({2, 3, 4}, 1)});
  CHECK(contiguous(transpose(zeros({2, 3}), 0, 1)).array().is_contiguous());
}

TEST_CASE("transpose") {
  check_op(
      "transpose", [](In t) { return transpose(t[0], 0, -1); },
      viewed([](const Array& x) { return x.transpose(0, -1); }), {random_array({2, 3, 4}, 1)},
      {.error = [] { transpose(zeros_of(2, 3), 0, 2); }, .error_text = "transpose: axis 2 is out of range for [2, 3]"});
}

TEST_CASE("permute") {
  const std::initializer_list<Integer> axes{2, 0, -2}, twice{0, 1, 1};
  check_op("permute", [&](In t) { return permute(t[0], axes); },
           viewed([&](const Array& x) { return x.permute(axes); }), {random_array({2, 3, 4}, 1)},
           {.error = [&] { permute(zeros({2}), twice); }, .error_text = "permute: shape [2] needs 1 axes, not 3"});
  REFUSES(permute(zeros_of(2, 3, 4), twice));
}

TEST_CASE("slice") {
  const Array x = random_array({2, 7, 3}, 1);
  check_op("slice", [](In t) { return slice(t[0], 1, 1, 6, 2); },
           viewed([](const Array& a) { return a.slice(1, 1, 6, 2); }), {x},
           {.error = [] { slice(zeros({3}), 0, 0, 3, 0); }, .error_text = "slice: step 0 must be at least 1"});
  check_op("slice", [](In t) { return slice(t[0], -2, -3, 100); },
           viewed([](const Array& a) { return a.slice(-2, -3, 100); }), {x});
  for (const auto& [start, end] : {std::pair<Index, Index>{3, 3}, {5, 2}, {7, 9}, {100, 200}, {-1, -3}}) {
    const Run none([start = start, end = end](In t) { return slice(t[0], 1, start, end); }, {x});
    CHECK(none.y.shape() == Shape{2, 0, 3});
    CHECK(same_bits(none.dx[0], Array::zeros(x.shape())));
  }
}

TEST_CASE("select") {
  const Array x = random_array({2, 4, 3}, 1);
  check_op("select", [](In t) { return select(t[0], 1, -2); }, viewed([](const Array& a) { return a.select(1, -2); }),
           {x},
           {.error = [] { select(zeros_of(2, 3), 1, 3); },
            .error_text = "select: position 3 is out of range for axis 1 of [2, 3]"});
  check_op("select", [](In t) { return select(t[0], -1, 0); }, viewed([](const Array& a) { return a.select(-1, 0); }),
           {x});
}

TEST_CASE("split, chunk, unbind") {
  const Oracle swapped = [](const std::vector<Value>& in) {  // columns 3, 4 before columns 0, 1, 2 of [rows, 5]
    std::vector<double> y;
    for (std::size_t r = 0; r + 5 <= in[0].x.size(); r += 5)
      for (const std::size_t c : {3u, 4u, 0u, 1u, 2u}) y.push_back(in[0].x[r + c]);
    return y;
  };
  const auto back_to_front = [](const std::vector<Tensor>& parts) { return concat({parts[1], parts[0]}, -1); };
  const Array x = random_array({4, 5}, 1);
  const std::vector<Index> five{3, 2}, six{3, 3};
  check_op("split", [&](In t) { return back_to_front(split(t[0], five, 1)); }, swapped, {x},
           {.error = [&] { split(zeros_of(4, 5), six, 1); },
            .error_text = "split: sizes add up to 6, but axis 1 of [4, 5] has 5",
            .recorded_by = "concat"});
  check_op("split", [&](In t) { return back_to_front(split(t[0], 3, -1)); }, swapped, {x},
           {.error = [] { split(zeros({4}), 0); },
            .error_text = "split: size 0 must be at least 1",
            .recorded_by = "concat"});
  check_op("chunk", [&](In t) { return back_to_front(chunk(t[0], 2, 1)); }, swapped, {x},
           {.error = [] { chunk(zeros({4}), 0); },
            .error_text = "chunk: count 0 must be at least 1",
            .recorded_by = "concat"});
  check_op("unbind", [](In t) { return stack(unbind(t[0], 1), 1); }, same_order, {x},
           {.error = [] { unbind(zeros({4}), 1); },
            .error_text = "unbind: axis 1 is out of range for [4]",
            .recorded_by = "stack"});
  REFUSES(split(zeros({4}), std::vector<Index>{5, -1}));
  CHECK(split(zeros({7}), 3).size() == 3);
  CHECK(split(zeros({7}), 3)[2].shape() == Shape{1});
  CHECK(chunk(zeros({7}), 3)[0].shape() == Shape{3});
  CHECK(split(zeros({4}), std::vector<Index>{0, 4})[0].shape() == Shape{0});
  CHECK(unbind(zeros({3, 2}))[2].shape() == Shape{2});
}

TEST_CASE("concat") {
  const Oracle side_by_side = [](const std::vector<Value>& in) {
    std::vector<double> y;
    for (Index r = 0; r < in[0].shape[0]; ++r)
      for (const Value& v : in)
        for (Index c = 0; c < v.shape[1]; ++c) y.push_back(v.x[static_cast<std::size_t>(r * v.shape[1] + c)]);
    return y;
  };
  const auto f = [](In x) { return concat(x, 1); };
  const std::vector<Tensor> unlike{zeros_of(2, 3), zeros_of(3, 2)};
  check_op("concat", f, side_by_side, {random_array({2, 3}, 1), random_array({2, 2}, 2), random_array({2, 4}, 3)},
           {.empty = {Array::zeros({2, 0}), Array::full({2, 2}, 3), Array::zeros({2, 0})},
            .error = [&] { f(unlike); },
            .error_text = "concat: shapes [2, 3] and [3, 2] may differ along axis 1 only"});
  std::vector<Array> many;
  for (std::uint64_t i = 0; i < 7; ++i) many.push_back(random_array({2, 2}, i));
  check_op("concat", f, side_by_side, many);
  REFUSES(concat(std::vector<Tensor>{}));
  const Array x = random_array({2, 3}, 1);
  CHECK(same_bits(concat({x}).array(), x));
  CHECK(same_bits(concat({x, zeros({0, 3})}).array(), x));
}

TEST_CASE("stack") {
  const Oracle layers = [](const std::vector<Value>& in) {
    std::vector<double> y = in[0].x;
    y.insert(y.end(), in[1].x.begin(), in[1].x.end());
    return y;
  };
  const std::vector<Tensor> unlike{zeros_of(2), zeros_of(3)};
  check_op("stack", [](In x) { return stack(x); }, layers, {random_array({2, 3}, 1), random_array({2, 3}, 2)},
           {.error = [&] { stack(unlike); }, .error_text = "stack: shapes [2] and [3] must be the same"});
  REFUSES(stack(std::vector<Tensor>{}));
  CHECK(stack({zeros({2}), zeros({2})}, 1).shape() == Shape{2, 2});
}

TEST_CASE("concat, cat and stack of indices") {
  const IntArray a = ints({{1, 2}, {3, 4}}), b = ints({{5}, {6}}), across = ints({{7, 9}, {8, 10}}).transpose(0, 1);
  CHECK(equal(concat({a, b}, 1), ints({{1, 2, 5}, {3, 4, 6}})));
  CHECK(equal(cat({a, across}), ints({{1, 2}, {3, 4}, {7, 8}, {9, 10}})));
  CHECK(equal(cat({a, IntArray({2, 0})}, -1), a));
  CHECK(equal(stack({ints({1, 2}), ints({3, 4}), ints({5, 6})}), ints({{1, 2}, {3, 4}, {5, 6}})));
  CHECK(equal(stack({ints({1, 2}), ints({3, 4}), ints({5, 6})}, -1), ints({{1, 3, 5}, {2, 4, 6}})));
  CHECK(equal(stack({a, across}, 1), ints({{{1, 2}, {7, 8}}, {{3, 4}, {9, 10}}})));
  REFUSES(cat({a, b}));
  REFUSES(stack({a, b}));
  REFUSES(stack(std::vector<IntArray>{}));
}

TEST_CASE("squeeze, unsqueeze") {
  check_op("unsqueeze", [](In x) { return unsqueeze(x[0], -2); }, same_order, {random_array({2, 3}, 1)},
           {.error = [] { unsqueeze(zeros({2}), 3); },
            .error_text = "unsqueeze: axis 3 is out of range for inserting into [2]"});
  check_op("squeeze", [](In x) { return squeeze(x[0], 1); }, same_order, {random_array({3, 1, 2}, 1)},
           {.error = [] { squeeze(zeros({2}), 1); }, .error_text = "squeeze: axis 1 is out of range for [2]"});
  CHECK(squeeze(zeros({2, 3}), 0).shape() == Shape{2, 3});
  CHECK(squeeze(zeros({1}), 0).shape() == Shape{});
  CHECK(view(zeros({2, 3}), Shape{3, 2}).shape() == Shape{3, 2});
  CHECK(unsqueeze(Tensor(real(1)), 0).shape() == Shape{1});
}

TEST_CASE("expand") {
  const std::initializer_list<Integer> wide{3, 4};
  check_op("expand", [](In x) { return expand(x[0], x[0].shape().with(1, 4).insert(0, 2)); },
           viewed([](const Array& x) { return x.expand(x.shape().with(1, 4).insert(0, 2)); }),
           {random_array({3, 1}, 1)},
           {.required = 0,
            .error = [&] { expand(zeros_of(3, 2), wide); },
            .error_text = "expand: shape [3, 2] does not broadcast to [3, 4] (axis -1: 2 against 4)"});
}

TEST_CASE("tril, triu") {
  for (const Index diagonal : {0, 1, -1, -9, 9}) {
    const auto triangle = [diagonal](bool lower) {
      return [=](const std::vector<Value>& in) {
        std::vector<double> y = in[0].x;
        for (std::size_t i = 0; i < y.size(); ++i) {
          const Index column = static_cast<Index>(i) % 5, row = static_cast<Index>(i) / 5 % 4;
          if (lower ? column > row + diagonal : column < row + diagonal) y[i] = 0;
        }
        return y;
      };
    };
    check_op("tril", [diagonal](In x) { return tril(x[0], diagonal); }, triangle(true), {random_array({2, 4, 5}, 1)},
             {.constant = diagonal == -9,
              .error = [] { tril(zeros({3})); },
              .error_text = "tril: needs at least two axes, but the shape is [3]"});
    check_op("triu", [diagonal](In x) { return triu(x[0], diagonal); }, triangle(false), {random_array({2, 4, 5}, 1)},
             {.constant = diagonal == 9,
              .error = [] { triu(zeros({3})); },
              .error_text = "triu: needs at least two axes, but the shape is [3]"});
  }
}

TEST_CASE("split_heads and join_heads: what does not fit is a sentence") {
  const Tensor x = zeros({2, 3, 4});
  for (const Index count : {Index(0), Index(-1), Index(3), Index(8), Index(1) << 62})
    CHECK(error_of([&] { split_heads(x, count); }) ==
          (count < 1 ? "split_heads: count " + std::to_string(count) + " must be at least 1"
                     : "split_heads: the last extent of x [2, 3, 4] must be a multiple of " + std::to_string(count) +
                           ", the number of heads"));
  REFUSES(split_heads(zeros({3, 4}), 2));
  REFUSES(join_heads(x));
  REFUSES(repeat_heads(x, 2));
  for (const Index count : {0, -2, 3})
    CHECK(error_of([&] {
            repeat_heads(zeros({1, 2, 3, 4}), count);
          }) ==
          "repeat_heads: " + std::to_string(count) + " heads must be a multiple of the 2 heads of x [1, 2, 3, 4]");
  CHECK(split_heads(zeros({2, 3, 0}), 2).shape() == Shape{2, 2, 3, 0});
}

TEST_CASE("flatten, repeat, flip, roll, diag, trace") {
  const auto same = each([](double x) { return x; });
  check_op("flatten", [](In t) { return flatten(t[0], 1); }, same, {random_array({3, 4, 5}, 1)});
  const Tensor x = reshape(arange(6), {2, 3});
  CHECK(flatten(x).shape() == Shape{6});
  CHECK(flatten(zeros({2, 3, 4, 5}), 1, -2).shape() == Shape{2, 12, 5});
  CHECK(flatten(tensor(3)).shape() == Shape{1});
  REFUSES(flatten(x, 1, 0));

  const auto permuted = [](Index rows, Index columns, auto from) -> Oracle {  // of x [2, 3], or of nothing
    return [=](const std::vector<Value>& in) {
      std::vector<double> y;
      for (Index r = 0; r < rows && !in[0].x.empty(); ++r)
        for (Index c = 0; c < columns; ++c) y.push_back(in[0].x[static_cast<std::size_t>(from(r, c))]);
      return y;
    };
  };
  const Array a = random_array({2, 3}, 1);
  check_op("repeat",
           [](In t) {
             return repeat(t[0], {2, 3});
           },
           permuted(4, 9, [](Index r, Index c) { return r % 2 * 3 + c % 3; }), {a});
  check_op("flip",
           [](In t) {
             return flip(t[0], {0, 1});
           },
           permuted(2, 3, [](Index r, Index c) { return (1 - r) * 3 + 2 - c; }), {a});
  check_op("roll", [](In t) { return roll(t[0], 1, 1); },
           permuted(2, 3, [](Index r, Index c) { return r * 3 + (c + 2) % 3; }), {a});
  CHECK(repeat(tensor({1, 2}), {3, 2}).shape() == Shape{3, 4});
  CHECK(repeat(x, {0, 1}).shape() == Shape{0, 3});
  REFUSES(repeat(x, {2}));
  REFUSES(repeat(x, {2, -1}));
  REFUSES(flip(x, {}));
  REFUSES(flip(x, {0, -2}));
  CHECK(roll(x, 5, 1).to_vector() == roll(x, -1, 1).to_vector());
  CHECK(roll(x, -1, 0).to_vector() == std::vector<real>{3, 4, 5, 0, 1, 2});
  CHECK(roll(zeros({2, 0}), 1, 1).shape() == Shape{2, 0});

  const Oracle on_diagonal = [](const std::vector<Value>& in) {
    const std::size_t n = in[0].x.size();
    std::vector<double> y(n * n);
    for (std::size_t i = 0; i < n; ++i) y[i * n + i] = in[0].x[i];
    return y;
  };
  check_op("diag", [](In t) { return diag(t[0]); }, on_diagonal, {random_array({4}, 1)});
  check_op(
      "diag", [](In t) { return diag(t[0]); },
      [](const std::vector<Value>& in) {
        return in[0].x.empty() ? std::vector<double>{} : std::vector<double>{in[0].x[0], in[0].x[4]};
      },
      {a});
  check_op(
      "trace", [](In t) { return trace(t[0]); },
      [](const std::vector<Value>& in) { return std::vector<double>{in[0].x.empty() ? 0 : in[0].x[0] + in[0].x[4]}; },
      {a});
  REFUSES(diag(zeros({2, 2, 2})));
  REFUSES(trace(zeros({2})));
}

TEST_CASE("squeeze without an axis removes all extents of 1") {
  CHECK(squeeze(zeros({1, 2, 1, 3, 1})).shape() == Shape{2, 3});
  CHECK(squeeze(zeros({1, 1})).shape() == Shape{});
  check_op("squeeze", [](In t) { return squeeze(t[0]); }, each([](double x) { return x; }),
           {random_array({3, 1, 4}, 1)});
}

TEST_CASE("split and chunk of an empty axis have PyTorch's number of parts") {
  CHECK(split(zeros({0, 3}), 2).size() == 1);
  CHECK(split(zeros({2, 0}), 2, 1).at(0).shape() == Shape{2, 0});
  CHECK(chunk(zeros({0}), 3).size() == 3);
  CHECK(cat(split(zeros({0, 3}), 2)).shape() == Shape{0, 3});
  CHECK(split(IntArray(Shape{0}), 2).size() == 1);
}

TEST_CASE("roll by any shift, and its gradient") {
  for (const Index shift :
       {std::numeric_limits<Index>::min(), std::numeric_limits<Index>::max(), Index(-4), Index(0)}) {
    const Tensor x = tensor({1, 2, 3}).requires_grad_();
    const Tensor y = roll(x, shift, 0);
    y.backward(tensor({10, 20, 30}));
    const std::vector<real> moved = y.to_vector(), gradient = x.grad().to_vector();
    CAPTURE(shift);
    for (std::size_t i = 0; i < 3; ++i) CHECK(gradient[static_cast<std::size_t>(moved[i]) - 1] == real(10 * (i + 1)));
  }
}

/// The same view of integers, of a mask and of a tensor has the same shape and the same elements.
template <class F>
void check_unrecorded(const F& f) {
  const IntArray ids = int_arange(24).reshape({2, 3, 1, 4});
  const Tensor y = f(tensor(ids));
  const IntArray of_ids = f(ids);
  const Mask of_mask = f(ids > 11);
  CHECK(of_ids.shape() == y.shape());
  CHECK(tensor(of_ids).to_vector() == y.to_vector());
  CHECK(of_mask.to_vector() == (y > 11).to_vector());
}

TEST_CASE("views of integers and masks have the names of the ops") {
  check_unrecorded([](const auto& x) { return reshape(x, {6, -1}); });
  check_unrecorded([](const auto& x) { return reshape(x, Shape{24}); });
  check_unrecorded([](const auto& x) { return view(x, {4, 6}); });
  check_unrecorded([](const auto& x) { return flatten(x, 1); });
  check_unrecorded([](const auto& x) { return transpose(x, 0, -1); });
  check_unrecorded([](const auto& x) { return permute(x, {3, 0, 2, 1}); });
  check_unrecorded([](const auto& x) { return slice(x, 3, 1, 4, 2); });
  check_unrecorded([](const auto& x) { return select(x, 1, -1); });
  check_unrecorded([](const auto& x) { return unsqueeze(x, 1); });
  check_unrecorded([](const auto& x) { return squeeze(x, 2); });
  check_unrecorded([](const auto& x) { return squeeze(x); });
  check_unrecorded([](const auto& x) { return expand(x, {2, 3, 5, 4}); });
  check_unrecorded([](const auto& x) { return repeat(x, {2, 1, 3, 2}); });
  check_unrecorded([](const auto& x) { return flip(x, {0, 3}); });
  check_unrecorded([](const auto& x) { return roll(x, -5, 3); });
  const IntArray ids = int_arange(6);
  REFUSES(flip(ids, {}));
  REFUSES(repeat(ids.reshape({2, 3}), {2}));
  REFUSES(flatten(ids, 1));
  REFUSES(flatten(tensor(3), 2, 5));
}

TEST_CASE("split and chunk of indices") {
  const IntArray ids = int_arange(7);
  CHECK(split(ids, 3).back().to_vector() == std::vector<Index>{6});
  CHECK(split(ids, {5, 2})[1].to_vector() == std::vector<Index>{5, 6});
  CHECK(chunk(ids, 2)[0].shape() == Shape{4});
}

}  // namespace
}  // namespace mote::test::view_test
