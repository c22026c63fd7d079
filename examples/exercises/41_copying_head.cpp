// 41: the head that copies
// Difficulty 4 of 5, 25 minutes.
#include "examples/exercises/exercise.h"

// Rows of 2n symbols, whose second half repeats the first: 5 2 7 5 2 7. One head of the model copies: at position t it
// finds the symbol that comes next, which stood at t + 1 - n, and the model says it. Which one is it, and what is left
// without it?
//
// Looking suggests it: in the weights [B, H, T, T] of a layer take, for each head, those of row t and column t + 1 - n,
// where t = n - 1 ... 2n - 2, and their mean over these t and over all B. Above 0.5, the head may be the one.
//
// Taking it out proves it, as a head may look and yet not be heard: of those that may be the one, it is the head
// without which `foreseen` is least.
//
// You may use: model.config.n_layer and n_head, weights.array().at({b, h, t, s}), std::to_string(l), and scopes, which
// are local variables and act until their block ends. A Record keeps what was computed last:
//
//   const Record seen(model, {"*.attn weights"});              after model(ids): seen["transformer.h.0.attn weights"]
//   const Ablate out(model, "transformer.h.0.attn heads 1");   head 1 of layer 0 is not heard

/// The share of the second halves that the model foresees.
double foreseen(const GPT& model, const IntArray& ids) {
  const Index T = ids.shape()[1], n = T / 2;
  return mean(tensor(argmax(model(ids)).slice(1, n - 1, T - 1) == ids.slice(1, n, T))).item();
}

/// The layer and the head, both counted from 0, and what is foreseen without it, such as {1, 0, 0.25}.
std::tuple<Index, Index, double> copying_head(const GPT& model, const IntArray& ids) {
  your_code_here();  // replace this line
}
