// What tasks share: hashes, splits, rows, text; the list of tasks; check_task's own test.
#include "train/tasks/task.h"

#include "tests/check_task.h"
#include "tests/sentences.h"
#include "train/tasks/answer_task.h"

namespace mote::test::task_test {
namespace {

/// Which mistake a Flawed has.
enum class Flaw { none, answer, target, seed, split, range, word, look, length, outcome, evaluation };

/// Reverse, or nearly.
struct Flawed : AnswerTask {
  Flaw flaw;
  explicit Flawed(Flaw mistake) : AnswerTask("Flawed", AnswerOptions{.symbols = 6, .length = 5}), flaw(mistake) {}
  std::string description() const override { return "the same backwards"; }
  Outcome outcome() const override { return {.least = flaw == Flaw::outcome ? 2.0 : 0.5}; }
  Questions evaluation(Index count, Split split) const override {
    return questions(count, flaw == Flaw::evaluation ? Split::train : split, Generator(1));
  }
  Sequence answer(std::span<const Index> question) const override {
    Sequence reversed(question.rbegin(), question.rend());
    if (flaw == Flaw::answer) reversed.back() = 0;
    if (flaw == Flaw::range) reversed.back() = 7;
    return reversed;
  }
  Index block_size() const override { return AnswerTask::block_size() - (flaw == Flaw::length); }
  Batch batch(Index size, Split split, const Generator& random) const override {
    Batch b =
        AnswerTask::batch(size, flaw == Flaw::split ? Split::train : split, flaw == Flaw::seed ? Generator(3) : random);
    if (flaw == Flaw::target && size > 0) b.targets.mutate()[7] = 0;
    return b;
  }
  std::string word(Index id) const override { return flaw == Flaw::word ? "x" : AnswerTask::word(id); }
  Index looks_at(std::span<const Index>, Index position) const override {
    return flaw == Flaw::look ? position + 1 : 0;
  }
};

Sequence backwards(const Sequence& prompt) { return {prompt.rbegin() + 1, prompt.rend()}; }

bool noticed(Flaw flaw, const std::string& problem) {
  const std::vector<std::string> all = TaskCheck(Flawed(flaw), backwards).problems();
  return std::any_of(all.begin(), all.end(), [&](const std::string& p) { return p.rfind(problem, 0) == 0; });
}

TEST_CASE("check_task finds nothing in a task without mistakes, and each mistake in one with it") {
  CHECK(TaskCheck(Flawed(Flaw::none), backwards).problems().empty());
  CHECK(noticed(Flaw::answer, "an answer is not what the rule says"));
  CHECK(noticed(Flaw::target, "a target is not what the rule says"));
  CHECK(noticed(Flaw::seed, "another seed gives the same batch"));
  CHECK(noticed(Flaw::split, "an example is in both splits"));
  CHECK(noticed(Flaw::range, "answer id 7 is outside the vocabulary"));
  CHECK(noticed(Flaw::word, "two ids are called 'x'"));
  CHECK(noticed(Flaw::look, "position 0 looks at 1"));
  CHECK(noticed(Flaw::length, "a batch is [300, 10], block_size is 9"));
  CHECK(noticed(Flaw::outcome, "an outcome of 2 to 1"));
  CHECK(noticed(Flaw::evaluation, "an evaluation question is one to train on"));
}

TEST_CASE("example_hash: what it is today it must be for ever, an example stays in its split") {
  CHECK(example_hash(Sequence{3, 1, 4}) == 16438546989333316589u);
  CHECK(split_of(Sequence{3, 1, 4}) == Split::train);
}

TEST_CASE("an outcome reads as a share, and holds for shares within it") {
  CHECK(text_of(Outcome{.least = 0.999}) == ">= 99.9 %");
  CHECK(text_of(Outcome{}) == "100 %");
  CHECK(text_of(Outcome{.least = 0, .most = 0.4}) == "<= 40 %");
  const Outcome half{.least = 0.45, .most = 0.6};
  CHECK(text_of(half) == "45 to 60 %");
  CHECK((half.holds(0.45) && half.holds(0.6) && !half.holds(0.44) && !half.holds(0.61)));
}

TEST_CASE("drawing from a split that has nothing ends in an error") {
  const auto same = [] { return Sequence{3, 1, 4}; };  // to train on
  CHECK(draw_of(Split::train, same) == Sequence{3, 1, 4});
  REFUSES(draw_of(Split::validation, same));
}

TEST_CASE("stack_rows and row_of: rows as an array and back") {
  const IntArray rows = stack_rows({{1, 2}, {3, 4}, {5, 6}});
  CHECK(equal(rows, ints({{1, 2}, {3, 4}, {5, 6}})));
  CHECK(row_of(rows, 1) == Sequence{3, 4});
  CHECK(stack_rows({}).shape() == Shape{0, 0});
  CHECK(stack_rows({}, 4).shape() == Shape{0, 4});
  REFUSES(stack_rows({{1, 2}, {3}}));
}

TEST_CASE("symbol_word: letters as long as they suffice") {
  CHECK(symbol_word(25, 26) == "z");
  CHECK(symbol_word(25, 27) == "25");
  CHECK(symbol_word(0, 1) == "a");
}

TEST_CASE("ids: what text() says, with any spaces; all unknown words are named") {
  const auto letters = make_task("copy", {{"symbols", "3"}, {"length", "4"}});
  CHECK(letters->ids("ab|c") == Sequence{0, 1, 3, 2});
  CHECK(letters->ids("  a b|  c ") == Sequence{0, 1, 3, 2});
  CHECK(letters->ids("").empty());
  REFUSES(letters->text(Sequence{0, 4}));
  REFUSES(letters->ids("axbdx"));
  const auto numbers = make_task("repeat", {});
  CHECK(numbers->ids(" 63 0  7") == Sequence{63, 0, 7});
  REFUSES(numbers->ids("1 64"));
}

TEST_CASE("tasks: by name; options by name; what is refused") {
  const std::vector<std::string> names = task_names();
  CHECK(std::is_sorted(names.begin(), names.end()));
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
  for (const std::string& name : names) CHECK(make_task(name)->vocab_size() >= 2);
  CHECK(make_task("copy", {{"symbols", "5"}, {"length", "4"}})->block_size() == 8);
  const std::vector<Field> options = task_options("parity", {{"length", "5"}});
  REQUIRE(options.size() == 2);
  CHECK(options[0] == Field{"length", "5", "", ""});
  CHECK(options[1] == Field{"test_length", "16", "", ""});
  CHECK(make_task("addition_3_digits")->block_size() == make_task("addition", {{"digits", "3"}})->block_size());
  CHECK(make_task("addition_3_digits", {{"digits", "4"}})->block_size() == 14);
  REFUSES(make_task("copy", {}, "merges"));
  CHECK(error_of([] { make_task("nothing"); }).rfind("task 'nothing' is none of adder10, ", 0) == 0);
  std::string listed;
  for (const Field& f : task_options("repeat", {})) listed += (listed.empty() ? "" : ", ") + f.name;
  CHECK(error_of([] {
          make_task("repeat", {{"modulus", "5"}});
        }) == "task 'repeat' has no option 'modulus': its options are " + listed);
  REFUSES(task_options("repeat", {{"length", "five"}}));
}

}  // namespace
}  // namespace mote::test::task_test
