// 31: a task, the pieces of a text
// Difficulty 3 of 5, 20 minutes.
#include "examples/exercises/exercise.h"

// A language model learns from a text, which is a list of N ids. An example is a piece of T consecutive ids from
// anywhere in the text. The target at each position is the id that comes next, so the targets are the piece that
// begins one id later. For the text 5 6 7 8 9 and T = 3:
//
//   start 0: ids 5 6 7, targets 6 7 8       start 1: ids 6 7 8, targets 7 8 9       and no other start
//
// For each row of a batch [size, T] a start is drawn at random, and all starts are equally likely. Split::train uses
// only the first N * 9 / 10 ids, and Split::validation uses only the ids after them, so that the model cannot answer
// validation questions from memory.
//
// You may use: random_ids(1, low, high, random)[0], a number from low to high - 1; batch_of(size, T,
// [&](Index* ids, Index* targets) { ... }), which calls the lambda once for each row of the batch. The lambda writes
// ids[0] to ids[T - 1] and targets[0] to targets[T - 1].
struct PiecesOfText : Task {
  std::vector<Index> text;
  Index T;

  PiecesOfText(const std::vector<Index>& ids, Index length) : text(ids), T(length) {}
  Batch batch(Index size, Split split, const Generator& random) const override {
    your_code_here();  // replace this line
  }

  // The other functions that a Task needs. With them a Run can train a GPT on this task, as README.md does under "A GPT
  // that copies".
  std::string description() const override { return "pieces of a text"; }
  Index vocab_size() const override { return *std::max_element(text.begin(), text.end()) + 1; }
  Index block_size() const override { return T; }
  Recipe recipe() const override { return {}; }
  Outcome outcome() const override { return {}; }
  Questions questions(Index count, Split split, const Generator& random) const override {
    const Batch asked = batch(count, split, random);
    return {asked.ids, asked.targets.slice(1, T - 1, T)};  // the question: which id comes next?
  }
};
