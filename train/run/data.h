// Data, what a run learns from and is asked about: batches, what is held out, questions, how both print.
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

/// Examples side by side. Of tokens: ids [B, T] and the next one at each position; a target of -1 does not count. Of a
/// Dataset: its inputs [B, ...] in `values` or `ids`, its targets [B] or `wanted` [B, ...].
struct Batch {
  IntArray ids, targets;
  Array values = {}, wanted = {};
  /// Terms of its mean loss: targets that count, or elements that are wanted.
  Index count() const {
    if (wanted.defined()) return wanted.numel();
    Index n = 0;
    for (const Index target : targets.values()) n += target >= 0;
    return n;
  }
};

/// Row `n` of [N, T].
inline std::vector<Index> row_of(const IntArray& rows, Index n) {
  std::vector<Index> row;
  for (Index i = 0; i < rows.shape()[1]; ++i) row.push_back(rows.at({n, i}));
  return row;
}

/// Questions and what a model should answer: prompts [N, P] to go on from, or a Dataset's inputs in `values` or
/// prompts, and answers [N, A].
struct Questions {
  IntArray prompts, answers;
  Array values = {};
  Index count() const { return answers.shape()[0]; }
  /// Questions first, first + 1, ... last - 1.
  Questions part(Index first, Index last) const {
    const auto rows = [&](const auto& all) { return all.defined() ? all.slice(0, first, last) : all; };
    return {rows(prompts), rows(answers), rows(values)};
  }
  /// Whether row `n` of `given` [N, A] is the whole answer to question n.
  bool right(Index n, const IntArray& given) const {
    check_in("right", given.shape() == answers.shape(), "answers ", given.shape(),
             " must have the shape of the expected ones, ", answers.shape());
    return row_of(given, n) == row_of(answers, n);
  }
};

/// Which examples: those to train on, or those that are held out.
enum class Split { train, validation };

/// FNV-1a over the ids of one example, mixed once more so that every bit counts. The same ids give the same hash on
/// every machine, so an example always belongs to the same split.
inline std::uint64_t example_hash(std::span<const Index> ids) {
  std::uint64_t h = 14695981039346656037u;
  for (const Index id : ids) h = (h ^ static_cast<std::uint64_t>(id)) * 1099511628211u;
  h ^= h >> 33;
  h *= 0xff51afd7ed558ccdu;  // MurmurHash3's finaliser
  return h ^ (h >> 33);
}

/// What a run draws besides its weights.
enum class Draws { batches, held_out, example, samples, one_batch };

/// The stream that a run with this seed draws it from. The weights are drawn from Generator(seed), as in PyTorch. The
/// seed of this stream is a hash of both. So no two seeds and no two purposes share their numbers. The batches of seed
/// 1 must not be drawn as the weights of seed 2.
inline Generator run_stream(Index seed, Draws what) {
  const Index both[] = {seed, static_cast<Index>(what)};
  return Generator(example_hash(both) & 0xFFFFFFFF);
}

/// What a run learns from. A Task is one kind, a Dataset of Arrays another. All that it draws depends on the stream
/// that it is given.
class Data {
 public:
  virtual ~Data() = default;

  virtual std::string name() const = 0;
  /// What there is to learn, in one line, with its sizes.
  virtual std::string description() const = 0;
  /// Its options, which a run that is resumed must share.
  virtual std::vector<Field> settings() const { return {}; }
  /// What a checkpoint must keep of the data besides its options, such as a tokenizer made from a text. It may be any
  /// bytes.
  virtual std::string state() const { return {}; }

  /// Examples to train on, or to measure a loss on.
  virtual Batch batch(Index size, Split split, const Generator& random) const = 0;
  /// All that is held out, in batches of this size; none where it has no end, or would take long.
  virtual std::vector<Batch> held_out(Index) const { return {}; }
  /// The loss of guessing, such as ln V; not given: there is no such thing.
  virtual std::optional<double> guessing_loss() const { return {}; }
  /// What a loss means, to stand behind its number: " (2.71 bits per byte)".
  virtual std::string loss_note(double) const { return {}; }

  /// The evaluation set, the same in all runs: `count` questions from a stream of its own, or all that there are; not
  /// defined where there are no questions.
  virtual Questions evaluation(Index count, Split split = Split::validation) const = 0;
  /// How many questions a run ends with.
  virtual Index questions_at_end() const { return 1000; }
  /// Whether a question has one right answer. False: a text goes on in many ways. Then a question is a beginning to go
  /// on from, its answer one of many, and only the loss on held-out batches is measured.
  virtual bool graded() const { return true; }
  /// The fraction of questions that guesses answer rightly.
  virtual double chance() const { return 0; }
  /// Whether the splits have no example in common. False: there are too few to hold some out, and both are the same.
  virtual bool holds_out() const { return true; }

  // For a reader: question n, an answer, and one id, as text.
  virtual std::string question_text(const Questions& q, Index n) const = 0;
  virtual std::string text(std::span<const Index> ids) const = 0;
  virtual std::string word(Index id) const { return std::to_string(id); }
};

/// Rows of equal lengths as [rows, length]; no rows: [0, length_of_none]. Errors: unequal lengths.
inline IntArray stack_rows(const std::vector<std::vector<Index>>& rows, Index length_of_none = 0) {
  const std::size_t width = rows.empty() ? static_cast<std::size_t>(length_of_none) : rows[0].size();
  IntArray all({static_cast<Index>(rows.size()), static_cast<Index>(width)});
  Index* to = all.mutate();
  for (const std::vector<Index>& row : rows) {
    check_in("stack_rows", row.size() == width, "rows of ", width, " and of ", row.size(), " ids");
    to = std::copy(row.begin(), row.end(), to);
  }
  return all;
}

}  // namespace mote
