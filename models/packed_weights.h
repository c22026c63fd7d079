// PackedWeights, copies of a model's weights in the order in which generation reads them.
#pragma once

#include <optional>
#include <vector>

#include "engine/kernels/gemm.h"
#include "nn/module.h"

namespace mote {

/// Packed copies of the weights of a model's Linear layers, which make products with few rows (tokens) faster. During
/// the lifetime of a PackedWeights, such products read the copies. The products then run at the speed of memory
/// bandwidth and give the same bits. Most of the work of generating text token by token is such products. The copies
/// need as much memory as the weights.
///
/// generate() makes one PackedWeights for each call. Make one yourself around several calls with one model, so that the
/// weights are packed once. These calls then also share the check that the model computes the same with a cache as
/// without. A weight that has changed is noticed, and the next call packs again. Only a write through a pointer that
/// mutate() returned before the packing is not noticed, so do not write through such a pointer. A PackedWeights must be
/// a local variable and works only on its thread. The model must outlive it and keep its layers.
class PackedWeights {
 public:
  /// `rows` is the smallest number of rows (tokens) in the products to come. If it is above UsePacked::most_rows,
  /// nothing is packed, because packed copies only help products with few rows.
  [[nodiscard]] explicit PackedWeights(const Module& model, Index rows = 1);
  ~PackedWeights();
  PackedWeights(const PackedWeights&) = delete;

  /// The innermost PackedWeights on this thread if it belongs to this model, otherwise null.
  static PackedWeights* open(const Module& model) { return open_ && open_->model_ == &model ? open_ : nullptr; }
  /// Packs again if a parameter has changed since the last call. Returns whether one has changed.
  bool refresh();

  Index compared = 0;  ///< tokens over which generate() has compared results with and without a cache; 0 after a change

 private:
  void pack();

  const Module* model_;
  bool few_;
  std::vector<Parameter> parameters_;
  /// The parameters' values when they were packed. The memory is shared, so a later write to a parameter copies its
  /// array, and refresh() sees that it has changed.
  std::vector<Array> values_;
  std::vector<Storage> elements_;
  std::vector<kernels::PackedWeight> weights_;
  std::optional<kernels::UsePacked> use_;
  PackedWeights* outer_;
  static inline constinit thread_local PackedWeights* open_ = nullptr;
};

}  // namespace mote
