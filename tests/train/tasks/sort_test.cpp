// The sort task: check_task, an example by hand.
#include "train/tasks/sort.h"

#include "tests/check_task.h"

namespace mote::test::sort_test {

TEST_CASE("sort task") {
  const Rule rule = [](const Sequence& prompt) {
    Sequence sorted;
    for (Index symbol = 0; symbol < 20; ++symbol)
      for (std::size_t i = 0; i + 1 < prompt.size(); ++i)
        if (prompt[i] == symbol) sorted.push_back(symbol);
    return sorted;
  };
  check_task("sort", rule);
  check_task("sort", rule, {{"symbols", "20"}, {"length", "5"}});
  const SortTask task;
  CHECK(task.text(task.ids("201120|")) == "201120|");
  CHECK(task.text(task.answer(task.ids("201120"))) == "001122");
}

}  // namespace mote::test::sort_test
