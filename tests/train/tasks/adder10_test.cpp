// The adder10 task: check_task, the board's sums against what Python draws, how rows lie, carries, what it refuses.
#include "train/tasks/adder10.h"

#include "tests/check_task.h"

namespace mote::test::adder10_test {
namespace {

/// By the sum of the two numbers: 0, ten digits, 0 0, ten digits, 0, each number's last digit first.
Sequence rule(const Sequence& prompt) {
  const auto number = [&](std::size_t first) {
    std::uint64_t x = 0;
    for (std::size_t i = 10; i-- > 0;) x = 10 * x + static_cast<std::uint64_t>(prompt[first + i]);
    return x;
  };
  std::uint64_t sum = number(1) + number(13);
  Sequence digits;
  for (int i = 0; i < 11; ++i, sum /= 10) digits.push_back(static_cast<Index>(sum % 10));
  return digits;
}

TEST_CASE("adder10 task") {
  check_task("adder10", rule);
  check_task("adder10", rule, {{"carries", "0.8"}});
}

TEST_CASE("adder10 task: the board's pairs are those of Python's random.Random(2025)") {
  const auto pairs = Adder10Task::board();
  REQUIRE(pairs.size() == 10'010);
  CHECK(pairs[10'003] == std::pair<std::uint64_t, std::uint64_t>(9999999999, 1));
  CHECK(pairs[0] == std::pair<std::uint64_t, std::uint64_t>(2395527356, 9334186774));
  CHECK(pairs[9999] == std::pair<std::uint64_t, std::uint64_t>(4210807827, 8038206893));
  std::uint64_t hash = 0;  // h = (31 * (h % 2**59) + 7 * a + b) % 2**61
  for (std::size_t i = 0; i < 10'000; ++i)
    hash = (31 * (hash % (std::uint64_t(1) << 59)) + 7 * pairs[i].first + pairs[i].second) % (std::uint64_t(1) << 61);
  CHECK(hash == 1318667572236994235);
  CHECK(Adder10Task::board(12).back() == pairs[11]);
}

TEST_CASE("adder10 task: the evaluation set ends with the hard ones, written least digit first") {
  const Adder10Task task;
  const Questions few = task.evaluation(12), all = task.evaluation(20'000);
  CHECK(all.count() == 10'010);
  CHECK(few.prompts.shape() == Shape{12, 24});
  CHECK(task.evaluation(-1).count() == 0);
  CHECK(task.question_text(few, 0) == "2395527356 + 9334186774");
  CHECK(task.question_text(all, 10'007) == "1234567890 + 9876543210");
  CHECK(row_of(all.answers, 10'007) == Sequence{0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(row_of(all.prompts, 10'003) ==
        Sequence{0, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(task.evaluation(5, Split::train).count() == 5);
  CHECK(task.vocab_size() == 10);
}

TEST_CASE("adder10 task: with carries, digits that add to nine are as many as asked for") {
  const auto nines = [](double share) {
    const Batch batch = Adder10Task({.carries = share}).batch(2000, Split::train, Generator(1));
    Index count = 0;
    for (Index n = 0; n < 2000; ++n)
      for (Index i = 1; i < 11; ++i) count += batch.ids.at({n, i}) + batch.ids.at({n, 12 + i}) == 9;
    return static_cast<double>(count) / 20'000;
  };
  CHECK(std::abs(nines(0) - 0.1) < 0.01);
  CHECK(std::abs(nines(0.5) - (0.5 * 0.1 + 0.5 * (0.7 + 0.3 * 0.1))) < 0.02);
}

TEST_CASE("adder10 task: what it refuses") {
  for (const std::string carries : {"-0.1", "1.5"})
    check_refused("adder10", {{{{"carries", carries}}, "Adder10Task: carries " + carries + " must be 0 to 1"}});
}

}  // namespace
}  // namespace mote::test::adder10_test
