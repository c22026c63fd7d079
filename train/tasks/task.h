// Task, the one interface of all toy tasks: batches to train on, questions to answer, how both print as text, settings
// known to work and what comes of them; and what tasks share: splits, rows, symbols.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/array/int_array.h"
#include "engine/array/random.h"
#include "train/recipe.h"

namespace mote {

class Tokenizer;

/// Inputs and the next token at each position, both [B, T]; a target of -1 does not count.
struct Batch {
  IntArray ids, targets;
  /// Targets that count.
  Index count() const {
    Index n = 0;
    for (const Index target : targets.values()) n += target >= 0;
    return n;
  }
};

/// Questions [N, P] and what a model should generate after each, [N, A].
struct Questions {
  IntArray prompts, answers;
  /// Whether row `n` of `given` [N, A] is the whole answer to question n.
  bool right(Index n, const IntArray& given) const;
};

/// Which examples a task draws: those to train on, or those held out for testing.
enum class Split { train, test };

/// What comes of a task's recipe, for seeds 1, 2 and 3. Shares are of whole answers to the evaluation set: an answer
/// with one wrong symbol is wrong.
struct Outcome {
  std::string known;       ///< a published figure and its source, or what was found here, in a sentence
  double least = 1;        ///< the share that every run reaches
  double most = 1;         ///< the share that none exceeds: below 1 for what must, or does, fail
  double chance = 0;       ///< the share that guesses get right
  Index questions = 1000;  ///< how many the evaluation set has
  double loss = 0;         ///< without one right answer (see Task::graded): the largest loss on held-out batches
  double seconds = 0;      ///< that the training takes on one core of the machine that README names

  bool holds(double share) const { return least <= share && share <= most; }
};
/// The shares: ">= 99 %", "<= 40 %", "45 to 60 %", "100 %".
std::string text_of(const Outcome& outcome);

/// Something to learn. Its options are a struct that lists its fields (engine/io/text/fields.h) and whose defaults are
/// the task's; the constructor rejects invalid options, so that a task that exists works. All it draws depends on the
/// seed and nothing else. Recipe and outcome are those of its options: three digits take longer to add than two.
class Task {
 public:
  virtual ~Task() = default;

  /// What there is to learn, in one line, with its sizes.
  virtual std::string description() const = 0;
  virtual Index vocab_size() const = 0;
  /// The longest context that a model sees, in batches and while it answers.
  virtual Index block_size() const = 0;
  /// Settings known to learn it.
  virtual Recipe recipe() const = 0;
  /// What that leads to.
  virtual Outcome outcome() const = 0;

  /// Examples to train on, or to measure a loss on, [size, T].
  virtual Batch batch(Index size, Split split, const Generator& random) const = 0;
  virtual Questions questions(Index count, Split split, const Generator& random) const = 0;
  /// The evaluation set, the same in all runs: `count` questions from a stream of its own, or all that there are.
  virtual Questions evaluation(Index count, Split split = Split::test) const;
  /// All that is held out, in batches of this size; none where it has no end, or would take long.
  virtual std::vector<Batch> held_out(Index) const { return {}; }
  /// Whether a question has one right answer. False: a text goes on in many ways. Then a question is a beginning to go
  /// on from, its answer one of many, and only the loss on held-out batches is measured.
  virtual bool graded() const { return true; }
  /// Whether the splits have no example in common. False: there are too few to hold some out, and both are the same.
  virtual bool holds_out() const { return true; }
  /// What a checkpoint must keep of the task besides its options, any bytes: a tokenizer made from a text. make_task()
  /// takes it.
  virtual std::string state() const { return {}; }

  /// One id as text.
  virtual std::string word(Index id) const = 0;
  /// A prompt for a reader.
  virtual std::string question_text(std::span<const Index> prompt) const { return text(prompt); }
  /// Ids as text: words side by side, with spaces between them if any word of the vocabulary is longer than a letter.
  virtual std::string text(std::span<const Index> ids) const;
  /// The ids of such a text, in which more spaces may stand. Errors: words that the task does not have, all named.
  virtual std::vector<Index> ids(const std::string& text) const;
  /// What the words are made by, if they are a text's; else null.
  virtual const Tokenizer* tokenizer() const { return nullptr; }
  /// What a loss means, to stand behind its number: " (2.71 bits per byte)".
  virtual std::string loss_note(double) const { return {}; }

  /// The position that tells what follows ids[position], for pictures of attention; -1: no certain one.
  virtual Index looks_at(std::span<const Index> ids, Index position) const;
  /// A sentence that says how much of a head's attention, "58 %", goes there.
  virtual std::string looks_text(const std::string& share) const;
};

/// FNV-1a over the ids of one example, mixed once more so that every bit counts. The same ids give the same hash on
/// every machine, so an example always belongs to the same split.
inline std::uint64_t example_hash(std::span<const Index> ids) {
  std::uint64_t h = 14695981039346656037u;
  for (const Index id : ids) h = (h ^ static_cast<std::uint64_t>(id)) * 1099511628211u;
  h ^= h >> 33;
  h *= 0xff51afd7ed558ccdu;  // MurmurHash3's finaliser
  return h ^ (h >> 33);
}

/// One question in four, selected by its hash, is held out, with every example that contains it.
inline Split split_of(std::span<const Index> question) {
  return example_hash(question) % 4 == 0 ? Split::test : Split::train;
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
std::vector<Index> random_ids(Index length, Index low, Index high, const Generator& random);

/// Rows of equal lengths as [rows, length]; no rows: [0, length_of_none]. Errors: unequal lengths.
IntArray stack_rows(const std::vector<std::vector<Index>>& rows, Index length_of_none = 0);
/// Row `n` of [N, T].
std::vector<Index> row_of(const IntArray& rows, Index n);

/// Rows [B, T + 1] as inputs (all but the last column) and targets (all but the first).
inline Batch next_token_batch(const IntArray& rows) {
  const Index T = rows.shape()[1] - 1;
  return {rows.slice(1, 0, T).contiguous(), rows.slice(1, 1, T + 1).contiguous()};
}

/// The id as a letter when there are at most 26 symbols, else as a number.
std::string symbol_word(Index id, Index symbols);

}  // namespace mote
