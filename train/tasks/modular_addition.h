// The modular addition task: a + b = c modulo a prime, on so few pairs that a model first memorizes them.
#pragma once

#include <algorithm>

#include "train/tasks/task.h"

namespace mote {

/// The settings of ModularAdditionTask.
struct ModularAdditionOptions {
  Index modulus = 31, training = 60;
  template <class V>
  void visit(V& v) {
    v("modulus", modulus, "what the sum is divided by");
    v("training", training, "of 100 pairs, how many to train on");
  }
};

/// The modular addition task, with rows a b =, whose target at = is (a + b) mod modulus. All pairs of a and b below
/// modulus occur. About `training` percent of the pairs, selected by their hash, are to train on. All other pairs are
/// to test on. The pairs a b and b a are in the same split. A batch draws from shuffled pairs, so a batch of
/// pairs(Split::train) rows has each training pair once. The task shows grokking: with weight decay and many steps, a
/// model that has memorized the training pairs finds the rule. Source: Power et al. 2022. Errors: a modulus below 5 or
/// above 1,000, training outside 1 to 99.
class ModularAdditionTask : public Task {
 public:
  using Options = ModularAdditionOptions;
  const Options options;

  explicit ModularAdditionTask(const Options& o = {}) : Task("ModularAdditionTask"), options(o) {
    const char* const name = "ModularAdditionTask";
    checked_size(name, "modulus", o.modulus, 5, 1000);
    checked_size(name, "training", o.training, 1, 99);
    std::vector<std::vector<Index>> train, test;
    for (Index a = 0; a < o.modulus; ++a)
      for (Index b = 0; b < o.modulus; ++b) {
        const Index pair[] = {std::min(a, b), std::max(a, b)};
        const bool trained = example_hash(pair) % 100 < static_cast<std::uint64_t>(o.training);
        (trained ? train : test).push_back({a, b, o.modulus, (a + b) % o.modulus});
      }
    check_in(name, !train.empty() && !test.empty(), "training ", o.training, " leaves no pair to ",
             train.empty() ? "train" : "test", " on");
    train_ = stack_rows(train);
    test_ = stack_rows(test);
  }

  std::string description() const override {
    return "a + b mod " + std::to_string(options.modulus) + ", trained on " + std::to_string(pairs(Split::train)) +
           " of " + std::to_string(options.modulus * options.modulus) + " pairs";
  }
  Index vocab_size() const override { return options.modulus + 1; }
  Index block_size() const override { return 3; }
  Recipe recipe() const override {
    Recipe r;
    r.config = {{"n_layer", "1"}, {"n_head", "4"}, {"n_embd", "64"}, {"tie_weights", "false"}};
    r.learning_rate = 3e-3;
    r.max_iters = 4000;
    r.batch_size = pairs(Split::train);
    r.beta2 = 0.98;
    r.warmup_iters = 10;
    r.grad_clip = 0;
    r.weight_decay = 1;
    return r;
  }
  Outcome outcome() const override {
    return {.least = 0.96,
            .chance = 1.0 / static_cast<double>(options.modulus),
            .questions = pairs(Split::validation),
            .seconds = 19};
  }

  /// The number of pairs in a split.
  Index pairs(Split split) const { return all(split).shape()[0]; }
  Batch batch(Index size, Split split, const Generator& random) const override {
    const IntArray drawn = rows(size, split, random);
    const Index* row = drawn.data();
    return batch_of(size, 3, [&](Index* ids, Index* targets) {
      std::copy_n(row, 3, ids);
      targets[2] = row[3];
      row += 4;
    });
  }
  Questions questions(Index count, Split split, const Generator& random) const override {
    return asked(rows(count, split, random));
  }
  /// Returns all pairs of the split if `count` is at least their number, otherwise `count` random pairs.
  Questions evaluation(Index count, Split split = Split::validation) const override {
    return count >= pairs(split) ? asked(all(split)) : Task::evaluation(count, split);
  }

  std::string word(Index id) const override { return id == options.modulus ? "=" : std::to_string(id); }

 private:
  const IntArray& all(Split split) const { return split == Split::train ? train_ : test_; }
  /// `size` pairs in shuffled order. If the split has fewer, its pairs are shuffled again and repeated.
  IntArray rows(Index size, Split split, const Generator& random) const {
    IntArray rows({size, 4});
    std::vector<Index> order;
    Index* to = rows.mutate();
    for (Index n = 0; n < size; ++n) {
      if (n % pairs(split) == 0) order = random.randperm(pairs(split));
      to = std::copy_n(all(split).data() + 4 * order[static_cast<std::size_t>(n % pairs(split))], 4, to);
    }
    return rows;
  }
  static Questions asked(const IntArray& rows) { return {rows.slice(1, 0, 3), rows.slice(1, 3, 4)}; }
  IntArray train_, test_;  // rows a b = c
};

}  // namespace mote
