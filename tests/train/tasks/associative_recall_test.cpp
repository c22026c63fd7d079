// The associative recall task: check_task, rows taken apart, what it refuses.
#include "train/tasks/associative_recall.h"

#include "tests/check_task.h"

namespace mote::test::associative_recall_test {
namespace {

/// If the last id is a key, the id after its first place.
Rule recall(Index keys) {
  return [keys](const Sequence& row) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i)
      if (row[i] == row.back() && row.back() < keys) return Sequence{row[i + 1]};
    return Sequence{};
  };
}

TEST_CASE("associative recall task") {
  check_task("associative_recall", recall(32));
  check_task("associative_recall", recall(5), {{"keys", "5"}, {"values", "3"}, {"pairs", "2"}, {"length", "9"}});
}

TEST_CASE("associative recall task: each key comes twice, and the second time its value is asked") {
  const AssociativeRecallTask task({.keys = 9, .values = 7, .pairs = 3, .length = 17});
  const Batch batch = task.batch(100, Split::train, Generator(1));
  for (Index b = 0; b < 100; ++b) {
    const Sequence ids = row_of(batch.ids, b), targets = row_of(batch.targets, b);
    std::set<Index> keys;
    std::size_t asked = 0;
    for (std::size_t t = 0; t < 6; t += 2) {
      CHECK((ids[t] < 9 && ids[t + 1] >= 9 && ids[t + 1] < 16));
      CHECK(std::count(ids.begin(), ids.end(), ids[t]) == 2);
      keys.insert(ids[t]);
    }
    CHECK(keys.size() == 3);
    for (std::size_t t = 0; t < 17; ++t) {
      if (t < 6 || ids[t] >= 9) {
        CHECK(targets[t] == -1);
        continue;
      }
      ++asked;
      CHECK(Sequence{targets[t]} == recall(9)(Sequence(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(t) + 1)));
      CHECK((t + 1 == 17 || ids[t + 1] != targets[t]));  // the value does not come again
    }
    CHECK(asked == 3);
  }
  CHECK(task.text(Sequence{0, 9, 16}) == "k0 v0 .");
}

TEST_CASE("associative recall task: rows ask every key, and each comes last now and then, with filler and without") {
  for (const auto& [pairs, length] : {std::pair<Index, Index>{4, 12}, {4, 13}, {1, 3}, {2, 6}, {3, 17}}) {
    const AssociativeRecallTask task({.keys = 32, .values = 32, .pairs = pairs, .length = length});
    const auto P = static_cast<std::size_t>(pairs);
    const Questions q = task.questions(200, Split::train, Generator(1));
    std::set<std::size_t> last;
    for (Index n = 0; n < 200; ++n) {
      const Sequence prompt = row_of(q.prompts, n);
      for (std::size_t pair = 0; pair < P; ++pair) {
        if (length < 4 * pairs) CHECK(std::count(prompt.begin(), prompt.end(), prompt[2 * pair]) == 2);
        if (prompt[2 * pair] == prompt.back()) last.insert(pair);
      }
    }
    CHECK(last.size() == P);
  }
  check_task("associative_recall", recall(32), {{"length", "12"}});
}

TEST_CASE("associative recall task: what it refuses") {
  check_refused(
      "associative_recall",
      {{{{"keys", "3"}}, "AssociativeRecallTask: keys 3 must be at least pairs 4, and at most 1000000"},
       {{{"values", "1"}}, "AssociativeRecallTask: values 1 must be 2 to 1000000"},
       {{{"pairs", "0"}}, "AssociativeRecallTask: pairs 0 must be 1 to 1000000"},
       {{{"length", "11"}}, "AssociativeRecallTask: length 11 must be at least 12, 3 for each of the pairs"}});
}

}  // namespace
}  // namespace mote::test::associative_recall_test
