// curve_text: scales, means of columns, values that are left out.
#include "train/report/curve.h"

#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::curve_test {
namespace {

TEST_CASE("curve_text: a column per value, or per share of them") {
  CHECK(curve_text(std::vector<double>{3, 2, 1, 1.5}, {.title = "loss", .height = 3}) ==
        "loss\n"
        "3 |*\n"
        "  | *\n"
        "1 |  **\n"
        "  +----\n"
        "   1  4\n");
  CHECK(curve_text(std::vector<double>{5, 3, 2, 2, 1, -1, 0, 0}, {.width = 4, .height = 5}) ==
        "4 |*\n"
        "  |\n"
        "  | *\n"
        "  |\n"
        "0 |  **\n"
        "  +----\n"
        "   1  8\n");
}

TEST_CASE("curve_text: labels have four digits, or as many as tell them apart") {
  CHECK(curve_text(std::vector<double>{0.69318, 0.69312}, {.height = 2}) ==
        "0.69318 |*\n"
        "0.69312 | *\n"
        "        +--\n"
        "         1 2\n");
  CHECK(curve_text(std::vector<double>{12345.678, 1.23456}, {.height = 2}) ==
        "1.235e+04 |*\n"
        "    1.235 | *\n"
        "          +--\n"
        "           1 2\n");
}

TEST_CASE("curve_text: a logarithmic scale, and what has no place on one") {
  CHECK(curve_text(std::vector<double>{100, 10, 0, 1, -3, nan}, {.log = true, .height = 3}) ==
        "100 |*\n"
        "    | *\n"
        "  1 |   *\n"
        "    +------\n"
        "     1    6\n");
}

TEST_CASE("curve_text: nothing, one value, equal ones, values that are not finite") {
  CHECK(curve_text({}, {.height = 2}) == " |\n |\n +\n  1\n");
  CHECK(curve_text(std::vector<double>{7}, {.height = 3}) == "7 |\n  |*\n7 |\n  +-\n   1\n");
  CHECK(curve_text(std::vector<double>{7, 7}, {.height = 3}) == "7 |\n  |**\n7 |\n  +--\n   1 2\n");
  CHECK(curve_text(std::vector<double>{inf, 1, nan, 0}, {.height = 2}) == "1 | *\n0 |   *\n  +----\n   1  4\n");
  CHECK(curve_text(std::vector<double>{inf, 1, 1, 3}, {.width = 2, .height = 2}) == "2 | *\n1 |*\n  +--\n   1 4\n");
  REFUSES(curve_text({}, {.height = 1}));
}

}  // namespace
}  // namespace mote::test::curve_test
