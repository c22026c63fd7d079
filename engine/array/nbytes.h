// nbytes: how many bytes of elements a value holds.
#pragma once

#include <type_traits>

#include "engine/base/real.h"

namespace mote {

/// The number of bytes of the elements that x holds. x is an array, a mask, a Storage, or a list of those or of plain
/// values. The result is 0 for a plain value and for an array that is not defined.
template <class T>
Index nbytes(const T& x) {
  Index bytes = 0;
  if constexpr (requires { x.bytes(); }) {
    bytes = static_cast<Index>(x.bytes());
  } else if constexpr (requires { x.defined() && x.data(); }) {
    if (x.defined()) bytes = x.numel() * static_cast<Index>(sizeof(*x.data()));
  } else if constexpr (requires { typename T::value_type; }) {
    using Item = typename T::value_type;
    if constexpr (std::is_trivially_copyable_v<Item>) return static_cast<Index>(x.size() * sizeof(Item));
    for (const Item& item : x) bytes += nbytes(item);
  }
  return bytes;
}

}  // namespace mote
