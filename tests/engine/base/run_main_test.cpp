// run_main: what a body returns, and what it throws.
#include "engine/base/run_main.h"

#include "engine/base/check.h"
#include "tests/tools.h"

namespace mote::test::run_main_test {
namespace {

TEST_CASE("run_main: the body's code, 0 without one, 1 after an error") {
  CHECK(run_main([] { return 3; }) == 3);
  CHECK(run_main([] {}) == 0);
  CHECK(run_main([] { throw Error("a line that this test expects on stderr"); }) == 1);
  CHECK(run_main([]() -> int { throw std::bad_alloc(); }) == 1);
}

}  // namespace
}  // namespace mote::test::run_main_test
