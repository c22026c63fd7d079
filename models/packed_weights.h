// PackedWeights, the weights of a model as generation reads them.
#pragma once

#include <optional>
#include <vector>

#include "engine/kernels/gemm.h"
#include "nn/module.h"

namespace mote {

/// During its lifetime, products of a few rows with the weights of a model's Linear layers read packed copies. That is
/// what happens when text is generated token by token. They run at the speed of memory, with the same bits. The copies
/// take the memory of the weights once more.
///
/// generate() opens one for each call. Open one yourself around several calls with one model, which then also share
/// what generate() has found out about the model's cache. A weight that changes meanwhile is noticed: the next call
/// packs anew. A pointer that mutate() returned before must not be written through any more, as with a recorded graph.
/// It is a local variable and belongs to its thread. The model must outlive it and keep its layers.
class PackedWeights {
 public:
  /// For products of `rows` rows: nothing is packed if they are many.
  [[nodiscard]] explicit PackedWeights(const Module& model, Index rows = 1);
  ~PackedWeights();
  PackedWeights(const PackedWeights&) = delete;

  /// The innermost one on this thread if it is of this model, or null.
  static PackedWeights* open(const Module& model) { return open_ && open_->model_ == &model ? open_ : nullptr; }
  /// Packs anew if a parameter has changed since the last call, and says whether one has.
  bool refresh();

  Index compared = 0;  ///< tokens over which generate() has compared results with and without a cache; 0 after a change

 private:
  void pack();

  const Module* model_;
  bool few_;
  std::vector<Parameter> parameters_;
  std::vector<Array> values_;  // theirs, shared: so a write in place makes a copy, and no other array has their place
  std::vector<Storage> elements_;
  std::vector<kernels::PackedWeight> weights_;
  std::optional<kernels::UsePacked> use_;
  PackedWeights* outer_;
  static inline constinit thread_local PackedWeights* open_ = nullptr;
};

}  // namespace mote
