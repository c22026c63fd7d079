// The Dyck task: check_task, an example by hand, words nested as deep as allowed and no deeper, what it refuses.
#include "train/tasks/dyck.h"

#include <map>

#include "tests/check_task.h"

namespace mote::test::dyck_test {
namespace {

/// Removes pairs () [] until none is left, and closes what remains.
Rule rule(Index kinds, std::size_t depth) {
  return [kinds, depth](const Sequence& prompt) {
    Sequence word(prompt.begin(), prompt.end() - 1);
    for (std::size_t i = 0; i + 1 < word.size();)
      if (word[i] + kinds == word[i + 1]) {
        word.erase(word.begin() + static_cast<std::ptrdiff_t>(i), word.begin() + static_cast<std::ptrdiff_t>(i) + 2);
        i = i > 0 ? i - 1 : 0;
      } else {
        ++i;
      }
    Sequence closes;
    for (std::size_t i = word.size(); i-- > 0;) closes.push_back(word[i] + kinds);
    while (closes.size() < depth) closes.push_back(2 * kinds);
    return closes;
  };
}

TEST_CASE("Dyck task") {
  check_task("dyck", rule(2, 4));
  check_task("dyck", rule(6, 3), {{"kinds", "6"}, {"depth", "3"}, {"length", "9"}});
}

TEST_CASE("Dyck task: an example by hand") {
  const DyckTask task({.kinds = 2, .depth = 3, .length = 6});
  CHECK(task.text(task.answer(task.ids("(()([]"))) == ")).");
  CHECK(task.text(task.answer(task.ids("[][]()"))) == "...");
}

TEST_CASE("Dyck task: questions are nested well, and as deep as allowed") {
  const DyckTask task({.kinds = 2, .depth = 4, .length = 24});
  const Questions q = task.questions(300, Split::train, Generator(1));
  std::size_t deepest = 0;
  std::set<std::size_t> left;
  for (Index n = 0; n < 300; ++n) {
    Sequence open;
    const Sequence prompt = row_of(q.prompts, n);
    for (std::size_t i = 0; i < 24; ++i) {
      if (prompt[i] < 2) {
        open.push_back(prompt[i]);
      } else {
        REQUIRE(!open.empty());
        CHECK(open.back() + 2 == prompt[i]);
        open.pop_back();
      }
      deepest = std::max(deepest, open.size());
    }
    left.insert(open.size());
  }
  CHECK(deepest == 4);
  CHECK(left == std::set<std::size_t>{0, 2, 4});  // of 24 brackets, an even number stays open
}

TEST_CASE("Dyck task: chance is the share of the commonest answer") {
  const auto chance = [](const DyckOptions& o) { return DyckTask(o).outcome().chance; };
  CHECK(chance({.kinds = 2, .depth = 4, .length = 2}) == 0.5);    // nothing is open, or two, as four answers
  CHECK(chance({.kinds = 2, .depth = 4, .length = 3}) == 0.375);  // one is open three times in four
  CHECK(chance({.kinds = 2, .depth = 1, .length = 9}) == 0.5);    // always one
  CHECK(chance({.kinds = 2, .depth = 1, .length = 10}) == 1);     // always none
  CHECK(chance({.kinds = 1, .depth = 2, .length = 1001}) == 1);   // always one
  CHECK(chance({}) == doctest::Approx(0.25).epsilon(0.02));
  CHECK(chance({.length = 1'000'000}) == doctest::Approx(0.25));
  CHECK(chance({.depth = 1'000'000, .length = 1'000'001}) < 0.01);
  for (const DyckOptions& o : {DyckOptions{}, DyckOptions{.kinds = 1}, DyckOptions{.depth = 7, .length = 15},
                               DyckOptions{.kinds = 3, .depth = 3, .length = 6}}) {
    const DyckTask task(o);
    const Generator random(1);
    std::map<Sequence, int> seen;
    int most = 0;
    for (int n = 0; n < 4000; ++n) most = std::max(most, ++seen[task.answer(task.question(random))]);
    CHECK(std::abs(most / 4000.0 - task.outcome().chance) < 0.03);
  }
}

TEST_CASE("Dyck task: what it refuses") {
  const std::string most = std::to_string(std::numeric_limits<Index>::max());
  check_refused("dyck", {{{{"kinds", "0"}}, "DyckTask: kinds 0 must be 1 to 1000000"},
                         {{{"kinds", most}}, "DyckTask: kinds " + most + " must be 1 to 1000000"},
                         {{{"depth", "0"}}, "DyckTask: depth 0 must be 1 to 1000000"}});
}

}  // namespace
}  // namespace mote::test::dyck_test
