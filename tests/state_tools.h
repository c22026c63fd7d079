// What tests of states share: their names, a module's bits, and entries made by hand.
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

/// Every bit of a module's parameters and buffers.
inline std::string bits_of(const Module& m) {
  std::string all;
  for (const StateEntry& e : state_dict(m)) {
    const std::vector<real> values = e.read().to_vector();
    all += e.name + text_of(e.shape);
    all.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(real));
  }
  return all;
}

inline StateEntry state_entry(const std::string& name, const Array& x) {
  return {name, x.shape(), [x] { return x; }};
}

}  // namespace mote::test
