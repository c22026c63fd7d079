// check_task, the one line every toy task is tested through.
#pragma once

#include <functional>
#include <set>

#include "tests/module_tools.h"
#include "train/tasks/list.h"

namespace mote::test {

using Sequence = std::vector<Index>;
/// The answer to a prompt, worked out by the test: what the task claims to ask.
using Rule = std::function<Sequence(const Sequence& prompt)>;

class TaskCheck {
 public:
  TaskCheck(const Task& task, const Rule& rule) : task_(task), rule_(rule) {}

  /// Everything in turn; what does not hold, a sentence each.
  std::vector<std::string> problems() {
    sizes();
    if (!problems_.list.empty()) return problems_.list;
    words();
    seeds();
    answers();
    batches();
    splits();
    grading();
    looks();
    outcome();
    return problems_.list;
  }

 private:
  static constexpr Index rows = 300;

  template <class... Parts>
  void expect(bool holds, const Parts&... parts) {
    problems_.expect(holds, parts...);
  }
  static std::vector<Sequence> rows_of(const IntArray& a) {
    std::vector<Sequence> all;
    for (Index n = 0; n < a.shape()[0]; ++n) all.push_back(row_of(a, n));
    return all;
  }
  Questions asked(Split split, std::uint64_t seed = 1) const { return task_.questions(rows, split, Generator(seed)); }
  Batch drawn(Split split, std::uint64_t seed = 1) const { return task_.batch(rows, split, Generator(seed)); }

  void sizes() {
    expect(!task_.description().empty() && task_.description().find('\n') == std::string::npos,
           "the description is not one line");
    expect(error_of([&] { fit_options(task_.recipe()); }) == "(no error)", "the recipe cannot be followed");
    expect(task_.vocab_size() >= 2, "a vocabulary of ", task_.vocab_size());
    const Batch b = drawn(Split::train);
    expect(b.ids.shape() == b.targets.shape() && b.ids.rank() == 2, "ids and targets have different shapes");
    expect(b.ids.shape()[0] == rows && b.ids.shape()[1] >= 1 && b.ids.shape()[1] <= task_.block_size(), "a batch is ",
           text_of(b.ids.shape()), ", block_size is ", task_.block_size());
    const Questions q = asked(Split::validation);
    const bool fits = q.prompts.rank() == 2 && q.answers.rank() == 2 && q.prompts.shape()[0] == rows &&
                      q.answers.shape()[0] == rows && q.prompts.shape()[1] >= 1 && q.answers.shape()[1] >= 1;
    expect(fits, "questions are ", text_of(q.prompts.shape()), " and ", text_of(q.answers.shape()));
    expect(!fits || q.prompts.shape()[1] + q.answers.shape()[1] - 1 <= task_.block_size(),
           "a question and its answer are longer than block_size");
    expect(task_.batch(0, Split::train, Generator(1)).ids.numel() == 0, "no examples are not possible");
    for (const Questions& none : {task_.questions(0, Split::validation, Generator(1)), task_.evaluation(0)})
      expect(none.prompts.shape() == Shape{0, q.prompts.shape()[1]} &&
                 none.answers.shape() == Shape{0, q.answers.shape()[1]},
             "no questions are ", text_of(none.prompts.shape()), " and ", text_of(none.answers.shape()));
  }
  void words() {
    std::set<std::string> seen;
    for (Index id = 0; id < task_.vocab_size(); ++id) {
      const std::string word = task_.word(id);
      expect(!word.empty(), "id ", id, " has no word");
      expect(seen.insert(word).second, "two ids are called '", word, "'");
    }
    std::set<std::string> texts;
    const std::vector<Sequence> prompts = rows_of(asked(Split::validation).prompts);
    for (const Sequence& p : prompts) texts.insert(task_.prompt_text(p));
    const auto same = [&](const Sequence& p) {
      Sequence ids;
      return error_of([&] { ids = task_.ids(task_.text(p)); }) == "(no error)" && ids == p;
    };
    for (const Sequence& p : prompts) expect(same(p), "ids() does not undo text(): ", task_.text(p));
    expect(texts.size() == std::set<Sequence>(prompts.begin(), prompts.end()).size(),
           "different questions read the same");
  }
  void seeds() {
    for (const Split split : {Split::train, Split::validation}) {
      const Generator stream(1);
      const Batch first = task_.batch(rows, split, stream), second = task_.batch(rows, split, stream);
      expect(equal(first.ids, drawn(split).ids) && equal(first.targets, drawn(split).targets),
             "the same seed gives another batch");
      expect(!equal(first.ids, second.ids), "a stream gives the same batch twice");
      expect(!equal(first.ids, drawn(split, 2).ids), "another seed gives the same batch");
      const Questions q = asked(split);
      expect(equal(q.prompts, asked(split).prompts) && equal(q.answers, asked(split).answers),
             "the same seed gives other questions");
      expect(!equal(q.prompts, asked(split, 2).prompts), "another seed gives the same questions");
    }
  }
  void in_range(const std::vector<Sequence>& all, Index least, const char* what) {
    for (const Sequence& row : all)
      for (const Index id : row)
        expect(id >= least && id < task_.vocab_size(), what, " ", id, " is outside the vocabulary");
  }
  void answers() {
    for (const Split split : {Split::train, Split::validation}) {
      const Questions q = asked(split);
      in_range(rows_of(q.prompts), 0, "prompt id");
      in_range(rows_of(q.answers), 0, "answer id");
      for (Index n = 0; n < rows; ++n)
        expect(row_of(q.answers, n) == rule_(row_of(q.prompts, n)), "an answer is not what the rule says");
    }
  }
  /// A row begins with a question, and from its end on the targets are the answer, which is also what is read next.
  void batches() {
    const std::size_t asked_length = static_cast<std::size_t>(asked(Split::validation).prompts.shape()[1]);
    for (const Split split : {Split::train, Split::validation}) {
      const Batch b = drawn(split);
      in_range(rows_of(b.ids), 0, "id");
      in_range(rows_of(b.targets), -1, "target");
      for (Index n = 0; n < rows; ++n) {
        const Sequence ids = row_of(b.ids, n), targets = row_of(b.targets, n);
        if (ids.size() < asked_length) continue;
        const Sequence answer = rule_(Sequence(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(asked_length)));
        for (std::size_t i = 0; i < answer.size() && asked_length - 1 + i < ids.size(); ++i) {
          expect(targets[asked_length - 1 + i] == answer[i], "a target is not what the rule says");
          expect(i == 0 || ids[asked_length - 1 + i] == answer[i - 1], "a row goes on with something else");
        }
      }
    }
  }
  void splits() {
    if (!task_.holds_out()) {
      expect(equal(drawn(Split::train).ids, drawn(Split::validation).ids),
             "holds_out() is false, but the splits differ");
      return;
    }
    const std::size_t asked_length = static_cast<std::size_t>(asked(Split::validation).prompts.shape()[1]);
    std::set<Sequence> prompts[2], examples[2];
    for (const Split split : {Split::train, Split::validation})
      for (const std::uint64_t seed : {1u, 2u, 3u}) {
        const std::size_t which = split == Split::validation;
        for (const Sequence& p : rows_of(asked(split, seed).prompts)) prompts[which].insert(p);
        for (Sequence& row : rows_of(drawn(split, seed).ids)) {
          if (row.size() >= asked_length)
            prompts[which].insert(Sequence(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(asked_length)));
          examples[which].insert(std::move(row));
        }
      }
    for (const auto& sets : {prompts, examples})
      for (const Sequence& held_out : sets[1]) expect(!sets[0].contains(held_out), "an example is in both splits");
  }
  void grading() {
    const Questions q = asked(Split::validation);
    const Index width = q.answers.shape()[1];
    for (Index i = 0; i < width; ++i) {
      IntArray wrong = q.answers;
      Index& symbol = wrong.mutate()[width + i];  // of question 1
      symbol = (symbol + 1) % task_.vocab_size();
      expect(!q.right(1, wrong), "one wrong symbol is not noticed");
      expect(q.right(0, wrong) && q.right(1, q.answers), "a right answer counts as wrong");
    }
  }
  void looks() {
    for (const Sequence& ids : rows_of(drawn(Split::validation).ids))
      for (Index t = 0; t < static_cast<Index>(ids.size()); ++t) {
        const Index at = task_.looks_at(ids, t);
        expect(at >= -1 && at <= t, "position ", t, " looks at ", at);
      }
    expect(task_.looks_text("58 %").find("58 %") != std::string::npos, "looks_text() does not name the share");
  }

  void outcome() {
    const Outcome o = task_.outcome();
    expect(0 <= o.least && o.least <= o.most && o.most <= 1, "an outcome of ", o.least, " to ", o.most);
    expect(o.chance >= 0 && (o.chance < o.least || o.most < 1), "guessing is as good as the outcome");
    expect(o.questions >= 1, "an evaluation set of ", o.questions);
    const Questions q = task_.evaluation(20), again = task_.evaluation(20);
    expect(q.prompts.shape()[0] >= 1 && q.prompts.shape()[0] <= 20, "not the evaluation questions asked for");
    expect(equal(q.prompts, again.prompts) && equal(q.answers, again.answers),
           "the evaluation set is another each time");
    for (Index n = 0; n < q.prompts.shape()[0]; ++n)
      expect(row_of(q.answers, n) == rule_(row_of(q.prompts, n)), "an evaluation answer is not what the rule says");
    const std::set<Sequence> trained = [&] {
      const std::vector<Sequence> all = rows_of(asked(Split::train).prompts);
      return std::set<Sequence>(all.begin(), all.end());
    }();
    for (const Sequence& prompt : rows_of(q.prompts))
      expect(!task_.holds_out() || !trained.contains(prompt), "an evaluation question is one to train on");
  }

  const Task& task_;
  const Rule& rule_;
  Problems problems_;
};

/// Holds a task against everything that is promised of every task:
///   the seed decides; ids and targets in range; answers and targets are what `rule` says; the splits have no example
///   in common; grading notices one wrong symbol; words and questions can be told apart; sizes fit block_size; the
///   evaluation set is the same each time.
inline void check_task(const Task& task, const Rule& rule) {
  for (const std::string& problem : TaskCheck(task, rule).problems()) FAIL_CHECK(task.name() << ": " << problem);
}
/// The task of this name in the list, with these options.
inline void check_task(const std::string& name, const Rule& rule, const FieldValues& options = {}) {
  const OwnedTask task = make_task(name, options);
  check_task(*task, rule);
}

/// Options that the task refuses, each with its sentence.
inline void check_refused(const std::string& name, const std::vector<std::pair<FieldValues, std::string>>& all) {
  for (const auto& [options, sentence] : all) CHECK(error_of([&, o = options] { make_task(name, o); }) == sentence);
}

}  // namespace mote::test
