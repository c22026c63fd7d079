// How an op offers the values inside it to observers that change them (Observer::changes).
#pragma once

#include "engine/autograd/op.h"

namespace mote {

/// Whether an observer changes one of these values: then the op runs as its formula, in ops that gradients pass.
inline bool reached(std::initializer_list<const char*> values) {
  const Watch* const watch = watching();
  for (const char* const value : values)
    if (watch && watch->changes(value)) return true;
  return false;
}

/// x, or what an observer makes of this value.
inline Tensor offered(const char* value, const Tensor& x) {
  Watch* const watch = watching();
  return watch ? watch->changed(value, x) : x;
}

}  // namespace mote
