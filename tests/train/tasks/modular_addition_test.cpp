// The modular addition task: check_task, that its splits are all pairs, full batches, what it refuses.
#include "train/tasks/modular_addition.h"

#include "tests/check_task.h"

namespace mote::test::modular_addition_test {

TEST_CASE("modular addition task") {
  const auto rule = [](Index modulus) -> Rule {
    return [modulus](const Sequence& prompt) { return Sequence{(prompt[0] + prompt[1]) % modulus}; };
  };
  const Index modulus = make_task("modular_addition")->vocab_size() - 1;
  check_task("modular_addition", rule(modulus));
  check_task("modular_addition_no_decay", rule(modulus));
  check_task("modular_addition", rule(7), {{"modulus", "7"}, {"training", "60"}});
}

TEST_CASE("modular addition task: training and test pairs are all there are; a full batch has each once") {
  const ModularAdditionTask task({.modulus = 11, .training = 40});
  const Index train = task.pairs(Split::train), test = task.pairs(Split::validation);
  CHECK(train + test == 121);
  CHECK((train > 30 && train < 67));
  std::set<Sequence> seen;
  for (const Split split : {Split::train, Split::validation}) {
    const Questions q = task.evaluation(1000, split);
    REQUIRE(q.prompts.shape()[0] == task.pairs(split));
    for (Index n = 0; n < task.pairs(split); ++n) seen.insert(row_of(q.prompts, n));
  }
  CHECK(seen.size() == 121);
  std::set<Sequence> trained;  // a + b and b + a are one question
  const Questions known = task.evaluation(1000, Split::train), asked = task.evaluation(1000, Split::validation);
  for (Index n = 0; n < train; ++n) trained.insert(row_of(known.prompts, n));
  for (Index n = 0; n < test; ++n) {
    Sequence turned = row_of(asked.prompts, n);
    std::swap(turned[0], turned[1]);
    CHECK(!trained.contains(turned));
  }
  const Batch two = task.batch(2 * train, Split::train, Generator(1));
  std::multiset<Sequence> rounds[2];
  for (Index n = 0; n < 2 * train; ++n) rounds[n / train].insert(row_of(two.ids, n));
  CHECK(rounds[0] == rounds[1]);
  CHECK(std::set<Sequence>(rounds[0].begin(), rounds[0].end()).size() == static_cast<std::size_t>(train));
  CHECK(task.evaluation(5).prompts.shape()[0] == 5);
}

TEST_CASE("modular addition task: what it refuses") {
  check_refused("modular_addition", {{{{"modulus", "4"}}, "ModularAdditionTask: modulus 4 must be 5 to 1000"},
                                     {{{"training", "100"}}, "ModularAdditionTask: training 100 must be 1 to 99"}});
}

}  // namespace mote::test::modular_addition_test
