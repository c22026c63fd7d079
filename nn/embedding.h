// What is here: Embedding, a table of rows that ids choose from.
// What is not: positions (position.h).
// Read next: layer_norm.h.
#pragma once

#include "engine/ops/embedding.h"
#include "nn/init.h"
#include "nn/module.h"

namespace mote {

/// Row ids[...] of weight [V, C]: ids [...] -> [..., C]. Drawn N(0, 1), as in PyTorch; padding_idx, if any, is the row
/// that starts as zeros and gets no gradient. Errors: an id outside [0, V).
struct Embedding : Layer<Embedding> {
  Parameter weight;
  Index padding_idx;

  Embedding(Index num_embeddings, Index embedding_dim, const Init& init, Index padding = -1) : padding_idx(padding) {
    check_in("Embedding", padding < num_embeddings, "padding_idx ", padding,
             " is out of range for V = ", num_embeddings);
    Array table = init.normal({num_embeddings, embedding_dim}, 0, 1);
    if (padding >= 0) std::fill_n(table.mutate() + padding * embedding_dim, embedding_dim, real(0));
    weight = Parameter(table);
  }
  Tensor forward(const Tokens& ids) const { return embedding(weight, ids, padding_idx); }
  void visit(Visitor& v) override { v("weight", weight); }
};

}  // namespace mote
