// The MOTE_* environment variables, which are read once and checked.
#pragma once

#include <string>

namespace mote {

/// Settings from the environment. None of them changes a bit of any result, because they choose only how to compute.
struct Settings {
  int threads = 0;   ///< MOTE_THREADS=1..1024: number of threads; if unset or empty, one per core (parallel.h)
  std::string simd;  ///< MOTE_SIMD=portable or another instruction set; if unset, the CPU's best (dispatch.cpp)
  bool system_alloc = false;  ///< MOTE_ALLOC=system: freed blocks are not cached, so sanitizers see each (storage.h)
  bool debug = false;         ///< MOTE_DEBUG=1: one line on stderr per op, forward and backward
  bool origin = false;        ///< MOTE_DEBUG=origin: like MOTE_CHECK=finite, but the error also names the preceding ops
  bool check_finite = false;  ///< MOTE_CHECK=finite: the first NaN, or infinity from finite inputs, is an error
  bool profile = false;       ///< MOTE_PROFILE=1: prints the time taken, by op and layer, on stderr at exit
};

/// The settings of this process. The first call reads the environment. Errors: a value not listed above.
const Settings& settings();

/// Reads the environment again, for tests that set variables after the program has started.
void reload_settings();

}  // namespace mote
