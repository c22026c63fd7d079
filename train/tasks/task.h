// Task, the interface of all toy tasks: Data with a vocabulary, a recipe that works, and the outcome of this recipe.
// Also functions that the tasks share, for splits, rows and symbols.
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

/// The outcome of a task's recipe, for seeds 1 to 10. Fractions are those of whole answers to the evaluation set. An
/// answer with one wrong symbol is wrong.
struct Outcome {
  double least = 1;        ///< the fraction that every run reaches
  double most = 1;         ///< the fraction that no run exceeds, below 1 for recipes that fail
  double chance = 0;       ///< the fraction that guesses get right
  Index questions = 1000;  ///< number of questions in the evaluation set
  double loss = 0;         ///< if set, the largest held-out loss, for a task without right answers (Data::graded)
  double seconds = 0;      ///< training time on one core of the machine in examples/bench/README.md

  /// Whether a run reaches this outcome. `score` is its fraction of right answers, or its loss if `loss` is set.
  bool holds(double score) const { return loss > 0 ? score <= loss : least <= score && score <= most; }
};
/// An outcome as text, such as ">= 99 %", "<= 40 %", "45 to 60 %", "100 %" or "loss <= 0.36". The text is "nothing"
/// for a task on a user's own text, because its outcome is not known.
std::string text_of(const Outcome& outcome);

/// A toy task, which is Data with a vocabulary and a recipe that learns it. The options of a task are a struct that
/// lists its fields (nn/fields.h) and has the task's defaults. The constructor rejects invalid options, so every task
/// that exists works. All random draws depend only on the seed. The recipe and the outcome may depend on the options.
/// For example, adding numbers of three digits takes longer to learn than adding numbers of two.
class Task : public Data {
 public:
  /// `name` names the runs of the task. make_task() replaces it by the name in the list of tasks, and sets the
  /// options.
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
  /// The settings with which a model learns the task.
  virtual Recipe recipe() const = 0;
  /// The outcome of this recipe.
  virtual Outcome outcome() const = 0;

  virtual Questions questions(Index count, Split split, const Generator& random) const = 0;
  Questions evaluation(Index count, Split split = Split::validation) const override;
  Index questions_at_end() const override { return outcome().questions; }
  double chance() const override { return outcome().chance; }
  std::optional<double> guessing_loss() const override;  ///< ln(vocab_size())

  /// A prompt as text for a reader.
  virtual std::string prompt_text(std::span<const Index> prompt) const { return text(prompt); }
  std::string question_text(const Questions& q, Index n) const override { return prompt_text(row_of(q.prompts, n)); }
  /// Ids as text, in which the words stand side by side. Spaces separate the words if any word of the vocabulary is
  /// longer than one letter.
  std::string text(std::span<const Index> ids) const override;
  /// Converts a text in the form of text() to ids. Additional spaces between the words are allowed. Errors: words that
  /// the task does not have. The message names all of them.
  virtual std::vector<Index> ids(const std::string& text) const;
  /// The tokenizer of a task that learns a text. Null for all other tasks.
  virtual const Tokenizer* tokenizer() const { return nullptr; }
  /// The position whose id determines the target at `position`, for reports about attention; -1 if there is none.
  virtual Index looks_at(std::span<const Index> ids, Index position) const;
  /// A sentence that says that `fraction` of a head's attention, such as "58 %", goes to the positions that looks_at()
  /// returns.
  virtual std::string looks_text(const std::string& fraction) const;
  /// A sentence about the head that attends most to the positions that looks_at() returns for an example, "" if there
  /// are no such positions. `layers` has the attention weights of the heads of each layer, [H, T, T].
  std::string best_head_text(std::span<const Index> ids, const std::vector<Array>& layers) const;

 private:
  std::string name_;
  std::vector<Field> settings_;
};

/// The split that a question belongs to. One question in four, selected by its hash, is held out. All examples that
/// contain the question are in the same split.
inline Split split_of(std::span<const Index> question) {
  return example_hash(question) % 4 == 0 ? Split::validation : Split::train;
}

/// Returns `size`, the value of an option, if it lies in its range. A constructor calls this before it computes with
/// the size. Errors, which begin with `task`: the size is below `least` or above `most`.
Index checked_size(const char* task, const char* option, Index size, Index least = 1, Index most = 1'000'000);

/// Calls `draw` until it returns a sequence that belongs to `split`, and returns this sequence. Errors: none of
/// 100,000 draws belongs to `split`.
std::vector<Index> draw_of(Split split, const std::function<std::vector<Index>()>& draw);
/// Checks that both splits occur among a thousand questions from `draw`, because otherwise draw_of() could fail. A
/// constructor calls this last. Errors, which begin with `task`: all questions belong to one split.
void check_splits(const char* task, const std::function<std::vector<Index>(const Generator&)>& draw);

/// `length` random ids from `low` to `high` - 1.
std::vector<Index> random_ids(Integer length, Integer low, Integer high, const Generator& random);

/// Makes a batch [size, T]. fill(ids, targets) is called once for each row, with pointers to the ids and targets of
/// the row. It must write all ids of the row, and only the targets that count. The other targets are -1.
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
