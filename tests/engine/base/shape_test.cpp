// Shape: what may exist, axes, insertion and removal, broadcasting, overflow; Error's texts.
#include "engine/base/shape.h"

#include "engine/ops/create.h"
#include "tests/tools.h"

namespace mote::test::shape_test {
namespace {

constexpr Index big = std::numeric_limits<Index>::max();

TEST_CASE("shape: no extents are one element; text") {
  const Shape matrix{2, 3}, number;
  CHECK((number.numel() == 1 && number.rank() == 0 && Shape{3, 0, 2}.numel() == 0));
  CHECK_FALSE(matrix == Shape{2, 3, 1});
  CHECK(text_of(matrix) == "[2, 3]");
  CHECK(text_of(number) == "[]");
}

TEST_CASE("shape: negative extents, rank 9") {
  CHECK(error_of([] { Shape({2, -1}); }) == "shape: extent -1 must be at least 0");
  CHECK(error_of([] { Shape({std::numeric_limits<Index>::min()}); }) ==
        "shape: extent -9223372036854775808 must be at least 0");
  CHECK(error_of([] { Shape({1, 1, 1, 1, 1, 1, 1, 1, 1}); }) == "shape: rank 9 is above the limit of 8");
}

TEST_CASE("shape: products that do not fit are refused before any memory is asked for") {
  const Index requests = memory_stats().system_requests, p31 = Index(1) << 31, p32 = Index(1) << 32,
              p62 = Index(1) << 62;
  CHECK(error_of([=] { Array::empty({p32, p32}); }) == "shape: too many elements in [4294967296, 4294967296]");
  CHECK(error_of([=] { Array::empty({p31, p31, 4}); }) == "shape: too many elements in [2147483648, 2147483648, 4]");
  CHECK(error_of([=] { Array::empty({p62}); }) == "shape: too many elements in [4611686018427387904]");
  CHECK(error_of([=] { Array::empty({p62 / 2}); }) == "shape: too many elements in [2305843009213693952]");
  CHECK(error_of([] {
          Array::empty({0, big, big});
        }) == "shape: too many elements in [0, 9223372036854775807, 9223372036854775807]");
  CHECK(error_of([=] { Shape({0, p32, p31}); }) == "shape: too many elements in [0, 4294967296, 2147483648]");
  CHECK(Shape({Shape::max_numel}).numel() == Index(1) << 59);
  CHECK(error_of([] { Shape({Shape::max_numel, 2}); }) == "shape: too many elements in [576460752303423488, 2]");
  // an axis repeated without a copy may still not overflow
  CHECK(error_of([=] { Array(real(1)).expand({p31, p31}); }) == "shape: too many elements in [2147483648, 2147483648]");
  CHECK(memory_stats().system_requests - requests <= 1);
}

TEST_CASE("shape: axes count from either end") {
  const Shape s{2, 3, 4};
  CHECK(s.axis(-1) == 2);
  CHECK(s.axis(-3) == 0);
  CHECK(s[-1] == 4);
  CHECK(s[0] == 2);
  CHECK(error_of([&] { (void)s.axis(3); }) == "shape: axis 3 is out of range for [2, 3, 4]");
  CHECK(error_of([&] { (void)s.axis(-4); }) == "shape: axis -4 is out of range for [2, 3, 4]");
  CHECK(error_of([] { (void)Shape{}.axis(0); }) == "shape: axis 0 is out of range for []");
}

TEST_CASE("shape: with, without, insert") {
  const Shape s{2, 3, 4};
  CHECK(s.with(-1, 7) == Shape{2, 3, 7});
  CHECK(s.without(0) == Shape{3, 4});
  CHECK(s.without(-1) == Shape{2, 3});
  CHECK(s.insert(0, 1) == Shape{1, 2, 3, 4});
  CHECK(s.insert(-1, 1) == Shape{2, 3, 4, 1});
  CHECK(s.insert(-4, 1) == Shape{1, 2, 3, 4});
  CHECK(Shape{}.insert(-1, 5) == Shape{5});
  CHECK(error_of([&] { (void)s.insert(4, 1); }) == "shape: axis 4 is out of range for inserting into [2, 3, 4]");
  CHECK(error_of([&] { (void)s.with(0, -2); }) == "shape: extent -2 must be at least 0");
  CHECK(error_of([] {
          (void)Shape({1, 1, 1, 1, 1, 1, 1, 1}).insert(0, 1);
        }) == "shape: rank 9 is above the limit of 8");
}

}  // namespace
}  // namespace mote::test::shape_test
