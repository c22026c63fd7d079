// LabelTask, the base of tasks in which positions of a row have labels.
#pragma once

#include <algorithm>

#include "train/tasks/task.h"

namespace mote {

/// A task with rows of ids, in which some positions have labels. The model predicts the label of a position instead of
/// the next id. A question is a row, and its answer is the label of the last position. One row in four is held out.
class LabelTask : public Task {
 public:
  /// A random row of this length. It may belong to either split.
  virtual std::vector<Index> row(Index length, const Generator& random) const = 0;
  /// A random row whose last position has a label, so that a model can be asked for it.
  virtual std::vector<Index> question(Index length, const Generator& random) const { return row(length, random); }
  /// The label at each position; -1: none.
  virtual std::vector<Index> labels(std::span<const Index> row) const = 0;

  Index block_size() const override { return std::max(train_length_, test_length_); }
  /// Inputs and targets [size, T]; rows to train on and to test on may have different lengths.
  Batch batch(Index size, Split split, const Generator& random) const override {
    return rows(size, split, [&](Index length) { return row(length, random); });
  }
  /// Prompts [count, T], answers [count, 1].
  Questions questions(Index count, Split split, const Generator& random) const override {
    const Batch b = rows(count, split, [&](Index length) { return question(length, random); });
    const Index T = b.ids.shape()[1];
    return {b.ids, b.targets.slice(1, T - 1, T)};
  }

 protected:
  /// A derived constructor must end with check_rows(). Errors, which begin with `name`, the name of the task: lengths
  /// below 1 or above a million.
  LabelTask(const char* name, Integer train_length, Integer test_length)
      : Task(name),
        name_(name),
        train_length_(checked_size(name, "length", train_length)),
        test_length_(checked_size(name, "length", test_length)) {}
  LabelTask(const char* name, Integer length) : LabelTask(name, length, length) {}
  /// Checks that both splits have rows. Errors: too few rows to hold some out.
  void check_rows() const {
    for (const Index length : {train_length_, test_length_})
      check_splits(name_, [&](const Generator& random) { return question(length, random); });
  }

 private:
  Batch rows(Index size, Split split, const std::function<std::vector<Index>(Index length)>& draw) const {
    const Index T = split == Split::train ? train_length_ : test_length_;
    return batch_of(size, T, [&](Index* ids, Index* targets) {
      const std::vector<Index> x = draw_of(split, [&] { return draw(T); }), y = labels(x);
      check_in("labels", x.size() == y.size(), "it returned ", y.size(), " labels for ", x.size(),
               " ids: each id needs one");
      std::copy(x.begin(), x.end(), ids);
      std::copy(y.begin(), y.end(), targets);
    });
  }

  const char* name_;
  Index train_length_, test_length_;
};

}  // namespace mote
