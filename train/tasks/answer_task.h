// AnswerTask, the base of tasks made of question, separator, answer.
#pragma once

#include <algorithm>
#include <utility>

#include "train/tasks/task.h"

namespace mote {

/// The options of tasks whose questions are sequences of symbols.
struct AnswerOptions {
  Index symbols = 10, length = 10;
  template <class V>
  void visit(V& v) {
    v("symbols", symbols, "different symbols");
    v("length", length, "symbols in a question");
  }
};

/// Sequences q1 ... qQ | a1 ... aA with symbols 0 .. symbols-1 and separator `symbols`; a derived task says how
/// questions are drawn and what the answer is. Only the answer counts in the loss. One question in four is held out.
class AnswerTask : public Task {
 public:
  using Options = AnswerOptions;
  const Index symbols, question_length, answer_length;

  /// The answer to a question; answer_length symbols.
  virtual std::vector<Index> answer(std::span<const Index> question) const = 0;
  /// A random question of either split; question_length symbols, each drawn from all unless a task says otherwise.
  virtual std::vector<Index> question(const Generator& random) const {
    return random_ids(question_length, 0, symbols, random);
  }

  virtual Index separator() const { return symbols; }
  Index vocab_size() const override { return symbols + 1; }
  /// All but the last symbol of the answer.
  Index block_size() const override { return question_length + answer_length; }
  Recipe recipe() const override { return {}; }

  /// Inputs and targets [size, Q + A].
  Batch batch(Index size, Split split, const Generator& random) const override {
    return batch_of(size, question_length + answer_length, [&](Index* ids, Index* targets) {
      const auto [asked, right] = draw(split, random);
      ids = std::copy(asked.begin(), asked.end(), ids);
      *ids++ = separator();
      std::copy(right.begin(), right.end() - 1, ids);
      std::copy(right.begin(), right.end(), targets + question_length);
    });
  }
  /// Prompts with the separator, [count, Q + 1].
  Questions questions(Index count, Split split, const Generator& random) const override {
    std::vector<std::vector<Index>> prompts, answers;
    for (Index n = 0; n < count; ++n) {
      auto [asked, right] = draw(split, random);
      asked.push_back(separator());
      prompts.push_back(std::move(asked));
      answers.push_back(std::move(right));
    }
    return {stack_rows(prompts, question_length + 1), stack_rows(answers, answer_length)};
  }

  std::string word(Index id) const override { return id == separator() ? "|" : symbol_word(id, symbols); }
  /// Without the separator.
  std::string prompt_text(std::span<const Index> prompt) const override {
    return text(prompt.first(prompt.size() - 1));
  }

 protected:
  /// `name` is the task's, and opens the errors: symbols or a length out of range, too few questions to hold some
  /// out. A task that draws questions in its own way calls check_splits() once more.
  AnswerTask(const char* name, Integer s, Integer q, Integer a)
      : Task(name), symbols(s), question_length(q), answer_length(a) {
    checked_size(name, "symbols", s, 2, 10'000'000);
    checked_size(name, "length", q, 1, 10'000'000);
    check_splits(name, [&](const Generator& random) { return random_ids(q, 0, s, random); });
  }
  /// The same, with answers as long as questions.
  AnswerTask(const char* name, const AnswerOptions& o) : AnswerTask(name, o.symbols, o.length, o.length) {}

 private:
  /// Errors: an answer of another length than answer_length.
  std::pair<std::vector<Index>, std::vector<Index>> draw(Split split, const Generator& random) const {
    std::vector<Index> asked = draw_of(split, [&] { return question(random); });
    std::vector<Index> right = answer(asked);
    const Index given = std::ssize(right);
    check_in("answer", given == answer_length, "an answer of ", given, " symbols, but answer_length is ",
             answer_length);
    return {std::move(asked), std::move(right)};
  }
};

}  // namespace mote
