// The layers once more, in double and as plain loops, for oracles.
#pragma once

#include "tests/check_module.h"
#include "tests/row_oracles.h"

namespace mote::test {

constexpr std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// None if a layer does without it.
inline const Value* optional_of(const Weights& w, const std::string& name) {
  const auto found = w.find(name);
  return found == w.end() ? nullptr : &found->second;
}
/// `prefix` + "weight" [out, in] and, if there is one, "bias": x [n, in] -> [n, out].
inline Row linear_oracle(const Weights& w, const std::string& prefix, const Row& x) {
  return linear_rows(x, w.at(prefix + "weight"), optional_of(w, prefix + "bias"));
}

/// sin(a i + b) for i = 0, 1, ...: numbers that are easily made again elsewhere.
inline Array wave(const Shape& shape, double a, double b) {
  Array x = Array::empty(shape);
  real* const out = x.mutate();
  for (Index i = 0; i < x.numel(); ++i) out[i] = static_cast<real>(std::sin(a * static_cast<double>(i) + b));
  return x;
}

}  // namespace mote::test
