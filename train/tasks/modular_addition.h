// The modular addition task: a + b = c modulo a prime, on so few pairs that a model first memorizes them.
#pragma once

#include "train/tasks/task.h"

namespace mote {

struct ModularAdditionOptions {
  Index modulus = 31, training = 60;
  template <class V>
  void visit(V& v) {
    v("modulus", modulus, "what the sum is divided by");
    v("training", training, "of 100 pairs, how many to train on");
  }
};

/// Rows a b =, and at = the label (a + b) mod modulus; all pairs below modulus, of which `training` in a hundred,
/// selected by their hash, are to train on and all others to test on, b + a where a + b is. A batch goes through
/// shuffled pairs: one of pairs(Split::train) rows has each once. Grokking: trained on for long, with weight decay, a
/// model that knows the training pairs by heart finds the rule. Source: Power et al. 2022. Errors: a modulus below 5 or
/// above 1,000, training outside 1 to 99.
class ModularAdditionTask : public Task {
 public:
  using Options = ModularAdditionOptions;
  const Options options;

  explicit ModularAdditionTask(const Options& o = {});

  std::string description() const override {
    return "a + b mod " + std::to_string(options.modulus) + ", trained on " + std::to_string(pairs(Split::train)) +
           " of " + std::to_string(options.modulus * options.modulus) + " pairs";
  }
  Index vocab_size() const override { return options.modulus + 1; }
  Index block_size() const override { return 3; }
  Recipe recipe() const override;
  Outcome outcome() const override;

  /// How many pairs there are.
  Index pairs(Split split) const { return (split == Split::train ? train_ : test_).shape()[0]; }
  Batch batch(Index size, Split split, const Generator& random) const override;
  Questions questions(Index count, Split split, const Generator& random) const override;
  /// All pairs, if `count` is no less.
  Questions evaluation(Index count, Split split = Split::test) const override;

  std::string word(Index id) const override { return id == options.modulus ? "=" : std::to_string(id); }

 private:
  IntArray rows(Index size, Split split, const Generator& random) const;
  Questions asked(const IntArray& rows) const;
  IntArray train_, test_;  // rows a b = c
};

}  // namespace mote
