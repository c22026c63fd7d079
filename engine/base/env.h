// The MOTE_* environment variables, read once, checked, and explained.
#pragma once

#include <string>

namespace mote {

/// Settings from the environment. None of them changes a bit of any result: they choose how to compute, not what.
struct Settings {
  int threads = 0;   ///< MOTE_THREADS=1..1024: threads to compute with; unset or empty: one per core (parallel.h)
  std::string simd;  ///< MOTE_SIMD=portable, say: force an instruction set; unset: the best one here (dispatch.cpp)
  bool system_alloc = false;  ///< MOTE_ALLOC=system: no cache of freed blocks: sanitizers see every one (storage.h)
  bool debug = false;         ///< MOTE_DEBUG=1: one line on stderr per op, forward and backward
  bool origin = false;        ///< MOTE_DEBUG=origin: MOTE_CHECK=finite, whose error says what led to the number
  bool check_finite = false;  ///< MOTE_CHECK=finite: the first NaN or fresh infinity is an error
  bool profile = false;       ///< MOTE_PROFILE=1: at exit, on stderr, where the time went, by op and layer
};

/// The settings of this process. The first call reads the environment. Errors: a value not listed above.
const Settings& settings();

/// Reads the environment again: for tests that set variables after the program has started.
void reload_settings();

}  // namespace mote
