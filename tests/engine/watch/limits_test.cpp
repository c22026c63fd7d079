// The limits of the machine: that they are measured at all, on any number of threads. How large they are is no test's
// business.
#include "engine/watch/limits.h"

#include "engine/base/parallel.h"
#include "tests/tools.h"

namespace mote::test::limits_test {
namespace {

using kernels::Level;

TEST_CASE("limits: levels are in order, and typical sizes lie in them") {
  CHECK(kernels::level_of(0) == Level::l1);
  CHECK(kernels::level_of(1e15) == Level::memory);
  for (const Level level : {Level::l1, Level::l2})
    CHECK(kernels::level_of(static_cast<double>(kernels::typical_bytes(level))) == level);
}

TEST_CASE("limits: measured on one thread and on three") {
  const int before = threads();
  for (const int n : {1, 3}) {
    set_threads(n);
    CHECK(kernels::measure_multiply_adds(1e-4) > 0);
    for (const Index bytes : {Index(1), Index(1000), Index(100000)}) {
      kernels::ReadSpeed speed(bytes);
      CHECK(speed.measure(1e-4) > 0);
      CHECK(speed.measure(1e-4) > 0);
    }
  }
  set_threads(before);
}

}  // namespace
}  // namespace mote::test::limits_test
