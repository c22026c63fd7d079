// What tests of states share: their names, and entries made by hand.
#pragma once

#include <string>

#include "nn/state_dict.h"

namespace mote::test {

/// All names, joined by spaces.
inline std::string names_of(const StateDict& state) {
  std::string names;
  for (const StateEntry& e : state) names += (names.empty() ? "" : " ") + e.name;
  return names;
}

inline StateEntry state_entry(const std::string& name, const Array& x) {
  return {name, x.shape(), [x] { return x; }};
}

}  // namespace mote::test
