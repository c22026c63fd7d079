// 31: a task, the pieces of a text
// Difficulty 3 of 5, 20 minutes.
#include "examples/exercises/exercise.h"

// A language model learns from a text, a list of N ids. An example is a piece of T ids from anywhere in it; its target
// at each place is the id that comes next, so targets are the piece that stands one further on. Of 5 6 7 8 9, T = 3:
//
//   start 0: ids 5 6 7, targets 6 7 8       start 1: ids 6 7 8, targets 7 8 9       and no other start
//
// Each row of a batch [size, T] draws a start of its own, and all starts are equally likely. Split::train uses the
// first N * 9 / 10 ids alone, and Split::validation only those behind them, so that nobody is asked what was learned by
// heart.
//
// You may use: random_ids(1, low, high, random)[0], a number from low to high - 1; batch_of(size, T, [&](Index* ids,
// Index* targets) { ... }), a batch for each row of which that code writes ids[0] to ids[T - 1] and as many targets.
struct PiecesOfText : Task {
  std::vector<Index> text;
  Index T;

  PiecesOfText(const std::vector<Index>& ids, Index length) : text(ids), T(length) {}
  Batch batch(Index size, Split split, const Generator& random) const override {
    your_code_here();  // replace this line
  }

  // The rest of a task of mote's. A Run trains a GPT on it, as the first program of README.md does.
  std::string description() const override { return "pieces of a text"; }
  Index vocab_size() const override { return *std::max_element(text.begin(), text.end()) + 1; }
  Index block_size() const override { return T; }
  Recipe recipe() const override { return {}; }
  Outcome outcome() const override { return {}; }
  Questions questions(Index count, Split split, const Generator& random) const override {
    const Batch asked = batch(count, split, random);
    return {asked.ids, asked.targets.slice(1, T - 1, T)};  // which id comes next?
  }
};
