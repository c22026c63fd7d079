// What each array has of its own: Array's algebra, IntArray's comparison, Mask's logic; brace lists.
#include "engine/array/array.h"

#include <cstdint>

#include "engine/array/int_array.h"
#include "engine/array/mask.h"
#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::array_test {
namespace {

Array counting(const Shape& shape) {
  Array a = Array::empty(shape);
  for (Index i = 0; i < a.numel(); ++i) a.mutate()[i] = static_cast<real>(i);
  return a;
}
using Numbers = std::vector<real>;

TEST_CASE("array: accumulate, also of an array to itself and to views of itself") {
  Array a = counting({3, 3});
  accumulate(a, a);
  CHECK(same_bits(a, counting({3, 3}) * real(2)));
  Array b = counting({3, 3});
  accumulate(b, b.transpose(0, 1));
  CHECK(same_bits(b, counting({3, 3}) + counting({3, 3}).transpose(0, 1)));
  Array c = counting({3, 3});
  const Array kept = c;
  accumulate(c, Array(real(1)).expand({3, 3}));
  CHECK(same_bits(kept, counting({3, 3})));
}

TEST_CASE("array: element-wise loops over permuted, stepped and repeated axes equal those over copies") {
  const Array a = counting({4, 5, 6});
  const std::vector<Array> layouts{a,
                                   a.transpose(0, 2),
                                   a.permute({1, 2, 0}),
                                   a.slice(1, 1, 5, 2),
                                   a.slice(2, 1, 6, 3).transpose(0, 1),
                                   a.select(1, 2).expand({3, 4, 6})};
  for (const Array& x : layouts) {
    CHECK(same_bits(copy_of(x).contiguous(), x));
    CHECK(same_bits(-x, -copy_of(x)));
    CHECK(same_bits(x + x.contiguous(), copy_of(x) * real(2)));
    CHECK(same_bits(sum(x, 1), sum(copy_of(x), 1)));
    CHECK(same_bits(max(x, {0, 2}), max(copy_of(x), {0, 2})));
  }
  CHECK(same_bits(sum_to(a, {5, 1}), sum(sum(a, 0), 1, true)));
  REFUSES(sum_to(a, {5, 2}));
  REFUSES(sum_to(Array::zeros({2}), {1, 2}));
}

TEST_CASE("array: reductions of views that repeat elements equal those of copies, without a copy of the whole") {
  const Array row = random_array({1, 300}, 1), column = random_array({200, 1}, 2), one = random_array({1, 1}, 3);
  for (const Array& x :
       {row.expand({5000, 300}), column.expand({200, 5000}), one.expand({3, 5000}), column.expand({7, 200, 33}),
        row.expand({400, 300}).transpose(0, 1), one.expand({9, 1, 0}), row.expand({2, 300}).slice(1, 0, 300, 7)})
    for (const Axes& axes : {Axes(), Axes(0), Axes(-1), Axes{0, -1}, Axes(1)}) {
      CHECK(same_bits(sum(x, axes), sum(copy_of(x), axes)));
      if (x.numel() > 0) CHECK(same_bits(max(x, axes, true), max(copy_of(x), axes, true)));
      if (x.numel() > 0) CHECK(same_bits(min(x, axes), min(copy_of(x), axes)));
    }
  release_memory();
  reset_peak_memory();
  const Index before = memory_stats().live_bytes;
  const Array huge = Array::full({1, 1}, 1).expand({4096, 4096});
  CHECK(sum(huge).item() == 4096 * 4096);
  CHECK(same_bits(sum(huge, 0), Array::full({4096}, 4096)));
  CHECK(same_bits(sum(huge, 1), Array::full({4096}, 4096)));
  CHECK(same_bits(max(huge, 1), Array::full({4096}, 1)));
  CHECK(max(huge).item() == 1);
  CHECK(memory_stats().peak_bytes - before < 4096 * 1024);
}

TEST_CASE("array: linear is the product with the transposed weight, then the bias, for any strides") {
  const Array x = random_array({2, 3, 4}, 1), w = random_array({5, 4}, 2), bias = random_array({5}, 3);
  const Array product = matmul(x, w.transpose(0, 1));
  CHECK(same_bits(linear(x, w, Array()), product));
  CHECK(same_bits(linear(x, w, bias), product + bias));
  CHECK(same_bits(linear(x.transpose(0, 1), w, bias), (product + bias).transpose(0, 1).contiguous()));
  CHECK(
      same_bits(linear(x.select(0, 1).select(0, 2), w, bias), (product + bias).select(0, 1).select(0, 2).contiguous()));
  const Array turned = random_array({4, 5}, 4);
  CHECK(same_bits(linear(x, turned.transpose(0, 1), bias), matmul(x, turned) + bias));
  CHECK(linear(Array::zeros({2, 0, 4}), w, bias).shape() == Shape{2, 0, 5});
  CHECK(linear(x, Array::zeros({0, 4}), Array()).shape() == Shape{2, 3, 0});
  CHECK(same_bits(linear(Array::zeros({2, 0}), Array::zeros({5, 0}), bias), bias.expand({2, 5}).contiguous()));
  REFUSES(linear(x, x, bias));
  REFUSES(linear(x, turned, bias));
  REFUSES(linear(x, w, x));
}

TEST_CASE("array: sums, products and quotients with a number of any type") {
  const Array x = array({2, 2}, {1, 2, 4, 8}), turned = x.transpose(0, 1);
  CHECK((x * 0.5).to_vector() == Numbers{0.5, 1, 2, 4});
  CHECK((x + 1).to_vector() == Numbers{2, 3, 5, 9});
  CHECK((x - 1u).to_vector() == Numbers{0, 1, 3, 7});
  CHECK((x / Index(2)).to_vector() == Numbers{0.5, 1, 2, 4});
  CHECK((2 + turned).to_vector() == Numbers{3, 6, 4, 10});
  CHECK((2.0f - turned).to_vector() == Numbers{1, -2, 0, -6});
  CHECK((2 * turned).to_vector() == Numbers{2, 8, 4, 16});
  CHECK((8.0 / turned).to_vector() == Numbers{8, 2, 4, 1});
  CHECK(Array(2).item() == 2);
  CHECK(Array(2.5).item() == real(2.5));
  CHECK((Array::zeros({0, 3}) + 1).shape() == Shape{0, 3});
  REFUSES(Array() * 2);
  const Array wide = random_array({3, 20000}, 1);  // as with an array of one element, over several tasks
  for (const Array& y : {wide, wide.transpose(0, 1), wide.slice(1, 0, 20000, 3), Array(real(0.1)).expand({4, 5})}) {
    CHECK(same_bits(y * 0.3, y * Array(0.3)));
    CHECK(same_bits(0.3 / y, Array(0.3) / y));
    CHECK(same_bits(y - 0.3, y - Array(0.3)));
  }
}

TEST_CASE("array: of long rows, each a task of its own, each gives what it gives alone") {
  const Array x = random_array({3, 20000}, 1), column = random_array({3, 1}, 2);
  for (Index i = 0; i < 3; ++i) {
    const Array row = x.select(0, i);
    const real number = column.at({i, 0});
    CHECK(sum(x, 1).at({i}) == sum(row).item());
    CHECK(same_bits((x - column).select(0, i), row - number));
    CHECK(same_bits((column - x).select(0, i), number - row));
  }
}

TEST_CASE("axes: none, one, a list; out of range, listed twice, too many") {
  const Array x = counting({2, 3, 4});
  CHECK(sum(x).item() == 276);
  CHECK(same_bits(sum(x, -1), sum(x, {2})));
  CHECK(same_bits(sum(x, {2, -3}), sum(x, {0, 2})));
  const Axes all = Axes{}.of(3);
  CHECK(std::vector<int>(all.begin(), all.end()) == std::vector<int>{0, 1, 2});
  CHECK(Axes{}.of(0).empty());
  CHECK(reduced_shape({2, 3, 4}, {-1, 0}, true) == Shape{1, 3, 1});
  CHECK(reduced_shape({2, 3, 4}, {-1, 0}, false) == Shape{3});
  REFUSES(sum(x, 3));
  REFUSES(sum(x, {1, -2}));
  CHECK(sum(Array::full({1, 2, 1, 2, 1, 2, 1, 2}, 1), {0, 1, 2, 3, 4, 5, 6, 7}).item() == 16);
  for (const auto& [y, item] : {std::pair(sum(x), real(276)), {max(x), real(23)}, {min(x), real(0)}})
    CHECK((y.shape() == Shape{} && y.item() == item));
  REFUSES(sum(x, {0, 1, 2, 0, 1, 2, 0, 1, 2}));
}

TEST_CASE("int array: lists, comparison in any layout") {
  const IntArray t = ints({{1, 2, 3}, {4, 5, 6}});
  CHECK(t.shape() == Shape{2, 3});
  CHECK(equal(t.slice(1, 0, -1), ints({{1, 2}, {4, 5}})));
  CHECK(equal(t.slice(0, -1, 9), ints({{4, 5, 6}})));
  CHECK(equal(t.transpose(0, 1), ints({{1, 4}, {2, 5}, {3, 6}})));
  CHECK_FALSE(equal(t.transpose(0, 1), t.reshape({3, 2})));
  CHECK_FALSE(equal(t, t.reshape({6})));
  CHECK(equal(IntArray({2}, 7), ints({7, 7})));
  CHECK(equal(IntArray({2}), ints({0, 0})));
  CHECK(equal(ints(std::vector<int>{1, -2}), ints({1, -2})));
  CHECK(equal(ints(std::vector<Index>{1, 2, 3}), ints({1, 2, 3})));
  CHECK(equal(ints(std::vector<std::vector<int>>{{1, 2, 3}, {4, 5, 6}}), t));
  CHECK_FALSE(std::convertible_to<std::vector<double>, Nested<Index>>);  // would round unasked
  REFUSES(ints({{1, 2}, {3}}));
}

TEST_CASE("mask: and, or, not, in any layout; broadcasting") {
  using Bytes = std::vector<std::uint8_t>;
  const Mask a = mask({true, false, true}), column = mask({{true}, {false}});
  CHECK((~a).to_vector() == Bytes{0, 1, 0});
  CHECK((a & column).shape() == Shape{2, 3});
  CHECK((a & column).to_vector() == Bytes{1, 0, 1, 0, 0, 0});
  CHECK((a | column).to_vector() == Bytes{1, 1, 1, 1, 0, 1});
  CHECK((~column.expand({2, 2}).transpose(0, 1)).to_vector() == Bytes{0, 1, 0, 1});
  CHECK(((a | column).transpose(0, 1) & column.transpose(0, 1)).to_vector() == Bytes{1, 0, 1, 0, 1, 0});
  CHECK(broadcast_to(column, {3, 2, 2}).to_vector() == Bytes{1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0});
  CHECK(broadcast_to(a, {2, 3}).shares_storage(a));
  REFUSES(broadcast_to(a, {2}));
  REFUSES(broadcast_to(column, {1, 3}));
  REFUSES(broadcast_to(mask({true, false}), {}));
  REFUSES(Mask({3}, Bytes{0, 2, 255}));
  CHECK(Mask::full({2}, true).to_vector() == Bytes{1, 1});
}

}  // namespace
}  // namespace mote::test::array_test
