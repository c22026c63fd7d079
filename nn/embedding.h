// Embedding, a table whose rows are selected by ids.
#pragma once

#include <algorithm>
#include <optional>

#include "engine/ops/embedding.h"
#include "nn/init.h"
#include "nn/module.h"

namespace mote {

/// Selects rows of weight [V, C] by id: ids [...] -> [..., C]. The weight is drawn from N(0, 1), as in PyTorch.
/// padding_idx, if given, is a row that starts as zeros and gets no gradient. A negative padding_idx counts from the
/// end. Errors: an id outside [0, V), a padding_idx outside [-V, V).
struct Embedding : Layer<Embedding> {
  Parameter weight;
  std::optional<Index> padding_idx;

  Embedding(Integer num_embeddings, Integer embedding_dim, const Init& init)
      : weight(init.normal({num_embeddings, embedding_dim}, 0, 1)) {}
  Embedding(Integer num_embeddings, Integer embedding_dim, const Init& init, Integer padding)
      : padding_idx(padding_row("Embedding", padding, num_embeddings)) {
    Array table = init.normal({num_embeddings, embedding_dim}, 0, 1);
    if (init.draws()) std::fill_n(table.mutate() + *padding_idx * embedding_dim, Index(embedding_dim), real(0));
    weight = Parameter(table);
  }
  __attribute__((unavailable("pass the Generator that weights are drawn from: Embedding(V, C, random)")))
  Embedding(Integer, Integer);
  Tensor forward(const IntArray& ids) const {
    return padding_idx ? embedding(weight, ids, *padding_idx) : embedding(weight, ids);
  }
  void visit(Visitor& v) override { v("weight", weight); }
};

}  // namespace mote
