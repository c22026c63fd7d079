// Loops that do nothing but multiply and add in registers, or read memory: what this processor can do at best.
#pragma once

#include "engine/base/real.h"

namespace bench {

/// Compiled once per instruction set, like mote's kernels.
struct PeakLoops {
  const char* name;  ///< of the instruction set
  /// x[i] = a b + x[i] for `values` values in registers, 8 times in each round.
  void (*multiply_adds)(mote::Index rounds, mote::real a, mote::real b, mote::real* x);
  mote::Index values;
  /// The sum of n elements but for the last n mod 128, as fast as they come from memory.
  mote::real (*read)(const mote::real* x, mote::Index n);
};

// Each is there if it was built.
extern const PeakLoops peak_portable, peak_avx2, peak_avx512, peak_neon;

}  // namespace bench
