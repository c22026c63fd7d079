// The measurements, one file each.
#pragma once

#include "examples/bench/output.h"
#include "examples/options.h"

namespace bench {

/// Reads its options and measures; nothing if they ask for help, which is then printed. Errors: a mistake in them is a
/// UsageError.
using Command = void(int argc, char** argv, Output& out);
Command limits, matmul, ops, train, generate, memory, overhead;

/// Parses `options`, of which `common` is a group, and sets threads and output; false if help was printed.
inline bool begin(Options& options, int argc, char** argv, Common& common, Output& out) {
  options.add("All measurements", common);
  if (!options.parse({argc, argv})) return false;
  checked_usage([&] { common.apply(); });
  out.open(common.json);
  return true;
}

}  // namespace bench
