// Data, the examples of a run: batches to train on, held-out batches, questions with answers, and their texts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/array/array.h"
#include "engine/array/int_array.h"
#include "engine/array/random.h"
#include "nn/fields.h"

namespace mote {

/// A batch of examples. A batch of token sequences has `ids` [B, T] and `targets` [B, T]. The target of a position is
/// the next id, or -1 if the loss ignores the position. A batch of a Dataset has its inputs [B, ...] in `values` or
/// `ids`. Its targets are classes [B] in `targets`, or values [B, ...] in `wanted`.
struct Batch {
  IntArray ids, targets;
  Array values = {}, wanted = {};
  /// The number of terms of the batch's mean loss: targets that are not ignored, or elements of `wanted`.
  Index count() const {
    if (wanted.defined()) return wanted.numel();
    Index n = 0;
    for (const Index target : targets.values()) n += target >= 0;
    return n;
  }
};

/// Row `n` of rows [N, T].
inline std::vector<Index> row_of(const IntArray& rows, Index n) {
  std::vector<Index> row;
  for (Index i = 0; i < rows.shape()[1]; ++i) row.push_back(rows.at({n, i}));
  return row;
}

/// N questions with their expected `answers` [N, A]. A question is a row of `prompts` [N, P], which the model
/// continues with the answer. If the inputs of a Dataset are numbers, a question is a row of `values` instead.
struct Questions {
  IntArray prompts, answers;
  Array values = {};
  Index count() const { return answers.shape()[0]; }
  /// The questions from `first` to `last` - 1.
  Questions part(Index first, Index last) const {
    const auto rows = [&](const auto& all) { return all.defined() ? all.slice(0, first, last) : all; };
    return {rows(prompts), rows(answers), rows(values)};
  }
  /// Whether row `n` of `given` [N, A] equals the whole answer to question n.
  bool right(Index n, const IntArray& given) const {
    check_in("right", given.shape() == answers.shape(), "answers ", given.shape(),
             " must have the shape of the expected ones, ", answers.shape());
    return row_of(given, n) == row_of(answers, n);
  }
};

/// The two kinds of examples: those to train on, and those that are held out.
enum class Split { train, validation };

/// A hash of the ids of one example: FNV-1a, followed by a step of MurmurHash3 that spreads all bits. The same ids
/// give the same hash on every machine, so an example always belongs to the same split.
inline std::uint64_t example_hash(std::span<const Index> ids) {
  std::uint64_t h = 14695981039346656037u;
  for (const Index id : ids) h = (h ^ static_cast<std::uint64_t>(id)) * 1099511628211u;
  h ^= h >> 33;
  h *= 0xff51afd7ed558ccdu;  // MurmurHash3's finaliser
  return h ^ (h >> 33);
}

/// The purposes, besides the initial weights, for which a run draws random numbers.
enum class Draws { batches, held_out, example, samples, one_batch };

/// Returns the random stream from which a run with this seed draws for one purpose. The weights are drawn from
/// Generator(seed), as in PyTorch. The seed of this stream is a hash of the run's seed and the purpose, so two
/// different seeds or purposes do not draw the same numbers. Otherwise the batches of seed 1 could be drawn from the
/// same numbers as the weights of seed 2.
inline Generator run_stream(Index seed, Draws what) {
  const Index both[] = {seed, static_cast<Index>(what)};
  return Generator(example_hash(both) & 0xFFFFFFFF);
}

/// The data that a run learns from. Derived classes are Task, and Dataset for arrays. All draws for training depend
/// only on the stream that batch() is given.
class Data {
 public:
  virtual ~Data() = default;

  virtual std::string name() const = 0;
  /// One line about the data, with their sizes.
  virtual std::string description() const = 0;
  /// The options of the data, which must be the same when a run is resumed.
  virtual std::vector<Field> settings() const { return {}; }
  /// The state of the data that a checkpoint saves besides the options, such as a tokenizer made from a text. It may
  /// be any bytes.
  virtual std::string state() const { return {}; }

  /// Examples to train on, or to measure a loss on.
  virtual Batch batch(Index size, Split split, const Generator& random) const = 0;
  /// All held-out examples, in batches of this size. Empty if there are infinitely many held-out examples, or too many
  /// to evaluate.
  virtual std::vector<Batch> held_out(Index) const { return {}; }
  /// The loss of a model that guesses, such as ln V for a vocabulary of V ids. nullopt if the data have no such loss.
  virtual std::optional<double> guessing_loss() const { return {}; }
  /// A note to print behind a loss, such as " (2.71 bits per byte)".
  virtual std::string loss_note(double) const { return {}; }

  /// Returns `count` evaluation questions, or all of them if there are fewer. The questions are the same in all runs,
  /// because they do not depend on a run's random streams. The arrays of the result are undefined if the data have no
  /// questions.
  virtual Questions evaluation(Index count, Split split = Split::validation) const = 0;
  /// How many questions the final evaluation of a run asks.
  virtual Index questions_at_end() const { return 1000; }
  /// Whether each question has one right answer. False for texts, because a text can be continued in many ways. If it
  /// is false, a question is the beginning of a text, its answer is only one possible continuation, and an evaluation
  /// measures only the loss on held-out batches.
  virtual bool graded() const { return true; }
  /// The fraction of questions that guessing answers right.
  virtual double chance() const { return 0; }
  /// Whether the splits have no example in common. False if there are too few examples to hold some out. Then both
  /// splits are the same.
  virtual bool holds_out() const { return true; }

  // Readable texts of question n, of the ids of an answer, and of one id.
  virtual std::string question_text(const Questions& q, Index n) const = 0;
  virtual std::string text(std::span<const Index> ids) const = 0;
  virtual std::string word(Index id) const { return std::to_string(id); }
};

/// Stacks rows of equal length to [rows, length]. No rows give [0, length_of_none]. Errors: unequal lengths.
inline IntArray stack_rows(const std::vector<std::vector<Index>>& rows, Index length_of_none = 0) {
  const std::size_t width = rows.empty() ? static_cast<std::size_t>(length_of_none) : rows[0].size();
  IntArray all({static_cast<Index>(rows.size()), static_cast<Index>(width)});
  Index* to = all.mutate();
  for (const std::vector<Index>& row : rows) {
    check_in("stack_rows", row.size() == width, "all rows must have one length, but one has ", width,
             " ids and another ", row.size());
    to = std::copy(row.begin(), row.end(), to);
  }
  return all;
}

}  // namespace mote
