// The two-places task: predict (x[t-1] + x[t-3]) mod n, which needs two earlier tokens at once.
#pragma once

#include "train/tasks/label_task.h"

namespace mote {

struct TwoPlacesOptions {
  Index modulus = 7, length = 16;
  template <class V>
  void visit(V& v) {
    v("modulus", modulus, "what the sum of two numbers is divided by");
    v("length", length, "numbers in a row");
  }
};

/// Rows of random numbers below `modulus`; at each position t >= 3 the label is (x[t-1] + x[t-3]) mod modulus.
///
/// A single attention layer learns it badly with one head, which outputs one mixture of the two numbers, and well with
/// two. It is not enough that each head attends to one position and passes on its number: a logit that is a function of
/// a plus a function of b cannot always be highest at (a + b) mod n. The heads' weights must also depend on both
/// numbers. Errors: modulus below 2, length below 4, either above a million.
class TwoPlacesTask final : public LabelTask {
 public:
  using Options = TwoPlacesOptions;
  const Options options;

  explicit TwoPlacesTask(const Options& o = {}) : LabelTask("TwoPlacesTask", o.length), options(o) {
    checked_size("TwoPlacesTask", "modulus", o.modulus, 2);
    checked_size("TwoPlacesTask", "length", o.length, 4);
    check_rows();
  }

  std::string description() const override {
    return "the sum mod " + std::to_string(options.modulus) + " of the numbers one and three places back";
  }
  Index vocab_size() const override { return options.modulus; }
  Recipe recipe() const override {
    Recipe r;
    r.config = {{"preset", "attention_only"}, {"n_layer", "1"}, {"n_head", "2"}, {"n_embd", "64"}};
    r.max_iters = 1000, r.learning_rate = 3e-3;
    return r;
  }

  Outcome outcome() const override {
    return {.least = 0.99, .chance = 1.0 / static_cast<double>(options.modulus), .seconds = 1};
  }
  std::vector<Index> row(Index length, const Generator& random) const override {
    return random_ids(length, 0, options.modulus, random);
  }
  std::vector<Index> labels(std::span<const Index> x) const override {
    std::vector<Index> y(x.size(), -1);
    for (std::size_t t = 3; t < x.size(); ++t) y[t] = (x[t - 1] + x[t - 3]) % options.modulus;
    return y;
  }
  std::string word(Index id) const override { return std::to_string(id); }
};

}  // namespace mote
