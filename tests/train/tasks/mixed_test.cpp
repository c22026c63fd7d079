// The mixed task: check_task, both marks, what it refuses.
#include "train/tasks/mixed.h"

#include "tests/check_task.h"

namespace mote::test::mixed_test {

TEST_CASE("mixed task") {
  const auto rule = [](Index symbols) -> Rule {
    return [symbols](const Sequence& prompt) {
      Sequence letters(prompt.begin() + 1, prompt.end() - 1);
      return prompt[0] == symbols ? letters : Sequence(letters.rbegin(), letters.rend());
    };
  };
  check_task("mixed", rule(26));
  check_task("mixed", rule(3), {{"symbols", "3"}, {"length", "8"}});
}

TEST_CASE("mixed task: > copies, < reverses, both are asked") {
  const MixedTask task({.symbols = 4, .length = 3});
  CHECK(task.text(task.answer(task.ids(">abc"))) == "abc");
  CHECK(task.text(task.answer(task.ids("<abc"))) == "cba");
  CHECK(task.looks_at(task.ids(">abc|ab"), 4) == 1);  // the separator looks at a
  CHECK(task.looks_at(task.ids("<abc|cb"), 4) == 3);
  CHECK(task.looks_at(task.ids("<abc|cb"), 6) == 1);
  const Questions q = task.questions(400, Split::validation, Generator(1));
  Index copies = 0;
  for (Index n = 0; n < 400; ++n) {
    const Sequence prompt = row_of(q.prompts, n);
    copies += prompt[0] == 4;
    for (std::size_t i = 1; i < 4; ++i) CHECK(prompt[i] < 4);
  }
  CHECK((copies > 140 && copies < 260));
}

TEST_CASE("mixed task: what it refuses") {
  for (const std::string option : {"symbols", "length"})
    for (const std::string value : {"0", "9223372036854775807"})
      check_refused("mixed", {{{{option, value}}, "MixedTask: " + option + " " + value + " must be 1 to 1000000"}});
}

}  // namespace mote::test::mixed_test
