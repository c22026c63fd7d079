// AnswerTask, the base of tasks whose sequences are a question, a separator and an answer.
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

/// A task with sequences of a question, a separator and an answer, q1 ... qQ | a1 ... aA. The ids 0 to symbols - 1 are
/// the symbols, and the id `symbols` is the separator. A derived task draws the questions and gives their answers.
/// Only the answer counts in the loss. One question in four is held out.
class AnswerTask : public Task {
 public:
  using Options = AnswerOptions;
  const Index symbols, question_length, answer_length;

  /// Returns the answer to a question, which has answer_length symbols.
  virtual std::vector<Index> answer(std::span<const Index> question) const = 0;
  /// A random question, which may belong to either split. It has question_length symbols, each drawn from all symbols
  /// unless a derived task draws in another way.
  virtual std::vector<Index> question(const Generator& random) const {
    return random_ids(question_length, 0, symbols, random);
  }

  virtual Index separator() const { return symbols; }
  Index vocab_size() const override { return symbols + 1; }
  /// The length of a sequence without the last symbol of the answer, because this symbol is only a target.
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
  /// Prompts [count, Q + 1], which end with the separator, and answers [count, A].
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
  /// The prompt as text, without the separator.
  std::string prompt_text(std::span<const Index> prompt) const override {
    return text(prompt.first(prompt.size() - 1));
  }

 protected:
  /// Sets `symbols`, `question_length` and `answer_length` to `s`, `q` and `a`. A derived task that overrides
  /// question() must also call check_splits(). Errors, which begin with `name`, the name of the task: symbols or a
  /// length out of range, too few questions to hold some out.
  AnswerTask(const char* name, Integer s, Integer q, Integer a)
      : Task(name), symbols(s), question_length(q), answer_length(a) {
    checked_size(name, "symbols", s, 2, 10'000'000);
    checked_size(name, "length", q, 1, 10'000'000);
    check_splits(name, [&](const Generator& random) { return random_ids(q, 0, s, random); });
  }
  /// A constructor for tasks whose answers are as long as their questions.
  AnswerTask(const char* name, const AnswerOptions& o) : AnswerTask(name, o.symbols, o.length, o.length) {}

 private:
  /// A random question of this split, and its answer. Errors: an answer of another length than answer_length.
  std::pair<std::vector<Index>, std::vector<Index>> draw(Split split, const Generator& random) const {
    std::vector<Index> asked = draw_of(split, [&] { return question(random); });
    std::vector<Index> right = answer(asked);
    const Index given = std::ssize(right);
    check_in("answer", given == answer_length, "it returned ", given, " symbols, but answer_length is ", answer_length);
    return {std::move(asked), std::move(right)};
  }
};

}  // namespace mote
