// The parity task: check_task, labels by hand, longer rows to test on, what it refuses.
#include "train/tasks/parity.h"

#include "tests/check_task.h"
#include "tests/sentences.h"

namespace mote::test::parity_test {

TEST_CASE("parity task") {
  const Rule rule = [](const Sequence& bits) {
    return Sequence{std::accumulate(bits.begin(), bits.end(), Index{0}) % 2 == 0 ? 2 : 3};
  };
  check_task("parity", rule);
  check_task("parity_longer", rule);
}

TEST_CASE("parity task: labels by hand; rows to test on may be longer") {
  const ParityTask task({.length = 9, .test_length = 20});
  CHECK(task.text(task.labels(task.ids("0 1 0 1 1"))) == "even odd odd even odd");
  CHECK(task.batch(3, Split::train, Generator(1)).ids.shape() == Shape{3, 9});
  CHECK(task.batch(3, Split::validation, Generator(1)).ids.shape() == Shape{3, 20});
  CHECK(task.questions(3, Split::validation, Generator(1)).prompts.shape() == Shape{3, 20});
  CHECK(task.block_size() == 20);
}

TEST_CASE("parity task: what it refuses") {
  REFUSES(ParityTask({.length = 0}));
  REFUSES(ParityTask({.length = 1}));
}

}  // namespace mote::test::parity_test
