// The batches and questions of every LabelTask.
#include "train/tasks/label_task.h"

#include <algorithm>

namespace mote {

LabelTask::LabelTask(const char* name, Index train_length, Index test_length)
    : name_(name), train_length_(train_length), test_length_(test_length) {
  checked_size(name, "length", train_length);
  checked_size(name, "length", test_length);
}

void LabelTask::check_rows() const {
  for (const Index length : {train_length_, test_length_})
    check_splits(name_, [&](const Generator& random) { return question(length, random); });
}

Batch LabelTask::rows(Draw draw, Index size, Split split, const Generator& random) const {
  const Index T = split == Split::train ? train_length_ : test_length_;
  Batch batch{IntArray({size, T}), IntArray({size, T})};
  Index *ids = batch.ids.mutate(), *targets = batch.targets.mutate();
  for (Index b = 0; b < size; ++b) {
    const std::vector<Index> x = draw_of(split, [&] { return (this->*draw)(T, random); }), y = labels(x);
    check_in("labels", x.size() == y.size(), y.size(), " labels for ", x.size(), " ids");
    ids = std::copy(x.begin(), x.end(), ids);
    targets = std::copy(y.begin(), y.end(), targets);
  }
  return batch;
}

Batch LabelTask::batch(Index size, Split split, const Generator& random) const {
  return rows(&LabelTask::row, size, split, random);
}

Questions LabelTask::questions(Index count, Split split, const Generator& random) const {
  const Batch b = rows(&LabelTask::question, count, split, random);
  const Index T = b.ids.shape()[1];
  return {b.ids, b.targets.slice(1, T - 1, T)};
}

}  // namespace mote
