// The copy task: check_task, what a batch looks like, that its splits are all there is, what it refuses.
#include "train/tasks/copy.h"

#include "tests/check_task.h"

namespace mote::test::copy_test {
namespace {

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
bool held_out(const Sequence& s) { return split_of(s) == Split::validation; }

TEST_CASE("copy task") {
  const Rule without_separator = [](const Sequence& prompt) { return Sequence(prompt.begin(), prompt.end() - 1); };
  check_task("copy", without_separator);
  check_task("copy", without_separator, {{"symbols", "40"}, {"length", "3"}});
}

TEST_CASE("copy task: a batch is question, separator, answer; only the answer is a target") {
  const CopyTask task({.symbols = 5, .length = 4});
  CHECK(task.vocab_size() == 6);
  CHECK(task.separator() == 5);
  CHECK(task.block_size() == 8);
  const Batch batch = task.batch(50, Split::train, Generator(1));
  REQUIRE(batch.ids.shape() == Shape{50, 8});
  REQUIRE(batch.targets.shape() == Shape{50, 8});
  for (Index b = 0; b < 50; ++b) {
    const Sequence ids = row_of(batch.ids, b), targets = row_of(batch.targets, b);
    const Sequence question(ids.begin(), ids.begin() + 4);
    for (const Index symbol : question) CHECK((symbol >= 0 && symbol < 5));
    CHECK(ids[4] == task.separator());
    CHECK(Sequence(ids.begin() + 5, ids.end()) == Sequence(question.begin(), question.begin() + 3));
    CHECK(Sequence(targets.begin(), targets.begin() + 4) == Sequence(4, -1));
    CHECK(Sequence(targets.begin() + 4, targets.end()) == question);
  }
}

TEST_CASE("copy task: no sequence is in both splits, and together they are all there is") {
  const CopyTask task({.symbols = 3, .length = 3});
  std::set<Sequence> seen[2];
  for (const Split split : {Split::train, Split::validation}) {
    const Questions q = task.questions(2000, split, Generator(2));
    for (Index n = 0; n < 2000; ++n) seen[split == Split::validation].insert(row_of(q.answers, n));
  }
  CHECK(seen[0].size() + seen[1].size() == 27);
  for (const Sequence& s : all_sequences(3, 3)) CHECK(seen[held_out(s)].contains(s));
}

TEST_CASE("copy task: about a quarter is held out") {
  for (const auto& [symbols, length] : {std::pair<Index, Index>{10, 4}, {2, 13}, {100, 2}}) {
    double share = 0;
    const std::vector<Sequence> all = all_sequences(symbols, length);
    for (const Sequence& s : all) share += held_out(s);
    const double n = static_cast<double>(all.size());
    CHECK(std::abs(share / n - 0.25) < 5 * std::sqrt(0.25 * 0.75 / n));
  }
}

TEST_CASE("copy task: whatever sizes it accepts, both splits have sequences: drawing always ends") {
  for (Index symbols = 2; symbols <= 64; ++symbols)
    for (Index length = 1; std::pow(symbols, length) <= 512; ++length) {
      if (error_of([&] { CopyTask({.symbols = symbols, .length = length}); }) != "(no error)") continue;
      std::size_t held = 0;
      const std::vector<Sequence> all = all_sequences(symbols, length);
      for (const Sequence& s : all) held += held_out(s);
      CHECK_MESSAGE((held > 0 && held < all.size()), symbols, " symbols, length ", length);
    }
}

TEST_CASE("copy task: how it reads, and where to look") {
  const CopyTask few({.symbols = 5, .length = 4}), many({.symbols = 30, .length = 4});
  CHECK(few.text(Sequence{0, 4, 5}) == "ae|");
  CHECK(few.prompt_text(Sequence{0, 4, 5}) == "ae");
  CHECK(many.text(Sequence{0, 29, 30}) == "0 29 |");
  CHECK(few.looks_at({}, 3) == -1);
  CHECK(few.looks_at({}, 4) == 0);
  CHECK(few.looks_at({}, 7) == 3);
}

TEST_CASE("copy task refuses sizes without two splits") {
  check_refused("copy", {{{{"symbols", "1"}}, "CopyTask: symbols 1 must be 2 to 10000000"},
                         {{{"length", "0"}}, "CopyTask: length 0 must be 1 to 10000000"},
                         {{{"length", "10000001"}}, "CopyTask: length 10000001 must be 1 to 10000000"},
                         {{{"symbols", "6"}, {"length", "1"}},  // all six train
                          "CopyTask: there are too few different questions to hold some out"},
                         {{{"symbols", "7"}, {"length", "1"}}, "(no error)"}});  // the seventh is for testing
}

}  // namespace
}  // namespace mote::test::copy_test
