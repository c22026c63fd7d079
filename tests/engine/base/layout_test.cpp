// Layout: strides and offsets as plain arithmetic; views are tested as those of arrays.
#include "engine/base/layout.h"

#include "tests/tools.h"

namespace mote::test::layout_test {
namespace {

std::vector<Index> strides_of(const Layout& x) { return {x.strides().items, x.strides().items + x.rank()}; }

TEST_CASE("layout: row-major, empty, not there at all") {
  const Layout x(Shape{2, 3, 4});
  CHECK(x.numel() == 24);
  CHECK(x.rank() == 3);
  CHECK(x.offset() == 0);
  CHECK(x.stride(0) == 12);
  CHECK(x.stride(-1) == 1);
  CHECK(x.is_contiguous());
  CHECK(strides_of(x) == std::vector<Index>{12, 4, 1});
  CHECK(Layout(Shape{}).numel() == 1);
  CHECK(Layout().numel() == 0);
  CHECK(Layout(Shape{2, 0, 3}).numel() == 0);
  CHECK(Layout(Shape{1, 4}).transpose(0, 1).is_contiguous());     // no step is ever taken along an axis of 1
  CHECK(Layout(Shape{2, 0, 3}).transpose(0, 2).is_contiguous());  // nothing can lie out of order
  CHECK(strides_of(Layout(Shape{2, 0, 3})) == std::vector<Index>{3, 3, 1});
  CHECK(Layout(Shape{3, 4}).slice(1, 2, 2).offset() == 0);  // an empty slice begins nowhere, least of all at the end
}

TEST_CASE("layout: where an element lies, by index and by number; where a row and a matrix begin") {
  const Layout x = Layout(Shape{2, 3, 4}).permute(std::vector<int>{2, 0, 1});  // [4, 2, 3], strides 1, 12, 4
  CHECK(x.offset_of(std::vector<Index>{3, 1, 2}) == 23);
  CHECK(x.offset_of(std::vector<Index>{-1, -1, -1}) == 23);
  CHECK(x.offset_of_part(7, 0) == 1 + 4);   // [1, 0, 1]
  CHECK(x.offset_of_part(3, 1) == 1 + 12);  // row [1, 1]
  CHECK(x.offset_of_part(3, 2) == 3);       // matrix [3]
  CHECK(x.offset_of_part(0, 3) == 0);       // all of it
  const Layout y = x.slice(0, 1, 4, 2).expand({5, 2, 2, 3});
  CHECK(y.offset() == 1);
  CHECK(y.offset_of_part(3, 2) == 2);  // [1, 1] of [5, 2]: the repeated axis does not count
  Index number = 0;
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 2; ++j)
      for (Index k = 0; k < 3; ++k) CHECK(x.offset_of(std::vector<Index>{i, j, k}) == x.offset_of_part(number++, 0));
  CHECK(error_of([&] { x.offset_of(std::vector<Index>{0, 0}); }) == "at: 2 positions for shape [4, 2, 3]");
  CHECK(error_of([&] {
          x.offset_of(std::vector<Index>{0, 2, 0});
        }) == "at: position 2 is out of range for axis 1 of [4, 2, 3]");
}

TEST_CASE("layout: what expands to what") {
  const Layout x(Shape{3, 1});
  CHECK(x.expands_to({3, 1}));
  CHECK(x.expands_to({2, 3, 5}));
  CHECK(x.expands_to({3, 0}));
  CHECK_FALSE(x.expands_to({2, 5}));
  CHECK_FALSE(x.expands_to({3}));
  CHECK(strides_of(x.expand({2, 3, 5})) == std::vector<Index>{0, 1, 0});
}

}  // namespace
}  // namespace mote::test::layout_test
