// A task of your own: neighbours, the sum of each number and the number before it.
#pragma once

#include "train/tasks/label_task.h"

namespace starter {
using namespace mote;

/// Rows x of 8 numbers from 0 to 6. The label at position t is (x[t - 1] + x[t]) mod 7. Position 0 has no label.
struct NeighboursTask final : LabelTask {
  static constexpr Index modulus = 7, length = 8;

  NeighboursTask() : LabelTask("NeighboursTask", length) { check_rows(); }
  std::string description() const override { return "the sum mod 7 of each number and the one before it"; }
  Index vocab_size() const override { return modulus; }
  Recipe recipe() const override {
    Recipe r;
    r.max_iters = 600;
    r.learning_rate = 1e-2;
    r.eval_interval = 200;
    return r;
  }
  Outcome outcome() const override { return {.least = 0.99, .chance = 1.0 / modulus}; }
  std::vector<Index> row(Index n, const Generator& random) const override { return random_ids(n, 0, modulus, random); }
  std::vector<Index> labels(std::span<const Index> x) const override {
    std::vector<Index> y(x.size(), -1);  // -1: none
    for (std::size_t t = 1; t < x.size(); ++t) y[t] = (x[t - 1] + x[t]) % modulus;
    return y;
  }
  std::string word(Index id) const override { return std::to_string(id); }
};

}  // namespace starter
