// The floating-point type of the whole library, and the type of sizes and positions.
#pragma once

#include <cstdint>

#if __cplusplus < 202002L
#error "mote: compile as C++20, with -std=c++20"
#endif
// Ops are header code, so a program compiled with the options below would lose NaN, infinity and the order of its
// sums. Clang's macros show only -ffast-math and -ffinite-math-only.
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0)
#error "mote: compile without -ffast-math, -Ofast and -ffinite-math-only; its results depend on exact arithmetic"
#elif defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__)
#error "mote: compile without -funsafe-math-optimizations and its parts; its results depend on exact arithmetic"
#elif __FLT_EVAL_METHOD__ != 0
#error "mote: compile without -mfpmath=387; its results depend on sums that are rounded to their own type"
#endif

namespace mote {

#ifdef MOTE_REAL_DOUBLE
/// The library `mote_f64`: the same sources with `real` = double. It answers "is the mathematics right?".
using real = double;
#else
/// The library `mote`: `real` = float. It answers "is the fast code the same mathematics?".
using real = float;
#endif

/// Sizes, positions and token ids: 64 bits everywhere, so that no product of extents is silently truncated.
using Index = std::int64_t;

}  // namespace mote
