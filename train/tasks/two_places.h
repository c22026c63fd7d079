// The two-places task: predict (x[t-1] + x[t-3]) mod n, which needs two earlier tokens at once.
#pragma once

#include "train/tasks/task.h"

namespace mote {

struct TwoPlacesOptions {
  Index modulus = 7, length = 16;
  template <class V>
  void visit(V& v) {
    v("modulus", modulus, "what the sum of two numbers is divided by");
    v("length", length, "numbers in a row");
  }
};

/// Rows of random numbers below `modulus`; at each position t >= 3 the target is (x[t-1] + x[t-3]) mod modulus; earlier
/// positions do not count. ids and targets [B, length]. The question is a row, its answer the last target. One row in
/// four is held out.
///
/// A single attention layer learns it badly with one head, which outputs one mixture of the two numbers, and well with
/// two. It is not enough that each head attends to one position and passes on its number: a logit that is a function of
/// a plus a function of b cannot always be highest at (a + b) mod n. The heads' weights must also depend on both
/// numbers. Errors: modulus below 2, length below 4.
class TwoPlacesTask final : public Task {
 public:
  using Options = TwoPlacesOptions;
  const Options options;

  explicit TwoPlacesTask(const Options& o = {}) : options(o) {
    check_in("TwoPlacesTask", o.modulus >= 2, "modulus ", o.modulus, " must be at least 2");
    check_in("TwoPlacesTask", o.length >= 4, "length ", o.length, " must be at least 4");
    check_in("TwoPlacesTask", o.modulus <= 1'000'000'000, "modulus ", o.modulus, " must be at most 1000000000");
    check_in("TwoPlacesTask", o.length <= 1'000'000, "length ", o.length, " must be at most 1000000");
    check_splits("TwoPlacesTask", o.modulus, o.length, [](const std::vector<Index>& s) { return s; });
  }

  std::string description() const override {
    return "the sum mod " + std::to_string(options.modulus) + " of the numbers one and three places back";
  }
  Index vocab_size() const override { return options.modulus; }
  Index block_size() const override { return options.length; }
  Recipe recipe() const override {
    Recipe r;
    r.config = {{"preset", "attention_only"}, {"n_layer", "1"}, {"n_head", "2"}, {"n_embd", "64"}};
    r.steps = 1000, r.learning_rate = 3e-3;
    return r;
  }

  Outcome outcome() const override {
    return {.known = "two heads learn it, one does not (examples/06_heads.cpp)", .least = 0.99};
  }
  Batch batch(Index size, Split split, const Generator& random) const override {
    Batch b{IntArray({size, options.length}), IntArray({size, options.length}, -1)};
    Index *ids = b.ids.mutate(), *targets = b.targets.mutate();
    for (Index n = 0; n < size; ++n, ids += options.length, targets += options.length) {
      const std::vector<Index> x = draw_sequence(options.modulus, options.length, split, random);
      std::copy(x.begin(), x.end(), ids);
      for (Index t = 3; t < options.length; ++t) targets[t] = (ids[t - 1] + ids[t - 3]) % options.modulus;
    }
    return b;
  }
  /// Prompts [count, length], answers [count, 1].
  Questions questions(Index count, Split split, const Generator& random) const override {
    const Batch b = batch(count, split, random);
    return {b.ids, b.targets.slice(1, options.length - 1, options.length)};
  }
  std::string word(Index id) const override { return std::to_string(id); }
};

}  // namespace mote
