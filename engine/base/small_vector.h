// SmallVector, a list whose first elements need no allocation.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace mote {

/// A list that grows at its end. The object itself holds the first `few` elements.
template <class T, std::size_t few, class Allocator = std::allocator<T>>
class SmallVector {
 public:
  std::size_t size() const { return size_; }
  const T& operator[](std::size_t i) const { return i < few ? first_[i] : rest_[i - few]; }
  T& operator[](std::size_t i) { return i < few ? first_[i] : rest_[i - few]; }
  void push_back(T item) {
    if (size_ < few)
      first_[size_] = std::move(item);
    else
      rest_.push_back(std::move(item));
    ++size_;
  }
  /// Makes the list empty. The first `few` elements are not destroyed, but stay in the object until they are
  /// overwritten.
  void clear() {
    size_ = 0;
    rest_.clear();
  }

 private:
  std::size_t size_ = 0;
  std::array<T, few> first_;
  std::vector<T, Allocator> rest_;
};

}  // namespace mote
