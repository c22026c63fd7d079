// The copy task: a sequence of symbols, a separator, the same sequence again.
#pragma once

#include "train/tasks/answer_task.h"

namespace mote {

/// The copy task, with rows s1 ... sL | s1 ... sL. To get the answer right, position L + i must attend to position i.
class CopyTask final : public AnswerTask {
 public:
  explicit CopyTask(const Options& o = {}) : AnswerTask("CopyTask", o) {}

  std::string description() const override {
    return std::to_string(question_length) + " of " + std::to_string(symbols) + " symbols, a separator, the same again";
  }
  Outcome outcome() const override { return {.least = 0.999, .seconds = 3}; }
  std::vector<Index> answer(std::span<const Index> question) const override {
    return {question.begin(), question.end()};
  }
  Index looks_at(std::span<const Index>, Index position) const override {
    return position < question_length ? -1 : position - question_length;
  }
  std::string looks_text(const std::string& fraction) const override {
    return "From the separator on, " + fraction + " of its attention goes to the symbol that has to be copied";
  }
};

}  // namespace mote
