// Loops that only multiply and add in registers, or only read memory. Their speed is the best that this processor can
// do.
#pragma once

#include "engine/base/real.h"

namespace bench {

/// The loops for one instruction set. They are compiled once per instruction set, like mote's kernels.
struct PeakLoops {
  const char* name;  ///< the name of the instruction set
  /// Sets x[i] to a b + x[i] for each i below `values`, 8 times in each of `rounds` rounds. All x[i] stay in registers.
  void (*multiply_adds)(mote::Index rounds, mote::real a, mote::real b, mote::real* x);
  mote::Index values;
  /// Returns the sum of n elements, which are read as fast as the memory allows. The loop takes 128 elements at a time,
  /// so the last n mod 128 are left out.
  mote::real (*read)(const mote::real* x, mote::Index n);
};

// The loops of an instruction set are defined only if the build contains this instruction set.
extern const PeakLoops peak_portable, peak_avx2, peak_avx512, peak_neon;

}  // namespace bench
