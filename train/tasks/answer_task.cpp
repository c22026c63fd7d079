// The batches and questions of every AnswerTask.
#include "train/tasks/answer_task.h"

#include <algorithm>

namespace mote {

AnswerTask::AnswerTask(const char* name, const Options& o) : options(o) {
  check_in(name, o.symbols >= 2, "symbols ", o.symbols, " must be at least 2");
  check_in(name, o.length >= 1, "length ", o.length, " must be at least 1");
  check_in(name, o.symbols <= 1'000'000'000, "symbols ", o.symbols, " must be at most 1000000000");
  check_in(name, o.length <= 1'000'000, "length ", o.length, " must be at most 1000000");
  check_splits(name, o.symbols, o.length, [](const std::vector<Index>& s) { return s; });
}

Batch AnswerTask::batch(Index size, Split split, const Generator& random) const {
  const Questions q = questions(size, split, random);
  const Index L = options.length, A = answer_length();
  Batch batch{IntArray({size, L + A}), IntArray({size, L + A}, -1)};
  Index *const ids = batch.ids.mutate(), *const targets = batch.targets.mutate();
  for (Index b = 0; b < size; ++b) {
    const std::vector<Index> prompt = row_of(q.prompts, b), answer = row_of(q.answers, b);
    std::copy(prompt.begin(), prompt.end(), ids + b * (L + A));
    std::copy(answer.begin(), answer.end() - 1, ids + b * (L + A) + L + 1);
    std::copy(answer.begin(), answer.end(), targets + b * (L + A) + L);
  }
  return batch;
}

Questions AnswerTask::questions(Index count, Split split, const Generator& random) const {
  std::vector<std::vector<Index>> prompts, answers;
  for (Index n = 0; n < count; ++n) {
    std::vector<Index> s = draw_sequence(options.symbols, options.length, split, random);
    answers.push_back(answer(s));
    check_in("answer", static_cast<Index>(answers.back().size()) == answer_length(), "an answer of ",
             answers.back().size(), " symbols, but answer_length() is ", answer_length());
    s.push_back(separator());
    prompts.push_back(std::move(s));
  }
  return {stack_rows(prompts), stack_rows(answers)};
}

}  // namespace mote
