// The sort task of minGPT: a few symbols, a separator, the same symbols in order.
#pragma once

#include <algorithm>

#include "train/tasks/answer_task.h"

namespace mote {

/// The settings of SortTask.
struct SortOptions {
  Index symbols = 3, length = 6;
  template <class V>
  void visit(V& v) {
    v("symbols", symbols, "different symbols");
    v("length", length, "symbols to sort");
  }
};

/// The sort task, with rows s1 ... sL | and the same symbols, smallest first. minGPT has no separator. Errors: those
/// of AnswerTask.
class SortTask final : public AnswerTask {
 public:
  using Options = SortOptions;

  explicit SortTask(const Options& o = {}) : AnswerTask("SortTask", o.symbols, o.length, o.length) {}

  std::string description() const override {
    return std::to_string(question_length) + " of " + std::to_string(symbols) + " digits, a separator, the same sorted";
  }
  /// The model is minGPT's gpt-nano.
  Recipe recipe() const override {
    Recipe r;
    r.config = {{"n_layer", "3"}, {"n_head", "3"}, {"n_embd", "48"}, {"dropout", "0.1"}, {"tie_weights", "false"}};
    r.max_iters = 2000;
    r.learning_rate = 5e-4;
    r.beta2 = 0.95;
    r.schedule = ScheduleKind::constant;
    r.warmup_iters = 0;
    return r;
  }
  Outcome outcome() const override { return {.least = 0.96, .questions = 5000, .seconds = 19}; }
  std::vector<Index> answer(std::span<const Index> question) const override {
    std::vector<Index> a(question.begin(), question.end());
    std::sort(a.begin(), a.end());
    return a;
  }
  std::string word(Index id) const override { return id == separator() ? "|" : std::to_string(id); }
};

}  // namespace mote
