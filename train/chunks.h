// ChunkedLoop, one parallel loop over the elements of many arrays.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/base/storage.h"

namespace mote::detail {

/// A list that a warm training step builds without a request to the system.
template <class T>
using StepList = std::vector<T, CachedAllocator<T>>;

/// Runs over the elements of all items, cut into chunks that never span two items: a small model has dozens of arrays,
/// each too small for a parallel loop of its own. An item has a field `numel`.
class ChunkedLoop {
 public:
  explicit ChunkedLoop(Index chunk) : chunk_(chunk) {}
  template <class Items>
  ChunkedLoop(const Items& items, Index chunk) : chunk_(chunk) {
    reserve(items.size());
    set(items);
  }
  /// Room for so many items, for which set() then needs no memory.
  void reserve(std::size_t items) { first_.reserve(items + 1); }
  template <class Items>
  void set(const Items& items) {
    first_.assign(1, 0);
    elements_ = 0;
    for (const auto& item : items) {
      first_.push_back(first_.back() + (item.numel + chunk_ - 1) / chunk_);
      elements_ += item.numel;
    }
  }
  /// The chunks of all items are numbered through; those of item i begin with this one, and end before first(i + 1).
  Index first(std::size_t i) const { return first_[i]; }
  Index chunks() const { return first_.back(); }

  /// Calls body(item, begin, count, number of the chunk) for every chunk, in parallel.
  template <class Items, class Body>
  void run(Items& items, double nanoseconds_per_element, Body body) const {
    const double elements = static_cast<double>(elements_) / static_cast<double>(std::max<Index>(chunks(), 1));
    parallel_for(chunks(), grain_for(nanoseconds_per_element * elements), [&](Index lo, Index hi) {
      std::size_t i = static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), lo) - first_.begin()) - 1;
      for (Index c = lo; c < hi; ++c) {
        while (first_[i + 1] <= c) ++i;
        const Index begin = (c - first_[i]) * chunk_;
        body(items[i], begin, std::min(chunk_, items[i].numel - begin), c);
      }
    });
  }

 private:
  Index chunk_, elements_ = 0;
  StepList<Index> first_;
};

}  // namespace mote::detail
