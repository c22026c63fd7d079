// Shape: what may exist, axes, insertion and removal, broadcasting, overflow; Error's texts.
#include "engine/base/shape.h"

#include "engine/ops/create.h"
#include "tests/sentences.h"
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
  REFUSES(Shape({2, -1}));
  REFUSES(Shape({std::numeric_limits<Index>::min()}));
  REFUSES(Shape({1, 1, 1, 1, 1, 1, 1, 1, 1}));
}

TEST_CASE("shape: products that do not fit are refused before any memory is asked for") {
  const Index requests = memory_stats().system_requests, p31 = Index(1) << 31, p32 = Index(1) << 32,
              p62 = Index(1) << 62;
  REFUSES(Array::empty({p32, p32}));
  REFUSES(Array::empty({p31, p31, 4}));
  REFUSES(Array::empty({p62}));
  REFUSES(Array::empty({p62 / 2}));
  REFUSES(Array::empty({0, big, big}));
  REFUSES(Shape({0, p32, p31}));
  CHECK(Shape({Shape::max_numel}).numel() == Index(1) << 59);
  REFUSES(Shape({Shape::max_numel, 2}));
  // an axis repeated without a copy may still not overflow
  REFUSES(Array(real(1)).expand({p31, p31}));
  CHECK(memory_stats().system_requests - requests <= 1);
}

TEST_CASE("shape: axes count from either end") {
  const Shape s{2, 3, 4};
  CHECK(s.axis(-1) == 2);
  CHECK(s.axis(-3) == 0);
  CHECK(s[-1] == 4);
  CHECK(s[0] == 2);
  REFUSES((void)s.axis(3));
  REFUSES((void)s.axis(-4));
  REFUSES((void)Shape{}.axis(0));
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
  REFUSES((void)s.insert(4, 1));
  REFUSES((void)s.with(0, -2));
  REFUSES((void)Shape({1, 1, 1, 1, 1, 1, 1, 1}).insert(0, 1));
}

}  // namespace
}  // namespace mote::test::shape_test
