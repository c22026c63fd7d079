// 41: the head that copies
// Difficulty 4 of 5, 25 minutes.
#include "examples/exercises/exercise.h"

// ids has rows of 2n symbols whose second half repeats the first: 5 2 7 5 2 7. One head of the model copies. At
// position t it attends to position t + 1 - n, which holds the symbol that comes next, and the model then predicts
// this symbol. Find this head, and measure what share of the symbols the model predicts without it.
//
// Attention suggests the head. A layer has attention weights [B, H, T, T]. For each head take the weights in row t and
// column t + 1 - n, where t = n - 1 ... 2n - 2. Take the mean of these weights over all t and over all B rows of ids.
// If the mean is above 0.5, the head is a candidate.
//
// Attention is no proof, because a head may attend to a symbol and yet have no effect. So take out each candidate. The
// copying head is the candidate without which foreseen() is lowest.
//
// You may use: model.config.n_layer and n_head, weights.array().at({b, h, t, s}), std::to_string(l), and scopes. A
// scope is a local variable that acts until its block ends. A Record keeps the tensors that the model has computed
// last at some named places, and an Ablate switches a place off:
//
//   const Record seen(model, {"*.attn weights"});              after model(ids): seen["transformer.h.0.attn weights"]
//   const Ablate out(model, "transformer.h.0.attn heads 1");   head 1 of layer 0 has no effect

/// The share of the symbols in the second halves that the model predicts correctly.
double foreseen(const GPT& model, const IntArray& ids) {
  const Index T = ids.shape()[1], n = T / 2;
  return mean(tensor(argmax(model(ids)).slice(1, n - 1, T - 1) == ids.slice(1, n, T))).item();
}

/// Returns the layer and the number of the copying head, both counted from 0, and foreseen() without this head. For
/// example {1, 0, 0.25} is head 0 of layer 1, without which the model predicts a quarter of the symbols.
std::tuple<Index, Index, double> copying_head(const GPT& model, const IntArray& ids) {
  your_code_here();  // replace this line
}
