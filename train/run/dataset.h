// Dataset, the Data of a run that learns from arrays of inputs and targets.
#pragma once

#include <string>
#include <vector>

#include "engine/io/files/dtype.h"
#include "train/run/data.h"

namespace mote {

/// Data made of two arrays, `inputs` and `targets`. The inputs are N rows, either an Array [N, ...] of values or an
/// IntArray [N, T] of ids. Each row has one target. The targets are an IntArray [N] of classes or an Array [N, ...] of
/// values. The constructor draws a fraction of the rows, which is held out. Batches to train on are drawn from the
/// other rows. If the targets are classes, each row is a question with one right answer, so accuracy is measured, too.
/// If the targets are values, only the loss is measured. Errors: different numbers of inputs and targets, a split
/// without rows, classes below 0.
class Dataset : public Data {
 public:
  Dataset(AnyArray inputs, AnyArray targets, Real held_out = 0.1, std::string name = "dataset");

  std::string name() const override { return name_; }
  std::string description() const override;
  /// Shapes, the number of held-out rows and a checksum of all elements, so that a run is resumed only with the data
  /// that it began with.
  std::vector<Field> settings() const override;
  Batch batch(Index size, Split split, const Generator& random) const override;
  std::vector<Batch> held_out(Index size) const override;
  std::optional<double> guessing_loss() const override;
  Questions evaluation(Index count, Split split = Split::validation) const override;
  bool graded() const override { return std::holds_alternative<IntArray>(targets_); }
  double chance() const override { return graded() ? 1 / static_cast<double>(class_count_) : 0; }
  std::string question_text(const Questions&, Index n) const override;
  std::string text(std::span<const Index> ids) const override { return "class " + std::to_string(ids[0]); }

 private:
  const std::vector<Index>& part(Split split) const { return split == Split::train ? train_ : test_; }
  Batch rows(const std::vector<Index>& which) const;

  AnyArray inputs_, targets_;
  std::string name_;
  std::vector<Index> train_, test_;
  Index class_count_ = 0;
};

}  // namespace mote
