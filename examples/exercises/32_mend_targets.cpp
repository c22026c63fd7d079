// 32: mend a loss that falls too far
// Difficulty 2 of 5, 10 minutes.
#include "examples/exercises/exercise.h"

// No code is missing here, but one thing is wrong. The bigram model below is trained on rows in which every symbol s
// is followed at random by s + 1 or by s + 2, modulo 7. So 6 is followed by 0 or 1. Not even the best model can know
// which of the two comes, so an honest loss ends near ln 2 = 0.69. But the losses are:
//
//   step       0      10      20      50     100
//   loss   2.240   0.121   0.006   0.001   0.000      and after a 3 the model then writes 3 3 3 3 3 3
//
// Mend it. The model, the optimizer, its learning rate and the number of steps are as they should be.

/// A model that gives scores for the next symbol: ids [B, T] -> [B, T, symbols].
Sequential bigram_model(Index symbols, const Generator& random) {
  return Sequential{Embedding(symbols, 16, random), Linear(16, symbols, random)};
}

/// Trains on rows [B, T]. Returns the loss of every step.
std::vector<double> train_bigrams(const Sequential& model, const IntArray& rows, int steps) {
  AdamW optimizer(all_parameters(model), {.lr = 0.03});
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    const Tensor loss = cross_entropy(model(rows), rows);
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item());
  }
  return losses;
}

/// Returns the `count` symbols that the model writes after the symbol `last`. At each step it writes the symbol that
/// has the highest score after the previous symbol.
std::vector<Index> written(const Sequential& model, Index last, int count) {
  std::vector<Index> symbols;
  for (int i = 0; i < count; ++i) {
    last = argmax(model(ints({last}))).item();
    symbols.push_back(last);
  }
  return symbols;
}
