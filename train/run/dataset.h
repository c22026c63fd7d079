// Dataset, inputs and targets of one's own as the data of a run.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/io/files/dtype.h"
#include "train/run/data.h"

namespace mote {

/// Rows of inputs, an Array [N, ...] of values or an IntArray [N, T] of ids, and a target for each: an IntArray [N] of
/// classes, or an Array [N, ...] of values. A fraction of the rows, drawn once, is held out; batches are rows drawn
/// from the rest. Classes are questions, each with one right answer, so that accuracy is measured; values have a loss
/// alone.
///
///     const Dataset digits(images, labels);
///     MLP model({64, 32, 10}, Generator(1));
///     Run run(digits, subject_of(model), {.max_iters = 500}, {.folder = "runs/digits"});
///
/// Errors: different numbers of rows, a split with none, classes below 0.
class Dataset : public Data {
 public:
  Dataset(AnyArray inputs, AnyArray targets, double held_out = 0.1, std::string name = "dataset")
      : inputs_(std::move(inputs)), targets_(std::move(targets)), name_(std::move(name)) {
    const Index N = rows_of(inputs_);
    check_in("Dataset", rows_of(targets_) == N, N, " rows of inputs and ", rows_of(targets_), " targets");
    check_in("Dataset", held_out >= 0 && held_out < 1, "held_out ", held_out, " must be at least 0 and below 1");
    const std::vector<Index> order = Generator(20260101).randperm(N);
    const auto test = static_cast<Index>(held_out * static_cast<double>(N));
    check_in("Dataset", test >= 1 && test < N, "of ", N, " rows ", test, " would be held out");
    test_.assign(order.begin(), order.begin() + test);
    train_.assign(order.begin() + test, order.end());
    if (!classes()) return;
    check_in("Dataset", std::get<IntArray>(targets_).rank() == 1, "classes must be [N]");
    for (const Index c : std::get<IntArray>(targets_).values()) {
      check_in("Dataset", c >= 0, "class ", c, " must be at least 0");
      class_count_ = std::max(class_count_, c + 1);
    }
  }

  std::string name() const override { return name_; }
  std::string description() const override {
    return std::to_string(train_.size()) + " rows to train on, " + std::to_string(test_.size()) + " held out" +
           (classes() ? ", of " + std::to_string(class_count_) + " classes" : "");
  }
  Batch batch(Index size, Split split, const Generator& random) const override {
    std::vector<Index> drawn(static_cast<std::size_t>(size));
    random.randint(drawn, 0, std::ssize(part(split)));
    for (Index& row : drawn) row = part(split)[static_cast<std::size_t>(row)];
    return rows(drawn);
  }
  std::vector<Batch> held_out(Index size) const override {
    std::vector<Batch> all;
    for (auto at = test_.begin(); at != test_.end();) {
      const auto end = at + std::min<std::ptrdiff_t>(size, test_.end() - at);
      all.push_back(rows({at, end}));
      at = end;
    }
    return all;
  }
  std::optional<double> guessing_loss() const override {
    if (!classes()) return {};
    return math::log(static_cast<double>(class_count_));
  }
  Questions evaluation(Index count, Split split = Split::test) const override {
    if (!classes()) return {};
    const std::vector<Index>& all = part(split);
    const Batch b = rows({all.begin(), all.begin() + std::min<std::ptrdiff_t>(count, std::ssize(all))});
    return {b.ids, b.targets.reshape({b.targets.numel(), 1}), b.values};
  }
  bool graded() const override { return classes(); }
  double chance() const override { return classes() ? 1 / static_cast<double>(class_count_) : 0; }
  std::string question_text(const Questions&, Index n) const override {
    return "row " + std::to_string(test_[static_cast<std::size_t>(n)]);
  }
  std::string text(std::span<const Index> ids) const override { return "class " + std::to_string(ids[0]); }

 private:
  bool classes() const { return std::holds_alternative<IntArray>(targets_); }
  static Index rows_of(const AnyArray& all) {
    return std::visit([](const auto& x) { return x.rank() > 0 ? x.shape()[0] : Index(0); }, all);
  }
  const std::vector<Index>& part(Split split) const { return split == Split::train ? train_ : test_; }
  Batch rows(const std::vector<Index>& which) const {
    Batch b;
    const auto take = [&](const AnyArray& from, IntArray& ids, Array& values) {
      if (const IntArray* const x = std::get_if<IntArray>(&from)) ids = take_rows(*x, which);
      if (const Array* const x = std::get_if<Array>(&from)) values = take_rows(Tensor(*x), which).array();
    };
    take(inputs_, b.ids, b.values);
    take(targets_, b.targets, b.wanted);
    return b;
  }

  AnyArray inputs_, targets_;
  std::string name_;
  std::vector<Index> train_, test_;
  Index class_count_ = 0;
};

}  // namespace mote
