// The repeat task: check_task, what a batch looks like, what it refuses.
#include "train/tasks/repeat.h"

#include "tests/check_task.h"

namespace mote::test::repeat_test {
namespace {

TEST_CASE("repeat task") {
  check_task("repeat", [](const Sequence& prompt) { return Sequence(12, prompt[0]); });
  check_task("repeat", [](const Sequence& prompt) { return Sequence(1, prompt[0]); }, {{"length", "1"}});
}

TEST_CASE("repeat task: one id per row, again and again, and it is the target too") {
  const RepeatTask task({.symbols = 6, .length = 4});
  const Batch batch = task.batch(200, Split::train, Generator(1));
  REQUIRE(batch.ids.shape() == Shape{200, 4});
  CHECK(equal(batch.ids, batch.targets));
  std::set<Index> seen;
  for (Index b = 0; b < 200; ++b) {
    const Index first = batch.ids.at({b, 0});
    CHECK(row_of(batch.ids, b) == Sequence(4, first));
    seen.insert(first);
  }
  CHECK(seen == std::set<Index>{0, 1, 2, 3, 4, 5});
  CHECK(equal(task.batch(9, Split::train, Generator(1)).ids, batch.ids.slice(0, 0, 9)));
}

TEST_CASE("repeat task: what it refuses") {
  check_refused("repeat", {{{{"symbols", "1"}}, "RepeatTask: symbols 1 must be 2 to 1000000"},
                           {{{"length", "0"}}, "RepeatTask: length 0 must be 1 to 1000000"}});
}

}  // namespace
}  // namespace mote::test::repeat_test
