// The pairs of modular addition, in shuffled rounds.
#include "train/tasks/modular_addition.h"

#include <algorithm>

namespace mote {

ModularAdditionTask::ModularAdditionTask(const Options& o) : options(o) {
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
  check_in(name, !train.empty() && !test.empty(), "all pairs are to ", train.empty() ? "test" : "train", " on");
  train_ = stack_rows(train);
  test_ = stack_rows(test);
}

Recipe ModularAdditionTask::recipe() const {
  Recipe r;
  r.config = {{"n_layer", "1"}, {"n_head", "4"}, {"n_embd", "64"}, {"tie_weights", "false"}};
  r.learning_rate = 3e-3;
  r.max_iters = 4000, r.batch_size = pairs(Split::train), r.beta2 = 0.98, r.warmup_iters = 10, r.grad_clip = 0;
  r.weight_decay = 1;
  return r;
}

Outcome ModularAdditionTask::outcome() const {
  Outcome o{.known = "known by heart first, understood long after (Power et al. 2022, Nanda et al. 2023)",
            .least = 0.99,
            .chance = 1.0 / static_cast<double>(options.modulus)};
  o.questions = pairs(Split::test), o.seconds = 19;
  return o;
}

IntArray ModularAdditionTask::rows(Index size, Split split, const Generator& random) const {
  const IntArray& all = split == Split::train ? train_ : test_;
  const Index count = all.shape()[0];
  IntArray rows({size, 4});
  std::vector<Index> order;
  Index* to = rows.mutate();
  for (Index n = 0; n < size; ++n, to += 4) {
    if (n % count == 0) order = random.randperm(count);
    std::copy_n(all.data() + 4 * order[static_cast<std::size_t>(n % count)], 4, to);
  }
  return rows;
}

Questions ModularAdditionTask::asked(const IntArray& rows) const { return {rows.slice(1, 0, 3), rows.slice(1, 3, 4)}; }

Batch ModularAdditionTask::batch(Index size, Split split, const Generator& random) const {
  const IntArray all = rows(size, split, random);
  Batch batch{all.slice(1, 0, 3).contiguous(), IntArray({size, 3}, -1)};
  Index* const targets = batch.targets.mutate();
  for (Index n = 0; n < size; ++n) targets[3 * n + 2] = all.at({n, 3});
  return batch;
}

Questions ModularAdditionTask::questions(Index count, Split split, const Generator& random) const {
  return asked(rows(count, split, random));
}

Questions ModularAdditionTask::evaluation(Index count, Split split) const {
  return count >= pairs(split) ? asked(split == Split::train ? train_ : test_) : Task::evaluation(count, split);
}

}  // namespace mote
