// The induction task: check_task, rows that begin again, which targets count, where to look, what it refuses.
#include "train/tasks/induction.h"

#include "tests/check_task.h"

namespace mote::test::induction_test {
namespace {

/// After how many letters a row begins again.
std::size_t period_of(const Sequence& x, std::size_t shortest) {
  std::size_t period = shortest;
  while (!std::equal(x.begin() + static_cast<std::ptrdiff_t>(period), x.end(), x.begin())) ++period;
  return period;
}

Rule continued(std::size_t shortest, std::size_t count) {
  return [=](const Sequence& prompt) {
    const std::size_t period = period_of(prompt, shortest);
    Sequence x = prompt;
    while (x.size() < prompt.size() + count) x.push_back(x[x.size() - period]);
    return Sequence(x.end() - static_cast<std::ptrdiff_t>(count), x.end());
  };
}

TEST_CASE("induction task") {
  check_task("induction", continued(3, 4));
  check_task("induction_one_layer", continued(3, 4));
  check_task("induction", continued(4, 4), {{"symbols", "40"}, {"shortest", "4"}, {"length", "7"}});
}

TEST_CASE("induction task: rows begin again after `shortest` to `length` letters; from there on all is a target") {
  const InductionTask task({.symbols = 26, .shortest = 4, .length = 6});
  CHECK(task.block_size() == 12);
  const Batch batch = task.batch(200, Split::train, Generator(1));
  std::set<std::size_t> periods;
  for (Index b = 0; b < 200; ++b) {
    const Sequence x = row_of(batch.ids, b), y = row_of(batch.targets, b);
    const std::size_t counted = static_cast<std::size_t>(std::count(y.begin(), y.end(), -1));
    const std::size_t period = counted + 1;
    periods.insert(period);
    CHECK(period_of(x, 4) <= period);
    const auto end = x.begin() + static_cast<std::ptrdiff_t>(period_of(x, 4));  // before it no letter comes twice
    CHECK(std::set<Index>(x.begin(), end).size() == period_of(x, 4));
    for (std::size_t t = 0; t < 12; ++t) {
      CHECK(y[t] == (t + 1 < period ? -1 : x[t + 1 - period]));
      CHECK((t + 1 == 12 || t + 1 < period || y[t] == x[t + 1]));
    }
  }
  CHECK(periods == std::set<std::size_t>{4, 5, 6});
}

TEST_CASE("induction task: where to look is one further than the same letter one period back") {
  const InductionTask task({.symbols = 26, .shortest = 2, .length = 4});
  const Sequence x{7, 8, 9, 7, 8, 9, 7, 8};
  std::vector<Index> looks;
  for (Index t = 0; t < 8; ++t) looks.push_back(task.looks_at(x, t));
  CHECK(looks == std::vector<Index>{-1, -1, -1, 1, 2, 3, 4, 5});
  CHECK(task.text(x) == "hijhijhi");
  CHECK(task.row({1, 2, 3}) == Sequence{1, 2, 3, 1, 2, 3, 1, 2, 3});
}

TEST_CASE("induction task: the answer is up to four letters, of short rows all but one") {
  for (const auto& [length, answers] : {std::pair<Index, Index>{2, 1}, {4, 3}, {5, 4}, {9, 4}}) {
    const InductionTask task({.symbols = 9, .shortest = 2, .length = length});
    const Questions q = task.questions(3, Split::validation, Generator(1));
    CHECK(q.answers.shape() == Shape{3, answers});
    CHECK(q.prompts.shape() == Shape{3, 2 * length + 1 - answers});
  }
}

TEST_CASE("induction task: what it refuses") {
  check_refused("induction",
                {{{{"symbols", "1"}}, "InductionTask: symbols 1 must be 2 to 1000000"},
                 {{{"length", "1"}}, "InductionTask: length 1 must be 2 to 1000000"},
                 {{{"shortest", "9"}, {"length", "8"}}, "InductionTask: shortest 9 must be 1 to length 8"},
                 {{{"symbols", "8"}, {"length", "9"}},
                  "InductionTask: length 9 must be at most symbols 8: no letter comes twice before all come again"}});
}

}  // namespace
}  // namespace mote::test::induction_test
