// Arithmetic of IntArrays and Masks: values, broadcasting, what 64 bits cannot hold.
#include "engine/array/integers.h"

#include "engine/array/print.h"
#include "engine/ops/index.h"
#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::integers_test {
namespace {

using List = std::vector<Index>;
constexpr Index most = std::numeric_limits<Index>::max(), least = std::numeric_limits<Index>::min();

TEST_CASE("IntArray: + - * % with broadcasting, as Python computes them") {
  const IntArray a = ints({{7, -7}, {0, 5}}), b = ints({3, -3});
  CHECK((a + b).to_vector() == List{10, -10, 3, 2});
  CHECK((a - 1).to_vector() == List{6, -8, -1, 4});
  CHECK((1 - b).to_vector() == List{-2, 4});
  CHECK((a * b).to_vector() == List{21, 21, 0, -15});
  CHECK((2 * b + 1).to_vector() == List{7, -5});
  CHECK((-b).to_vector() == List{-3, 3});
  // torch.tensor([7, -7, 7, -7]) % and // torch.tensor([3, 3, -3, -3])
  const IntArray n = ints({7, -7, 7, -7}), d = ints({3, 3, -3, -3});
  CHECK((n % d).to_vector() == List{1, 2, -2, -1});
  CHECK(floor_divide(n, d).to_vector() == List{2, -3, -3, 2});
  CHECK((n % 2).to_vector() == List{1, 1, 1, 1});
  CHECK((IntArray(Shape{0}) + 1).shape() == Shape{0});
  CHECK((ints({least}) % -1).to_vector() == List{0});
  CHECK((a.transpose(0, 1) + 0).to_vector() == List{7, 0, -7, 5});
  REFUSES(a + ints({1, 2, 3}));
  REFUSES(a % 0);
  REFUSES(floor_divide(a, 0));
  REFUSES(IntArray() + 1);
}

TEST_CASE("IntArray: a result that 64 bits cannot hold is an error") {
  REFUSES(ints({most}) + 1);
  REFUSES(ints({least}) - 1);
  REFUSES(ints({most}) * 2);
  REFUSES(-ints({least}));
  REFUSES(floor_divide(ints({least}), -1));
  REFUSES(sum(ints({most, 1})));
  CHECK((ints({most}) + 0).item() == most);
  CHECK((ints({least}) * 1).item() == least);
}

TEST_CASE("IntArray: comparisons are Masks, equal() is one bool") {
  const IntArray a = ints({1, 2, 3}), b = ints({3, 2, 1});
  CHECK((a == b).to_vector() == std::vector<std::uint8_t>{0, 1, 0});
  CHECK((a != b).to_vector() == std::vector<std::uint8_t>{1, 0, 1});
  CHECK((a < b).to_vector() == std::vector<std::uint8_t>{1, 0, 0});
  CHECK((a <= b).to_vector() == std::vector<std::uint8_t>{1, 1, 0});
  CHECK((a > 2).to_vector() == std::vector<std::uint8_t>{0, 0, 1});
  CHECK((a >= 2).to_vector() == std::vector<std::uint8_t>{0, 1, 1});
  CHECK(equal(a, a + 0));
  CHECK_FALSE(equal(a, b));
  CHECK_FALSE(equal(a, a.unsqueeze(0)));
  CHECK(equal(a == b, b == a));
  CHECK(all(a == a));
  CHECK(any(a == b));
  CHECK_FALSE(any(a > 3));
  CHECK(all(Mask(Shape{0})));
  REFUSES(all(a == ints({1, 2})));
  REFUSES(equal(a, IntArray()));
}

TEST_CASE("Mask: == != ^, and how many are true") {
  const Mask a = mask({true, true, false}), b = mask({true, false, false});
  CHECK((a == b).to_vector() == std::vector<std::uint8_t>{1, 0, 1});
  CHECK((a != b).to_vector() == std::vector<std::uint8_t>{0, 1, 0});
  CHECK((a ^ b).to_vector() == std::vector<std::uint8_t>{0, 1, 0});
  CHECK(sum(a).item() == 2);
  CHECK(to_text(sum(a)) == "tensor(2)");
  CHECK(sum(mask({{true, false}, {true, true}}), 0).to_vector() == List{2, 1});
  CHECK(sum(Mask(Shape{0})).item() == 0);
  CHECK(nonzero(mask({{true, false}, {false, true}})).to_vector() == List{0, 0, 1, 1});
  CHECK(nonzero(mask({false})).shape() == Shape{0, 1});
  REFUSES(sum(Mask()));
}

TEST_CASE("IntArray: sum, max, min, clamp, where, gather") {
  const IntArray x = ints({{3, 1, 2}, {6, 5, 4}});
  CHECK(sum(x).item() == 21);
  CHECK(sum(x, 1).to_vector() == List{6, 15});
  CHECK(sum(x, 0, true).shape() == Shape{1, 3});
  CHECK(sum(IntArray(Shape{0})).item() == 0);
  CHECK(max(x).item() == 6);
  CHECK(max(x, -1).to_vector() == List{3, 6});
  CHECK(min(x, {0}).to_vector() == List{3, 1, 2});
  CHECK(clamp(x, 2, 4).to_vector() == List{3, 2, 2, 4, 4, 4});
  CHECK(where(x > 3, x, 0).to_vector() == List{0, 0, 0, 6, 5, 4});
  CHECK(where(x > 3, -1, x).to_vector() == List{3, 1, 2, -1, -1, -1});
  CHECK(where(mask({{true}, {false}}), x, x * 10).to_vector() == List{3, 1, 2, 60, 50, 40});
  CHECK(gather(x, 1, ints({{2}, {0}})).to_vector() == List{2, 6});
  REFUSES(max(IntArray(Shape{0})));
  REFUSES(min(IntArray(Shape{2, 0}), 1));
  REFUSES(clamp(x, 4, 2));
  REFUSES(sum(x, 2));
}

TEST_CASE("int_arange, one_hot, bincount") {
  CHECK(int_arange(4).to_vector() == List{0, 1, 2, 3});
  CHECK(int_arange(2, 9, 3).to_vector() == List{2, 5, 8});
  CHECK(int_arange(3, 0, -2).to_vector() == List{3, 1});
  CHECK(int_arange(0).shape() == Shape{0});
  CHECK(to_text(int_arange(3)) == "tensor([0, 1, 2])");
  REFUSES(int_arange(0, 4, 0));
  REFUSES(int_arange(0, 4, -1));
  REFUSES(int_arange(least, most));
  CHECK(one_hot(ints({0, 2})).to_vector() == List{1, 0, 0, 0, 0, 1});
  CHECK(one_hot(ints({{1}}), 3).shape() == Shape{1, 1, 3});
  CHECK(one_hot(IntArray(Shape{0}), 3).shape() == Shape{0, 3});
  REFUSES(one_hot(ints({3}), 3));
  REFUSES(one_hot(ints({-1})));
  REFUSES(one_hot(IntArray(Shape{0})));
  constexpr Index largest = std::numeric_limits<Index>::max();
  REFUSES(one_hot(ints({largest})));
  REFUSES(int_arange(0, std::numeric_limits<Index>::min(), -1));
  const std::vector<int> none;
  REFUSES(ints({none.size() - 1}));
  REFUSES(IntArray({1}, none.size() - 1));
  REFUSES(bincount(ints({largest})));
  REFUSES(bincount(ints({3, largest}), 5));
  CHECK(bincount(ints({1, 1, 3}), 6).to_vector() == List{0, 2, 0, 1, 0, 0});  // torch.bincount, minlength=6
  CHECK(bincount(ints({1, 1, 3})).to_vector() == List{0, 2, 0, 1});
  CHECK(bincount(IntArray(Shape{0}), 2).to_vector() == List{0, 0});
  REFUSES(bincount(ints({-1})));
  REFUSES(bincount(ints({1}), -1));
}

}  // namespace
}  // namespace mote::test::integers_test
