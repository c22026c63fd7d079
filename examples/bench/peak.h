// Loops that only multiply and add in registers, or only read memory. Their speed is the best that this processor can
// do.
#pragma once

#include "engine/base/real.h"

namespace bench {

/// The loops for one instruction set. They are compiled once per instruction set, like mote's kernels.
struct PeakLoops {
  const char* name;  ///< the name of the instruction set
  /// x[i] = a b + x[i] for `values` values in registers, 8 times in each round.
  void (*multiply_adds)(mote::Index rounds, mote::real a, mote::real b, mote::real* x);
  mote::Index values;
  /// The sum of n elements without the last n mod 128. The elements are read as fast as memory allows.
  mote::real (*read)(const mote::real* x, mote::Index n);
};

// Each of these is defined only if it was built.
extern const PeakLoops peak_portable, peak_avx2, peak_avx512, peak_neon;

}  // namespace bench
