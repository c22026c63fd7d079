// The selective copy task: check_task, an example by hand, what it refuses.
#include "train/tasks/selective_copy.h"

#include "tests/check_task.h"

namespace mote::test::selective_copy_test {

TEST_CASE("selective copy task") {
  const auto rule = [](Index symbols) -> Rule {
    return [symbols](const Sequence& prompt) {
      Sequence left;
      for (const Index id : prompt)
        if (id < symbols) left.push_back(id);
      return left;
    };
  };
  check_task("selective_copy", rule(make_task("selective_copy")->vocab_size() - 2));
  check_task("selective_copy", rule(4), {{"symbols", "4"}, {"length", "12"}, {"count", "3"}});
}

TEST_CASE("selective copy task: an example by hand, and where to look") {
  const SelectiveCopyTask task({.symbols = 4, .length = 6, .count = 2});
  CHECK(task.text(task.answer(task.ids("..b..a"))) == "ba");
  const Sequence row = task.ids("..b..a|b");
  CHECK(task.looks_at(row, 5) == -1);
  CHECK(task.looks_at(row, 6) == 2);  // the separator looks at b
  CHECK(task.looks_at(row, 7) == 5);
}

TEST_CASE("selective copy task: what it refuses") {
  const std::string most = std::to_string(std::numeric_limits<Index>::max());
  check_refused("selective_copy",
                {{{{"symbols", most}}, "SelectiveCopyTask: symbols " + most + " must be 1 to 1000000"},
                 {{{"length", "6"}, {"count", "7"}}, "SelectiveCopyTask: count 7 must be 1 to length 6"},
                 {{{"length", "6"}, {"count", "0"}}, "SelectiveCopyTask: count 0 must be 1 to length 6"}});
}

}  // namespace mote::test::selective_copy_test
