// Task, the one interface of all toy tasks: Data with a vocabulary, settings known to work and what comes of them; and
// what tasks share: splits, rows, symbols.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "train/loop/recipe.h"
#include "train/run/data.h"

namespace mote {

class Tokenizer;

/// What comes of a task's recipe, for seeds 1 to 10. Shares are of whole answers to the evaluation set: an answer
/// with one wrong symbol is wrong.
struct Outcome {
  double least = 1;        ///< the fraction that every run reaches
  double most = 1;         ///< the fraction that none exceeds: below 1 for what must, or does, fail
  double chance = 0;       ///< the fraction that guesses get right
  Index questions = 1000;  ///< how many the evaluation set has
  double loss = 0;         ///< without one right answer (see Data::graded): the largest loss on held-out data
  double seconds = 0;      ///< that the training takes on one core of the machine that README names

  /// Whether a run comes to that: a fraction of right answers, or a loss.
  bool holds(double score) const { return loss > 0 ? score <= loss : least <= score && score <= most; }
};
/// ">= 99 %", "<= 40 %", "45 to 60 %", "100 %"; "loss <= 0.36", "nothing" of a text of one's own.
std::string text_of(const Outcome& outcome);

/// Something to learn. Its options are a struct that lists its fields (nn/fields.h) and whose defaults are
/// the task's; the constructor rejects invalid options, so that a task that exists works. All it draws depends on the
/// seed and nothing else. Recipe and outcome are those of its options: three digits take longer to add than two.
class Task : public Data {
 public:
  /// A name for its runs; of the list of tasks, and its options, as make_task() makes it.
  explicit Task(std::string name = "task") : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  std::vector<Field> settings() const override { return settings_; }
  void set_name(std::string name, std::vector<Field> settings) {
    name_ = std::move(name);
    settings_ = std::move(settings);
  }

  virtual Index vocab_size() const = 0;
  /// The longest context that a model sees, in batches and while it answers.
  virtual Index block_size() const = 0;
  /// Settings known to learn it.
  virtual Recipe recipe() const = 0;
  /// What that leads to.
  virtual Outcome outcome() const = 0;

  virtual Questions questions(Index count, Split split, const Generator& random) const = 0;
  Questions evaluation(Index count, Split split = Split::validation) const override;
  Index questions_at_end() const override { return outcome().questions; }
  double chance() const override { return outcome().chance; }
  std::optional<double> guessing_loss() const override;  ///< ln V

  /// A prompt for a reader.
  virtual std::string prompt_text(std::span<const Index> prompt) const { return text(prompt); }
  std::string question_text(const Questions& q, Index n) const override { return prompt_text(row_of(q.prompts, n)); }
  /// Ids as text: words side by side, with spaces between them if any word of the vocabulary is longer than a letter.
  std::string text(std::span<const Index> ids) const override;
  /// The ids of such a text, in which more spaces may stand. Errors: words that the task does not have, all named.
  virtual std::vector<Index> ids(const std::string& text) const;
  /// What the words are made by, if they are a text's; else null.
  virtual const Tokenizer* tokenizer() const { return nullptr; }
  /// The position that tells what follows ids[position], for pictures of attention; -1: no certain one.
  virtual Index looks_at(std::span<const Index> ids, Index position) const;
  /// A sentence that says how much of a head's attention, "58 %", goes there.
  virtual std::string looks_text(const std::string& fraction) const;
  /// Which head attends most to these positions of an example, of what the heads of each layer attend to, [H, T, T];
  /// "" if there are none.
  std::string best_head_text(std::span<const Index> ids, const std::vector<Array>& layers) const;

 private:
  std::string name_;
  std::vector<Field> settings_;
};

/// One question in four, selected by its hash, is held out, with every example that contains it.
inline Split split_of(std::span<const Index> question) {
  return example_hash(question) % 4 == 0 ? Split::validation : Split::train;
}

/// An option that is a size of a task, to be checked before anything is counted with it. Errors, in the name of `task`:
/// it is below `least` or above `most`.
Index checked_size(const char* task, const char* option, Index size, Index least = 1, Index most = 1'000'000);

/// A sequence that `draw` makes, drawn again until it belongs to `split`. Errors: 100,000 do not.
std::vector<Index> draw_of(Split split, const std::function<std::vector<Index>()>& draw);
/// Errors, in the name of `task`, unless both splits are among a thousand questions that `draw` makes: else drawing
/// might never end. A constructor's last check.
void check_splits(const char* task, const std::function<std::vector<Index>(const Generator&)>& draw);

/// `length` random ids from `low` to `high` - 1.
std::vector<Index> random_ids(Integer length, Integer low, Integer high, const Generator& random);

/// A batch [size, T] whose rows fill(ids, targets) writes one after the other: all ids, and the targets that count.
template <class Fill>
Batch batch_of(Index size, Index T, const Fill& fill) {
  Batch batch{IntArray({size, T}), IntArray({size, T}, -1)};
  Index *ids = batch.ids.mutate(), *targets = batch.targets.mutate();
  for (Index b = 0; b < size; ++b, ids += T, targets += T) fill(ids, targets);
  return batch;
}

/// The id as a letter when there are at most 26 symbols, else as a number.
std::string symbol_word(Index id, Index symbols);

}  // namespace mote
