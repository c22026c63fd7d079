// The reverse task: a sequence of symbols, a separator, the sequence backwards.
#pragma once

#include "train/tasks/answer_task.h"

namespace mote {

/// The reverse task, with rows s1 ... sL | sL ... s1. At position L + i the model must attend to position L - 1 - i.
/// In a picture of attention this is an anti-diagonal.
class ReverseTask final : public AnswerTask {
 public:
  explicit ReverseTask(const Options& o = {}) : AnswerTask("ReverseTask", o) {}

  std::string description() const override {
    return std::to_string(question_length) + " of " + std::to_string(symbols) +
           " symbols, a separator, the same backwards";
  }
  Outcome outcome() const override { return {.least = 0.999, .seconds = 3}; }
  std::vector<Index> answer(std::span<const Index> question) const override {
    return {question.rbegin(), question.rend()};
  }
  Index looks_at(std::span<const Index>, Index position) const override {
    return position < question_length ? -1 : 2 * question_length - 1 - position;
  }
  std::string looks_text(const std::string& fraction) const override {
    return "From the separator on, " + fraction + " of its attention goes to the symbol that comes next, backwards";
  }
};

}  // namespace mote
