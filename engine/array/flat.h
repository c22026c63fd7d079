// Flat<T>, the shaped, contiguous, shared values behind IntArray (integers) and Mask (booleans).
#pragma once

#include <span>
#include <vector>

#include "engine/base/shape.h"
#include "engine/base/storage.h"

namespace mote {

/// Values of type T with a shape, row-major. Copying is cheap and safe, as with Array: mutate() copies shared values
/// first.
template <class T>
class Flat {
 public:
  Flat() = default;
  explicit Flat(const Shape& shape, T value = T()) : shape_(shape), storage_(bytes(shape)) {
    std::fill_n(static_cast<T*>(storage_.data()), shape.numel(), value);
  }
  Flat(const Shape& shape, std::span<const T> values) : shape_(shape) {
    check_in("flat", static_cast<Index>(values.size()) == shape.numel(), values.size(), " values do not fill shape ",
             shape);
    storage_ = Storage(bytes(shape));
    std::copy(values.begin(), values.end(), static_cast<T*>(storage_.data()));
  }

  bool defined() const { return static_cast<bool>(storage_); }
  /// Errors: no values were ever given.
  const Shape& shape() const {
    check_in("flat", defined(), "these tokens or this mask are not defined");
    return shape_;
  }
  int rank() const { return shape().rank(); }
  Index numel() const { return shape().numel(); }
  const T* data() const { return static_cast<const T*>(storage_.data()); }
  T* mutate() {
    if (!storage_.unique()) *this = Flat(shape_, std::span<const T>(data(), static_cast<std::size_t>(numel())));
    return static_cast<T*>(storage_.data());
  }
  std::span<const T> values() const { return {data(), static_cast<std::size_t>(numel())}; }
  std::vector<T> to_vector() const { return {values().begin(), values().end()}; }
  /// The value at `index`, one position per axis; negative ones count from the end. Errors: out of range.
  T at(std::initializer_list<Index> index) const {
    check_in("at", static_cast<int>(index.size()) == rank(), index.size(), " positions for shape ", shape_);
    Index offset = 0;
    int axis = 0;
    for (const Index position : index) {
      const Index extent = shape_[axis++];
      check_in("at", position >= -extent && position < extent, "position ", position, " is out of range for ", shape_);
      offset = offset * extent + (position < 0 ? position + extent : position);
    }
    return data()[offset];
  }

 protected:
  Flat reshaped(const Shape& shape) const {
    check_in("reshape", shape.numel() == numel(), "shape ", shape_, " does not fit ", shape);
    Flat copy = *this;
    copy.shape_ = shape;
    return copy;
  }

 private:
  static std::size_t bytes(const Shape& shape) { return static_cast<std::size_t>(shape.numel()) * sizeof(T); }
  Shape shape_;
  Storage storage_;
};

}  // namespace mote
