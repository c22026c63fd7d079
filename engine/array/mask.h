// Mask, booleans with a shape; comparisons of tensors make them (ops/compare.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/array/flat.h"
#include "engine/array/nested.h"

namespace mote {

/// Booleans with a shape, one byte each.
class Mask : public Flat<std::uint8_t> {
 public:
  using Flat::Flat;
  Mask(Flat<std::uint8_t> flat) : Flat(std::move(flat)) {}
  Mask reshape(const Shape& shape) const { return reshaped(shape); }
  Index count() const {
    Index n = 0;
    for (const std::uint8_t b : values()) n += b != 0;
    return n;
  }

  /// Element i * stride(0) + j * stride(1) + ... of data() stands at [i, j, ...] of shape `to`; 0 where an axis is
  /// stretched. Errors: this mask does not broadcast to it.
  std::array<Index, Shape::max_rank> strides_in(const Shape& to) const {
    bool fits = to.rank() >= rank();
    for (int i = 1; fits && i <= rank(); ++i) fits = shape()[-i] == 1 || shape()[-i] == to[-i];
    check_in("mask", fits, "mask ", shape(), " does not broadcast to ", to);
    std::array<Index, Shape::max_rank> strides{};
    Index step = 1;
    for (int i = 1; i <= rank(); ++i) {
      strides[static_cast<std::size_t>(to.rank() - i)] = shape()[-i] == 1 ? 0 : step;
      step *= shape()[-i];
    }
    return strides;
  }
  /// Written out to `shape`.
  Mask expand(const Shape& to) const {
    if (to == shape()) return *this;
    const auto strides = strides_in(to);
    Mask out(to);
    if (out.numel() == 0) return out;
    const Index row = to.rank() ? to[-1] : 1;  // rows of the last axis are copied, or filled with one value, whole
    const bool stretched = to.rank() == 0 || strides[static_cast<std::size_t>(to.rank() - 1)] == 0;
    const std::uint8_t* const x = data();
    std::uint8_t* const y = out.mutate();
    for (Index i = 0; i < out.numel(); i += row) {
      Index left = i / row, offset = 0;
      for (int axis = to.rank() - 2; axis >= 0; --axis) {
        offset += left % to[axis] * strides[static_cast<std::size_t>(axis)];
        left /= to[axis];
      }
      if (stretched)
        std::fill_n(y + i, row, x[offset]);
      else
        std::copy_n(x + offset, row, y + i);
    }
    return out;
  }

  friend Mask operator&(const Mask& a, const Mask& b) {
    return combine(a, b, [](bool x, bool y) { return x && y; });
  }
  friend Mask operator|(const Mask& a, const Mask& b) {
    return combine(a, b, [](bool x, bool y) { return x || y; });
  }
  friend Mask operator~(const Mask& a) {
    Mask out = a;
    std::uint8_t* const y = out.mutate();
    for (Index i = 0; i < out.numel(); ++i) y[i] = !y[i];
    return out;
  }

 private:
  template <class F>
  static Mask combine(const Mask& a, const Mask& b, F f) {
    const Shape shape = broadcast(a.shape(), b.shape());
    const Mask x = a.expand(shape), z = b.expand(shape);
    Mask out(shape);
    std::uint8_t* const y = out.mutate();
    for (Index i = 0; i < out.numel(); ++i) y[i] = f(x.data()[i] != 0, z.data()[i] != 0);
    return out;
  }
};

/// mask({{true, false}, {true, true}}) is [2, 2]. Errors: lists of unequal lengths.
inline Mask mask(const Nested<bool>& list) {
  Shape shape;
  const std::vector<bool> values = list.flatten(shape);
  Mask m(shape);
  std::copy(values.begin(), values.end(), m.mutate());
  return m;
}

}  // namespace mote
