// The induction task: random letters that repeat, so that the next letter is the one that followed the same letter
// earlier.
#pragma once

#include <algorithm>
#include <utility>

#include "train/tasks/task.h"

namespace mote {

/// The settings of InductionTask.
struct InductionOptions {
  Index symbols = 26, shortest = 3, length = 24;
  template <class V>
  void visit(V& v) {
    v("symbols", symbols, "different letters");
    v("shortest", shortest, "the fewest letters before they come again");
    v("length", length, "the most letters before they come again");
  }
};

/// The induction task. A row has 2 * length + 1 letters. It begins with `shortest` to `length` different random
/// letters and repeats them until it is full. A model cannot memorize where to attend. It must find the same letter
/// earlier in the row, and attend to the letter that followed it. Letters before the first repetition do not count
/// in the loss. ids are the row without its last letter and targets without its first, both [B, 2 * length]. The
/// answer to a question consists of the last letters of a row, at most four. The question is the row without these
/// letters. One question in four is held out. Source: Olsson et al. 2022. Their random tokens also differ from each
/// other, because their vocabulary is large. Errors: symbols outside 2 to a million, length below 2 or above
/// symbols, shortest below 1 or above length.
class InductionTask : public Task {
 public:
  using Options = InductionOptions;
  const Options options;

  explicit InductionTask(const Options& o = {}) : Task("InductionTask"), options(o) {
    checked_size("InductionTask", "symbols", o.symbols, 2);
    checked_size("InductionTask", "length", o.length, 2);
    check_in("InductionTask", o.length <= o.symbols, "length ", o.length, " must be at most symbols ", o.symbols,
             ": no letter comes twice before all come again");
    check_in("InductionTask", o.shortest >= 1 && o.shortest <= o.length, "shortest ", o.shortest,
             " must be 1 to length ", o.length);
    check_splits("InductionTask", [this](const Generator& random) { return prompt(row(letters(random))); });
  }

  std::string description() const override {
    return "rows of " + std::to_string(block_size()) + " letters, which begin again after " +
           std::to_string(options.shortest) + " to " + std::to_string(options.length);
  }
  Index vocab_size() const override { return options.symbols; }
  Index block_size() const override { return 2 * options.length; }
  /// The model is two layers of attention without feed-forward layers, the smallest model that learns the task.
  Recipe recipe() const override {
    Recipe r;
    r.config = {{"preset", "attention_only"}, {"n_layer", "2"}, {"n_head", "4"}, {"n_embd", "64"}};
    r.max_iters = 1600;
    r.batch_size = 32;
    r.learning_rate = 3e-3;
    r.warmup_iters = 80;
    return r;
  }

  Outcome outcome() const override { return {.least = 0.99, .seconds = 6}; }
  /// A row of 2 * length + 1 letters, in which `letters` repeats.
  std::vector<Index> row(const std::vector<Index>& letters) const {
    std::vector<Index> x;
    for (Index t = 0; t <= block_size(); ++t) x.push_back(letters[static_cast<std::size_t>(t) % letters.size()]);
    return x;
  }
  Batch batch(Index size, Split split, const Generator& random) const override {
    return batch_of(size, block_size(), [&](Index* ids, Index* targets) {
      const auto [x, period] = draw(split, random);
      std::copy(x.begin(), x.end() - 1, ids);
      std::copy(x.begin() + period, x.end(), targets + period - 1);
    });
  }
  /// Prompts [count, 2 * length + 1 - A] and answers [count, A], with A = answer_length().
  Questions questions(Index count, Split split, const Generator& random) const override {
    std::vector<std::vector<Index>> prompts, answers;
    for (Index n = 0; n < count; ++n) {
      const std::vector<Index> x = draw(split, random).first;
      prompts.push_back(prompt(x));
      answers.emplace_back(x.end() - answer_length(), x.end());
    }
    return {stack_rows(prompts, block_size() + 1 - answer_length()), stack_rows(answers, answer_length())};
  }
  std::string word(Index id) const override { return symbol_word(id, options.symbols); }

  /// Returns the position at which the next letter occurred one period earlier. Returns -1 in the first period.
  Index looks_at(std::span<const Index> ids, Index position) const override {
    Index period = options.shortest;
    while (period < options.length && !repeats(ids, period)) ++period;
    return position < period ? -1 : position + 1 - period;
  }
  std::string looks_text(const std::string& fraction) const override {
    return "From the first repetition on, " + fraction +
           " of its attention goes to what followed the letter's last occurrence";
  }

 private:
  Index answer_length() const { return std::min<Index>(4, options.length - 1); }
  std::vector<Index> prompt(const std::vector<Index>& row) const { return {row.begin(), row.end() - answer_length()}; }
  static bool repeats(std::span<const Index> ids, Index period) {
    const auto from = std::min<std::size_t>(ids.size(), static_cast<std::size_t>(period));
    return std::equal(ids.begin() + static_cast<std::ptrdiff_t>(from), ids.end(), ids.begin());
  }
  /// A row of this split, and the number of letters after which it repeats.
  std::pair<std::vector<Index>, Index> draw(Split split, const Generator& random) const {
    Index period = 0;
    std::vector<Index> x;
    draw_of(split, [&] {
      const std::vector<Index> first = letters(random);
      period = static_cast<Index>(first.size());
      x = row(first);
      return prompt(x);
    });
    return {std::move(x), period};
  }
  /// Random letters, all different, which a row repeats.
  std::vector<Index> letters(const Generator& random) const {
    const Index period = random_ids(1, options.shortest, options.length + 1, random)[0];
    std::vector<Index> all = random.randperm(options.symbols);
    all.resize(static_cast<std::size_t>(period));
    return all;
  }
};

}  // namespace mote
