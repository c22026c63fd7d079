// PackedWeights, a scope that keeps weights as products of a few rows read them: generation's weights.
#pragma once

#include <memory>
#include <vector>

#include "engine/array/array.h"
#include "engine/kernels/gemm.h"

namespace mote {

/// During its lifetime, linear() of a few rows under NoGrad, as when a model generates token by token, packs each
/// weight the first time and reads the packed copy from then on: at the speed of memory, with the same bits. A row at a
/// time would otherwise pack or transpose every weight for every token. It costs the memory of the weights once more.
///
/// A weight that changed is noticed: the copy shares the storage of the array that it was made of, so whoever writes
/// through Parameter::set() or mutate() gets another one, which is packed anew. (A pointer that mutate() returned
/// before must not be written through any more, as with a recorded graph.)
///
/// generate() opens one for each call. Open one yourself around several calls, or around forward passes with a cache:
/// one inside another does nothing. It belongs to its thread; threads that share a model have copies of their own.
class PackedWeights {
 public:
  [[nodiscard]] PackedWeights() {
    if (!open_) open_ = this;
  }
  ~PackedWeights() {
    if (open_ == this) open_ = nullptr;
  }
  PackedWeights(const PackedWeights&) = delete;

  /// The one that is open on this thread, or null.
  static PackedWeights* open() { return open_; }
  /// Rows that count as few.
  static constexpr Index most_rows = 8;

  /// The packed copy of a contiguous weight [out, in].
  kernels::PackedWeight of(const Array& weight);

 private:
  struct Packed {
    const real* weight;                   // what it was made of
    std::shared_ptr<const Array> source;  // keeps it there: one array for all weights that are slices of one storage
    Storage elements;
    kernels::PackedWeight panels;
  };

  static inline constinit thread_local PackedWeights* open_ = nullptr;
  std::vector<Packed> packed_;
  std::size_t next_ = 0;  // where the next lookup begins: a model asks for its weights in the same order every time
};

namespace detail {
/// x W^T + bias from an open PackedWeights: x [..., in], weight [out, in], bias [out] or not defined -> [..., out]. Not
/// defined if there is none, or if this product is not one of a few rows.
Array packed_linear(const Array& x, const Array& weight, const Array& bias);
}  // namespace detail

}  // namespace mote
