// The parity task: whether the number of ones so far is even or odd, at every position.
#pragma once

#include "train/tasks/label_task.h"

namespace mote {

/// The settings of ParityTask.
struct ParityOptions {
  Index length = 16, test_length = 16;
  template <class V>
  void visit(V& v) {
    v("length", length, "bits in a row to train on");
    v("test_length", test_length, "bits in a row to test on");
  }
};

/// The parity task, with rows of random bits, 0 and 1, whose label at position t is the parity of bits 0 to t. The
/// label is 2 for "even" and 3 for "odd". A question is a row, and its answer is the parity of all bits. Errors: those
/// of LabelTask.
class ParityTask final : public LabelTask {
 public:
  using Options = ParityOptions;
  const Options options;

  explicit ParityTask(const Options& o = {}) : LabelTask("ParityTask", o.length, o.test_length), options(o) {
    check_rows();
  }

  std::string description() const override {
    const std::string bits = "the parity of the bits so far, in rows of " + std::to_string(options.length);
    return options.test_length == options.length ? bits : bits + ", tested on " + std::to_string(options.test_length);
  }
  Index vocab_size() const override { return 4; }
  Recipe recipe() const override {
    Recipe r;
    r.config = {{"n_layer", "3"}, {"n_head", "4"}, {"n_embd", "64"}};
    r.optimizer = OptimizerKind::muon;
    r.max_iters = 3000;
    return r;
  }
  Outcome outcome() const override {
    if (options.test_length > options.length) return {.least = 0.4, .most = 0.6, .chance = 0.5, .seconds = 21};
    return {.least = 0.99, .chance = 0.5, .seconds = 24};
  }

  std::vector<Index> row(Index length, const Generator& random) const override {
    return random_ids(length, 0, 2, random);
  }
  std::vector<Index> labels(std::span<const Index> x) const override {
    std::vector<Index> y;
    Index odd = 0;
    for (const Index bit : x) y.push_back(2 + (odd ^= bit));
    return y;
  }
  std::string word(Index id) const override {
    static constexpr const char* all[] = {"0", "1", "even", "odd"};
    return all[id];
  }
};

}  // namespace mote
