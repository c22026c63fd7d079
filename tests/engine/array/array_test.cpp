// Array: copy on write, every view, reshape without copying, aliasing; IntArray, Mask, brace lists.
#include "engine/array/array.h"

#include <doctest/doctest.h>

#include <cstdint>

#include "engine/array/int_array.h"
#include "engine/array/mask.h"
#include "tests/tools.h"

namespace mote::test::array_test {
namespace {

Array counting(const Shape& shape) {
  Array a = Array::empty(shape);
  for (Index i = 0; i < a.numel(); ++i) a.mutate()[i] = static_cast<real>(i);
  return a;
}
using Numbers = std::vector<real>;
Array viewed(const Array& a, std::vector<Index> extents) { return a.view(extents); }

TEST_CASE("array: made from values, filled, read") {
  CHECK_FALSE(Array().defined());
  CHECK(array({2, 2}, {1, 2, 3, 4}).at({1, -2}) == 3);
  CHECK(Array::full({2}, 3).to_vector() == Numbers{3, 3});
  CHECK(Array(real(5)).item() == 5);
  CHECK(Array::zeros({0, 3}).to_vector().empty());
  CHECK(error_of([] { array({2, 2}, {1, 2, 3}); }) == "array: 3 values do not fill shape [2, 2]");
  CHECK(error_of([] { Array::zeros({0}).item(); }) == "item: needs exactly one element, but the shape is [0]");
  CHECK(error_of([] { Array::zeros({2}).item(); }) == "item: needs exactly one element, but the shape is [2]");
  CHECK(error_of([] { Array::zeros({2, 3}).at({0}); }) == "at: 1 positions for shape [2, 3]");
  CHECK(error_of([] { Array::zeros({2, 3}).at({0, 3}); }) == "at: position 3 is out of range for axis 1 of [2, 3]");
  for (const Index n : {1, 3, 17, 1000}) CHECK(reinterpret_cast<std::uintptr_t>(Array::empty({n}).data()) % 64 == 0);
}

TEST_CASE("array: writing to one never changes another, whatever view the other is") {
  const auto views = [](const Array& a) {
    return std::vector<Array>{a,
                              a.reshape({4, 3}),
                              a.transpose(0, 1),
                              a.slice(1, 1, 3),
                              a.select(0, 2),
                              a.unsqueeze(0),
                              a.slice(0, 0, 1).expand({5, 4}),
                              a.slice(1, 0, 4, 2)};
  };
  for (std::size_t i = 0; i < views(counting({3, 4})).size(); ++i) {
    CAPTURE(i);
    Array base = counting({3, 4});
    const Array view = views(base)[i], numbers = copy_of(view);
    base.mutate()[0] = 99, base.mutate()[9] = 99;
    CHECK(same_bits(view, numbers));  // the view keeps what it saw
    CHECK(base.at({0, 0}) == 99);

    const Array original = counting({3, 4});
    Array written = views(original)[i];
    real* const out = written.mutate();
    CHECK(written.is_contiguous());
    for (Index k = 0; k < written.numel(); ++k) out[k] = -1;
    CHECK(same_bits(original, counting({3, 4})));  // and the other way round
    CHECK(same_bits(written, Array::full(written.shape(), -1)));
  }
}

TEST_CASE("array: a sole owner writes in place, a shared one copies first") {
  Array a = counting({4});
  const real* const before = a.data();
  CHECK(a.mutate() == before);
  Array b = a;
  CHECK(b.data() == before);
  CHECK(b.mutate() != before);
  CHECK(a.mutate() == before);
  Array part = counting({4, 4}).slice(0, 1, 3);  // its base has gone: contiguous and alone, it may write where it lies
  CHECK(part.mutate()[0] == 4);
  Array wide = Array(real(2)).expand({3});  // one number standing for three
  wide.mutate()[1] = 5;
  CHECK(wide.to_vector() == Numbers{2, 5, 2});
}

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

TEST_CASE("array: transposing twice, permuting back: the same storage") {
  const Array a = counting({2, 3, 4});
  const Array back = a.transpose(0, 2).transpose(0, 2);
  CHECK(back.data() == a.data());
  CHECK(back.is_contiguous());
  const Array turned = a.permute(std::array<int, 3>{1, 2, 0});
  CHECK(turned.shape() == Shape{3, 4, 2});
  CHECK(turned.at({2, 3, 1}) == a.at({1, 2, 3}));
  CHECK(turned.permute(std::array<int, 3>{2, 0, 1}).is_contiguous());
  CHECK(error_of([&] { a.permute(std::array<int, 3>{0, 0, 1}); }) == "permute: axis 0 stands twice");
  CHECK(error_of([&] { a.transpose(0, 3); }) == "shape: axis 3 is out of range for [2, 3, 4]");
}

TEST_CASE("array: reshape shares storage where the strides allow it, and copies where not") {
  const Array a = counting({2, 3, 4}), turned = a.transpose(1, 2), every_other = a.slice(2, 0, 4, 2);
  CHECK(a.reshape({-1, 6}).data() == a.data());
  CHECK(a.reshape({-1, 6}).shape() == Shape{4, 6});
  CHECK(viewed(turned, {2, 2, 2, 3}).to_vector() == turned.to_vector());  // splitting an axis needs no copy
  CHECK(viewed(turned, {2, 2, 2, 3}).data() == a.data());
  CHECK(viewed(every_other, {6, 2}).to_vector() == every_other.to_vector());  // joining what lies in order neither
  CHECK(viewed(every_other, {1, 2, 1, 3, 2, 1}).data() == a.data());
  CHECK(turned.reshape({2, 12}).to_vector() == turned.to_vector());
  CHECK(turned.reshape({2, 12}).data() != a.data());
  CHECK(error_of([&] {
          viewed(turned, {2, 12});
        }) ==
        "view: the numbers of shape [2, 4, 3] do not lie in order for [2, 12] (they were transposed or sliced): use "
        "reshape");
  CHECK(error_of([&] { viewed(every_other, {12, 1, 2}); }).find("view: shape [2, 3, 2] has 12 elements") == 0);
  const Array row = counting({4}).expand({3, 4});
  CHECK(viewed(row, {3, 2, 2}).at({2, 1, 1}) == 3);
  CHECK(row.reshape({12}).at({7}) == 3);
  CHECK(Array(real(3)).expand({2, 2}).reshape({4}).to_vector() == Numbers(4, real(3)));
  CHECK(Array::zeros({2, 0, 3}).reshape({0, 7}).shape() == Shape{0, 7});
  CHECK(Array::zeros({2, 0, 3}).transpose(0, 2).reshape({3, -1}).shape() == Shape{3, 0});
  CHECK(Array(real(1)).reshape({1, -1}).shape() == Shape{1, 1});
  CHECK(error_of([&] { a.reshape({-1, -1}); }) == "reshape: only one extent may be -1, not two, in [-1, -1]");
  CHECK(error_of([&] { a.reshape({-2, 3}); }) == "shape: extent -2 is negative");
  CHECK(error_of([&] { a.reshape({1, 1, 1, 1, 1, 1, 1, 1, 24}); }) == "reshape: rank 9 is above the limit of 8");
}

TEST_CASE("array: slices are clamped as in Python") {
  const Array a = counting({5});
  CHECK(a.slice(0, 1, 4).to_vector() == Numbers{1, 2, 3});
  CHECK(a.slice(0, 0, 5, 2).to_vector() == Numbers{0, 2, 4});
  CHECK(a.slice(0, -2, 5).to_vector() == Numbers{3, 4});
  CHECK(a.slice(0, 0, -1).to_vector() == Numbers{0, 1, 2, 3});
  CHECK(a.slice(0, -100, 100).to_vector() == Numbers{0, 1, 2, 3, 4});
  CHECK(a.slice(0, 3, 3).shape() == Shape{0});
  CHECK(a.slice(0, 4, 1).shape() == Shape{0});
  CHECK(a.slice(0, 7, 9).shape() == Shape{0});
  constexpr Index far = std::numeric_limits<Index>::max();
  CHECK(a.slice(0, std::numeric_limits<Index>::min(), far).shape() == Shape{5});
  CHECK(a.slice(0, 2, 5, far).to_vector() == Numbers{2});
  CHECK(a.slice(0, 0, 5, far).to_vector() == Numbers{0});
  CHECK(error_of([&] { a.slice(0, 0, 5, 0); }) == "slice: step 0 must be at least 1");
  CHECK(error_of([&] { a.slice(1, 0, 5); }) == "shape: axis 1 is out of range for [5]");
  CHECK(a.slice(0, 1, 5, 2).slice(0, 1, 2).to_vector() == Numbers{3});  // a slice of a slice
  CHECK(counting({2, 3}).select(1, -1).to_vector() == Numbers{2, 5});
  CHECK(error_of([&] { a.select(0, 5); }) == "select: position 5 is out of range for axis 0 of [5]");
  CHECK(error_of([&] { a.select(0, -6); }) == "select: position -6 is out of range for axis 0 of [5]");
}

TEST_CASE("array: expand, squeeze, unsqueeze") {
  const Array a = counting({3, 1});
  CHECK(a.expand({2, 3, 2}).at({1, 2, 1}) == 2);
  CHECK(a.expand({2, 3, 2}).data() == a.data());
  CHECK(a.expand({3, 0}).shape() == Shape{3, 0});
  CHECK(a.squeeze(1).shape() == Shape{3});
  CHECK(a.squeeze(0).shape() == Shape{3, 1});
  CHECK(a.unsqueeze(-1).shape() == Shape{3, 1, 1});
  CHECK(a.unsqueeze(-1).is_contiguous());
  CHECK(error_of([&] { a.expand({4, 2}); }) == "expand: shape [3, 1] does not expand to [4, 2] (axis -2: 3 against 4)");
}

TEST_CASE("array: element-wise loops over permuted, stepped and repeated axes equal those over copies") {
  const Array a = counting({4, 5, 6});
  const std::vector<Array> layouts{a,
                                   a.transpose(0, 2),
                                   a.permute(std::array<int, 3>{1, 2, 0}),
                                   a.slice(1, 1, 5, 2),
                                   a.slice(2, 1, 6, 3).transpose(0, 1),
                                   a.select(1, 2).expand({3, 4, 6})};
  for (const Array& x : layouts) {
    CHECK(same_bits(copy_of(x).contiguous(), x));
    CHECK(same_bits(-x, -copy_of(x)));
    CHECK(same_bits(x + x.contiguous(), copy_of(x) * real(2)));
    CHECK(same_bits(sum(x, std::array<int, 1>{1}), sum(copy_of(x), std::array<int, 1>{1})));
    CHECK(same_bits(max(x, std::array<int, 2>{0, 2}), max(copy_of(x), std::array<int, 2>{0, 2})));
  }
  CHECK(same_bits(sum_to(a, {5, 1}), sum(sum(a, std::array<int, 1>{0}), std::array<int, 1>{1}, true)));
  CHECK(error_of([&] { sum_to(a, {5, 2}); }) == "sum_to: shape [4, 5, 6] is no broadcast of [5, 2]");
  CHECK(error_of([&] { sum_to(Array::zeros({2}), {1, 2}); }) == "sum_to: shape [2] is no broadcast of [1, 2]");
}

TEST_CASE("tokens: lists, slices, copies that do not see writes") {
  const IntArray t = ints({{1, 2, 3}, {4, 5, 6}});
  CHECK(t.shape() == Shape{2, 3});
  CHECK(t.at({1, -1}) == 6);
  CHECK(t.slice(1, 0, -1) == ints({{1, 2}, {4, 5}}));
  CHECK(t.slice(0, -1, 9) == ints({{4, 5, 6}}));
  CHECK(t.slice(1, 2, 1).shape() == Shape{2, 0});
  CHECK(t.reshape({6}).to_vector() == std::vector<Index>{1, 2, 3, 4, 5, 6});
  IntArray copy = t;
  copy.mutate()[0] = 77;
  CHECK(t.at({0, 0}) == 1);
  CHECK(copy.at({0, 0}) == 77);
  CHECK_FALSE(copy == t);
  CHECK(t.reshape({-1}).shape() == Shape{6});
  CHECK(t.reshape({3, -1}).shape() == Shape{3, 2});
  CHECK(error_of([&] { t.reshape({5}); }) == "reshape: shape [2, 3] has 6 elements and does not fit [5]");
  CHECK(error_of([&] { t.reshape(Shape{5}); }) == "reshape: shape [2, 3] does not fit [5]");
  CHECK(error_of([&] { t.at({2, 0}); }) == "at: position 2 is out of range for [2, 3]");
  CHECK(error_of([] {
          ints({{1, 2}, {3}});
        }) == "nested: lists of unequal lengths: the first entries give shape [2, 2]");
  CHECK(error_of([] { IntArray(Shape{2}, std::vector<Index>{1}); }) == "flat: 1 values do not fill shape [2]");
}

TEST_CASE("mask: and, or, not, counting, broadcasting, copies that do not see writes") {
  const Mask a = mask({true, false, true}), column = mask({{true}, {false}});
  CHECK(a.count() == 2);
  CHECK((~a).to_vector() == std::vector<std::uint8_t>{0, 1, 0});
  CHECK((a & column).shape() == Shape{2, 3});
  CHECK((a & column).to_vector() == std::vector<std::uint8_t>{1, 0, 1, 0, 0, 0});
  CHECK((a | column).to_vector() == std::vector<std::uint8_t>{1, 1, 1, 1, 0, 1});
  CHECK(column.expand({2, 2}).to_vector() == std::vector<std::uint8_t>{1, 1, 0, 0});
  CHECK(column.expand({3, 2, 2}).count() == 6);
  CHECK(a.expand({2, 3}).reshape({6}).count() == 4);
  Mask copy = a;
  copy.mutate()[0] = 0;
  CHECK(a.at({0}) == 1);
  CHECK(a.at({-3}) == 1);
  CHECK(error_of([&] { a.expand({2}); }) == "mask: mask [3] does not broadcast to [2]");
  CHECK(error_of([&] { column.expand({1, 3}); }) == "mask: mask [2, 1] does not broadcast to [1, 3]");
  CHECK(error_of([&] { mask({true, false}).expand({}); }) == "mask: mask [2] does not broadcast to []");
}

}  // namespace
}  // namespace mote::test::array_test
