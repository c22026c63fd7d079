// The reverse task: check_task, an example by hand, where to look.
#include "train/tasks/reverse.h"

#include "tests/check_task.h"

namespace mote::test::reverse_test {

TEST_CASE("reverse task") {
  check_task("reverse", [](const Sequence& prompt) { return Sequence(prompt.rbegin() + 1, prompt.rend()); });
  const ReverseTask task({.symbols = 5, .length = 3});
  CHECK(task.answer(Sequence{1, 2, 4}) == Sequence{4, 2, 1});
  CHECK(task.looks_at({}, 2) == -1);
  CHECK(task.looks_at({}, 3) == 2);  // from the separator to the last symbol
  CHECK(task.looks_at({}, 5) == 0);
}

}  // namespace mote::test::reverse_test
