// The repeat task: one random id per row, repeated.
#pragma once

#include "train/tasks/task.h"

namespace mote {

/// The settings of RepeatTask.
struct RepeatOptions {
  Index symbols = 64, length = 12;
  template <class V>
  void visit(V& v) {
    v("symbols", symbols, "different ids");
    v("length", length, "ids in a row");
  }
};

/// The repeat task, with rows that repeat one random id `length` times, so that the next id is the same id. ids and
/// targets are [B, length]. A question is the id alone. No row is held out, because each id has only one row, and a
/// model cannot know an id that it was not trained on. Errors: fewer than 2 symbols, length below 1, more than a
/// million of either.
class RepeatTask final : public Task {
 public:
  using Options = RepeatOptions;
  const Options options;

  explicit RepeatTask(const Options& o = {}) : Task("RepeatTask"), options(o) {
    checked_size("RepeatTask", "symbols", o.symbols, 2);
    checked_size("RepeatTask", "length", o.length);
  }

  std::string description() const override { return "rows of one random id out of " + std::to_string(options.symbols); }
  Index vocab_size() const override { return options.symbols; }
  Index block_size() const override { return options.length; }
  /// The optimizer and its settings are those of a lecture's program, examples/lectures/ai_engineering.cpp.
  Recipe recipe() const override {
    Recipe r;
    r.config = {{"preset", "attention_only"}, {"n_layer", "1"}, {"n_embd", "32"}, {"n_head", "4"}};
    r.optimizer = OptimizerKind::adam;
    r.schedule = ScheduleKind::constant;
    r.max_iters = 360;
    r.batch_size = 16;
    r.learning_rate = 5e-3;
    r.warmup_iters = 0;
    r.weight_decay = 0;
    r.grad_clip = 0;
    return r;
  }

  Outcome outcome() const override { return {.seconds = 1}; }
  Batch batch(Index size, Split, const Generator& random) const override {
    const IntArray all = rows(size, options.length, random);
    return {all, all};
  }
  /// Prompts [count, 1], answers [count, length].
  Questions questions(Index count, Split, const Generator& random) const override {
    const IntArray all = rows(count, options.length + 1, random);
    return {all.slice(1, 0, 1), all.slice(1, 1, options.length + 1)};
  }
  bool holds_out() const override { return false; }
  std::string word(Index id) const override { return std::to_string(id); }

 private:
  IntArray rows(Index size, Index length, const Generator& random) const {
    const std::vector<Index> ids = random_ids(size, 0, options.symbols, random);
    return IntArray({size, 1}, ids).expand({size, length}).contiguous();
  }
};

}  // namespace mote
