// The toy tasks: what their batches look like, that their splits never meet, that seeds decide.
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "tests/tools.h"
#include "train/tasks/copy.h"
#include "train/tasks/repeat.h"
#include "train/tasks/two_places.h"

namespace mote::test::tasks_test {
namespace {

using Sequence = std::vector<Index>;

Sequence row(const IntArray& t, Index b) {
  const Index n = t.shape()[1];
  return {t.data() + b * n, t.data() + (b + 1) * n};
}

/// All sequences of `length` symbols, in counting order.
std::vector<Sequence> all_sequences(Index symbols, Index length) {
  std::vector<Sequence> all{{}};
  for (Index i = 0; i < length; ++i) {
    std::vector<Sequence> longer;
    for (const Sequence& s : all)
      for (Index symbol = 0; symbol < symbols; ++symbol) {
        longer.push_back(s);
        longer.back().push_back(symbol);
      }
    all = longer;
  }
  return all;
}

TEST_CASE("copy task: a batch is question, separator, answer; only the answer is a target") {
  const CopyTask task(5, 4);
  CHECK(task.vocab_size() == 6);
  CHECK(task.separator() == 5);
  CHECK(task.block_size() == 8);
  const Batch batch = task.batch(50, Split::train, Generator(1));
  REQUIRE(batch.ids.shape() == Shape{50, 8});
  REQUIRE(batch.targets.shape() == Shape{50, 8});
  for (Index b = 0; b < 50; ++b) {
    const Sequence ids = row(batch.ids, b), targets = row(batch.targets, b);
    const Sequence question(ids.begin(), ids.begin() + 4);
    for (const Index symbol : question) CHECK((symbol >= 0 && symbol < 5));
    CHECK(ids[4] == task.separator());
    CHECK(Sequence(ids.begin() + 5, ids.end()) == Sequence(question.begin(), question.begin() + 3));
    CHECK(Sequence(targets.begin(), targets.begin() + 4) == Sequence(4, -1));
    CHECK(Sequence(targets.begin() + 4, targets.end()) == question);
  }
}

TEST_CASE("copy task: questions end in the separator, and their answers are the question") {
  const CopyTask task(5, 4);
  const Batch q = task.questions(20, Split::test, Generator(1));
  REQUIRE(q.ids.shape() == Shape{20, 5});
  REQUIRE(q.targets.shape() == Shape{20, 4});
  for (Index b = 0; b < 20; ++b) {
    Sequence expected = row(q.targets, b);
    expected.push_back(task.separator());
    CHECK(row(q.ids, b) == expected);
  }
}

TEST_CASE("copy task: no sequence is in both splits, and together they are all there is") {
  const CopyTask task(3, 3);
  std::set<Sequence> seen[2];
  for (const Split split : {Split::train, Split::test}) {
    const Batch q = task.questions(2000, split, Generator(2));
    for (Index b = 0; b < 2000; ++b) seen[split == Split::test].insert(row(q.targets, b));
  }
  CHECK(seen[0].size() + seen[1].size() == 27);
  for (const Sequence& s : all_sequences(3, 3)) {
    CHECK(seen[0].count(s) + seen[1].count(s) == 1);
    CHECK(seen[1].count(s) == (CopyTask::held_out(s) ? 1u : 0u));
  }
  const Batch batch = task.batch(500, Split::train, Generator(3));
  for (Index b = 0; b < 500; ++b) {
    const Sequence ids = row(batch.ids, b);
    CHECK(!CopyTask::held_out(Sequence(ids.begin(), ids.begin() + 3)));
  }
}

TEST_CASE("copy task: about a quarter is held out") {
  for (const auto& [symbols, length] : {std::pair<Index, Index>{10, 4}, {2, 13}, {100, 2}}) {
    double held_out = 0;
    const std::vector<Sequence> all = all_sequences(symbols, length);
    for (const Sequence& s : all) held_out += CopyTask::held_out(s);
    const double n = static_cast<double>(all.size());
    CHECK(std::abs(held_out / n - 0.25) < 5 * std::sqrt(0.25 * 0.75 / n));
  }
}

TEST_CASE("copy task: whatever sizes it accepts, both splits have sequences: drawing always ends") {
  for (Index symbols = 2; symbols <= 64; ++symbols)
    for (Index length = 1; std::pow(symbols, length) <= 512; ++length) {
      if (error_of([&] { CopyTask(symbols, length); }) != "(no error)") continue;
      std::size_t held_out = 0;
      const std::vector<Sequence> all = all_sequences(symbols, length);
      for (const Sequence& s : all) held_out += CopyTask::held_out(s);
      CHECK_MESSAGE((held_out > 0 && held_out < all.size()), symbols, " symbols, length ", length);
    }
}

TEST_CASE("copy task: the seed decides, and nothing else") {
  const CopyTask task(7, 5);
  const Batch a = task.batch(8, Split::train, Generator(4)), b = task.batch(8, Split::train, Generator(4));
  CHECK(a.ids == b.ids);
  CHECK(a.targets == b.targets);
  CHECK(!(task.batch(8, Split::train, Generator(5)).ids == a.ids));
  const Generator stream(4);
  CHECK(task.batch(8, Split::train, stream).ids == a.ids);
  CHECK(!(task.batch(8, Split::train, stream).ids == a.ids));  // the stream has moved on
  const Sequence fixed{3, 1, 4};
  CHECK(example_hash(fixed) ==
        16438546989333316589u);  // what it is today it must be for ever: an example stays in its split
}

TEST_CASE("copy task refuses sizes without two splits") {
  CHECK(error_of([] { CopyTask(1, 5); }) == "CopyTask: symbols 1 must be at least 2");
  CHECK(error_of([] { CopyTask(5, 0); }) == "CopyTask: length 0 must be at least 1");
  CHECK(error_of([] { CopyTask(6, 1); }) ==
        "CopyTask: with 6 symbols and length 1 there are too few sequences to hold some out");  // all six are for
                                                                                                // training
}

TEST_CASE("repeat task: one id per row, again and again, and it is the target too") {
  const RepeatTask task(6, 4);
  const Batch batch = task.batch(200, Generator(1));
  REQUIRE(batch.ids.shape() == Shape{200, 4});
  CHECK(batch.ids == batch.targets);
  std::set<Index> seen;
  for (Index b = 0; b < 200; ++b) {
    CHECK(row(batch.ids, b) == Sequence(4, batch.ids.data()[b * 4]));
    seen.insert(batch.ids.data()[b * 4]);
  }
  CHECK(seen == std::set<Index>{0, 1, 2, 3, 4, 5});
  CHECK(task.batch(9, Generator(1)).ids == batch.ids.slice(0, 0, 9));
  CHECK(error_of([] { RepeatTask(1, 4); }) == "RepeatTask: vocabulary 1 must be at least 2");
  CHECK(error_of([] { RepeatTask(6, 0); }) == "RepeatTask: length 0 must be at least 1");
}

TEST_CASE("two-places task: the target is the sum of the numbers one and three places back") {
  const TwoPlacesTask task(5, 9);
  const Batch batch = task.batch(40, Generator(1));
  REQUIRE(batch.ids.shape() == Shape{40, 9});
  REQUIRE(batch.targets.shape() == Shape{40, 9});
  std::set<Index> seen, answers;
  for (Index b = 0; b < 40; ++b) {
    const Sequence x = row(batch.ids, b), y = row(batch.targets, b);
    seen.insert(x.begin(), x.end());
    CHECK(Sequence(y.begin(), y.begin() + 3) == Sequence(3, -1));
    for (std::size_t t = 3; t < 9; ++t) CHECK(y[t] == (x[t - 1] + x[t - 3]) % 5);
    answers.insert(y.begin() + 3, y.end());
  }
  CHECK(seen == std::set<Index>{0, 1, 2, 3, 4});
  CHECK(answers == seen);
}

TEST_CASE("two-places task: the seed decides; what it refuses") {
  const TwoPlacesTask task;
  CHECK(task.modulus == 7);
  CHECK(task.length == 16);
  const Generator stream(4);
  const Batch first = task.batch(3, stream);
  CHECK(task.batch(3, Generator(4)).ids == first.ids);
  CHECK(!(task.batch(3, stream).ids == first.ids));  // the stream has moved on
  CHECK(task.batch(0, stream).ids.shape() == Shape{0, 16});
  CHECK(TwoPlacesTask(2, 4).batch(1, stream).targets.data()[2] == -1);
  CHECK(error_of([] { TwoPlacesTask(1, 16); }) == "TwoPlacesTask: modulus 1 must be at least 2");
  CHECK(error_of([] { TwoPlacesTask(7, 3); }) == "TwoPlacesTask: length 3 must be at least 4");
}

TEST_CASE("next_token_batch shifts by one") {
  const Batch batch = next_token_batch(ints({{1, 2, 3}, {4, 5, 6}}));
  CHECK(batch.ids == ints({{1, 2}, {4, 5}}));
  CHECK(batch.targets == ints({{2, 3}, {5, 6}}));
}

}  // namespace
}  // namespace mote::test::tasks_test
