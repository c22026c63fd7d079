// The batches and questions of every AnswerTask.
#include "train/tasks/answer_task.h"

#include <algorithm>

namespace mote {

AnswerTask::AnswerTask(const char* name, Index s, Index q, Index a) : symbols(s), question_length(q), answer_length(a) {
  checked_size(name, "symbols", s, 2, 10'000'000);
  checked_size(name, "length", q, 1, 10'000'000);
  check_splits(name, [&](const Generator& random) { return random_ids(q, 0, s, random); });
}

std::pair<std::vector<Index>, std::vector<Index>> AnswerTask::draw(Split split, const Generator& random) const {
  std::vector<Index> asked = draw_of(split, [&] { return question(random); });
  std::vector<Index> right = answer(asked);
  const auto given = static_cast<Index>(right.size());
  check_in("answer", given == answer_length, "an answer of ", given, " symbols, but answer_length is ", answer_length);
  return {std::move(asked), std::move(right)};
}

Batch AnswerTask::batch(Index size, Split split, const Generator& random) const {
  const Index Q = question_length, A = answer_length;
  Batch batch{IntArray({size, Q + A}), IntArray({size, Q + A}, -1)};
  Index *ids = batch.ids.mutate(), *targets = batch.targets.mutate();
  for (Index b = 0; b < size; ++b, ids += Q + A, targets += Q + A) {
    const auto [asked, right] = draw(split, random);
    std::copy(asked.begin(), asked.end(), ids);
    ids[Q] = separator();
    std::copy(right.begin(), right.end() - 1, ids + Q + 1);
    std::copy(right.begin(), right.end(), targets + Q);
  }
  return batch;
}

Questions AnswerTask::questions(Index count, Split split, const Generator& random) const {
  Questions q{IntArray({count, question_length + 1}, separator()), IntArray({count, answer_length})};
  Index *prompts = q.prompts.mutate(), *answers = q.answers.mutate();
  for (Index n = 0; n < count; ++n, prompts += question_length + 1) {
    const auto [asked, right] = draw(split, random);
    std::copy(asked.begin(), asked.end(), prompts);
    answers = std::copy(right.begin(), right.end(), answers);
  }
  return q;
}

}  // namespace mote
