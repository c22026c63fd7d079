// Tables: sides of cells, lines between, rows that end early, columns that are wide enough; digits in groups.
#include "engine/base/table.h"

#include <doctest/doctest.h>

namespace mote::test::table_test {

TEST_CASE("table_text: columns as wide as their widest cell, two blanks apart") {
  CHECK(table_text({{"op", "us", "what"}, {"matmul", "7", "a product"}, {"add", "1234"}}, "lr") ==
        "op        us  what\n"
        "matmul     7  a product\n"
        "add     1234\n");
  CHECK(table_text({{"a", "b"}, {"a line that widens nothing"}, {"", ""}, {""}, {"c", "d"}}) ==
        "a  b\na line that widens nothing\n\n\nc  d\n");
  CHECK(table_text({}) == "");
}

TEST_CASE("table_line: a row of a table that grows") {
  CHECK(table_line({"1", "22"}, {"seed", "loss"}, "lr") == "1       22\n");
  CHECK(table_line({"wider than it", "2"}, {"seed", "loss"}) == "wider than it  2\n");
}

TEST_CASE("grouped: a comma before each three digits but the first ones") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(1234567) == "1,234,567");
  CHECK(grouped(-123) == "-123");
  CHECK(grouped(-1234) == "-1,234");
}

}  // namespace mote::test::table_test
