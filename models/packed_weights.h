// PackedWeights, copies of a model's weights in the order in which generation reads them.
#pragma once

#include <optional>
#include <vector>

#include "engine/kernels/gemm.h"
#include "nn/module.h"

namespace mote {

/// Packed copies of the weights of a model's Linear layers, for products of a few rows. During the lifetime of a
/// PackedWeights, such products read the copies. The products then run at the speed of memory bandwidth and give the
/// same bits. Most of the work of generating text token by token is such products. The copies need as much memory as
/// the weights.
///
/// generate() makes one PackedWeights for each call. Make one yourself around several calls with one model, so that
/// the weights are packed once. These calls then also share the check whether the model computes the same with a
/// cache. A weight that has changed is noticed, and the next call packs again. Only a write through a pointer that
/// mutate() returned before the packing is not noticed, so do not write through such a pointer. A PackedWeights is a
/// local variable and belongs to its thread. The model must outlive it and keep its layers.
class PackedWeights {
 public:
  /// `rows` is the number of rows of the products to come. Nothing is packed if there are more than
  /// UsePacked::most_rows.
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
  std::vector<Array> values_;  // the parameters' values, shared so that a write to a parameter copies and is noticed
  std::vector<Storage> elements_;
  std::vector<kernels::PackedWeight> weights_;
  std::optional<kernels::UsePacked> use_;
  PackedWeights* outer_;
  static inline constinit thread_local PackedWeights* open_ = nullptr;
};

}  // namespace mote
