// AnswerTask, the base of tasks made of question, separator, answer.
#pragma once

#include "train/tasks/task.h"

namespace mote {

struct AnswerOptions {
  Index symbols = 10, length = 10;
  template <class V>
  void visit(V& v) {
    v("symbols", symbols, "different symbols");
    v("length", length, "symbols in a question");
  }
};

/// Sequences q1 ... qL | a1 ... aA with symbols 0 .. symbols-1 and separator `symbols`; a derived task defines the
/// answer. Only the answer counts in the loss. One question in four is held out. Errors: fewer than 2 symbols or 1
/// position, too few questions for both splits.
class AnswerTask : public Task {
 public:
  using Options = AnswerOptions;
  const Options options;

  /// The answer to a question of `length` symbols; answer_length() symbols long.
  virtual std::vector<Index> answer(std::span<const Index> question) const = 0;
  virtual Index answer_length() const { return options.length; }

  Index separator() const { return options.symbols; }
  Index vocab_size() const override { return options.symbols + 1; }
  /// All but the last symbol of the answer.
  Index block_size() const override { return options.length + answer_length(); }
  Recipe recipe() const override { return {}; }

  /// Inputs and targets [size, L + A].
  Batch batch(Index size, Split split, const Generator& random) const override;
  /// Prompts with the separator, [count, L + 1].
  Questions questions(Index count, Split split, const Generator& random) const override;

  std::string word(Index id) const override { return id == separator() ? "|" : symbol_word(id, options.symbols); }
  /// Without the separator.
  std::string question_text(std::span<const Index> prompt) const override {
    return text(prompt.first(prompt.size() - 1));
  }

 protected:
  /// `name` opens the errors.
  AnswerTask(const char* name, const Options& options);
};

}  // namespace mote
