// The mixed task: the first symbol says whether the others are to be copied or reversed.
#pragma once

#include <algorithm>

#include "train/tasks/answer_task.h"

namespace mote {

struct MixedOptions {
  Index symbols = 26, length = 6;
  template <class V>
  void visit(V& v) {
    v("symbols", symbols, "different letters");
    v("length", length, "letters to copy or to reverse");
  }
};

/// > s1 ... sL | s1 ... sL, or < s1 ... sL | sL ... s1. Errors: those of AnswerTask.
class MixedTask final : public AnswerTask {
 public:
  using Options = MixedOptions;
  const Options options;

  explicit MixedTask(const Options& o = {})
      : AnswerTask("MixedTask", checked_size("MixedTask", "symbols", o.symbols) + 2,
                   checked_size("MixedTask", "length", o.length) + 1, o.length),
        options(o) {
    check_splits("MixedTask", [this](const Generator& random) { return question(random); });
  }

  std::string description() const override {
    return std::to_string(options.length) + " of " + std::to_string(options.symbols) +
           " letters, which > before them says to copy, < to reverse";
  }
  Recipe recipe() const override {
    Recipe r;
    r.max_iters = 2000, r.learning_rate = 3e-3, r.warmup_iters = 100;
    return r;
  }
  Outcome outcome() const override { return {.least = 0.91, .seconds = 7}; }
  /// The mark, then letters.
  std::vector<Index> question(const Generator& random) const override {
    std::vector<Index> q = random_ids(1, options.symbols, symbols, random);
    const std::vector<Index> letters = random_ids(options.length, 0, options.symbols, random);
    q.insert(q.end(), letters.begin(), letters.end());
    return q;
  }
  std::vector<Index> answer(std::span<const Index> question) const override {
    std::vector<Index> a(question.begin() + 1, question.end());
    if (question[0] == options.symbols + 1) std::reverse(a.begin(), a.end());
    return a;
  }
  std::string word(Index id) const override {
    return id == options.symbols ? ">" : id == options.symbols + 1 ? "<" : id == separator() ? "|" : letter(id);
  }
  Index looks_at(std::span<const Index> ids, Index position) const override {
    const Index at = position - question_length;
    return at < 0 ? -1 : ids[0] == options.symbols ? 1 + at : options.length - at;
  }

 private:
  std::string letter(Index id) const { return symbol_word(id, options.symbols); }
};

}  // namespace mote
