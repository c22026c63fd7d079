// The floating-point type of the whole library, and the type of sizes and positions.
#pragma once

#include <cstdint>

#if __cplusplus < 202002L
#error "mote: compile as C++20, with -std=c++20"
#endif
// Ops are header code. A program that compiles them with -ffast-math or the other options below would lose NaN,
// infinity and the order of its sums. Of these options, Clang has macros only for -ffast-math and -ffinite-math-only.
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0)
#error "mote: compile without -ffast-math, -Ofast and -ffinite-math-only; its results depend on exact arithmetic"
#elif defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__)
#error "mote: compile without -funsafe-math-optimizations and its parts; its results depend on exact arithmetic"
#elif __FLT_EVAL_METHOD__ != 0
#error "mote: compile without -mfpmath=387; its results depend on sums that are rounded to their own type"
#endif

namespace mote {

#ifdef MOTE_REAL_DOUBLE
/// The type of the elements of tensors, double in the library `mote_f64`. Tests of mote_f64 show whether the
/// mathematics is right.
using real = double;
#else
/// The type of the elements of tensors, float in the library `mote`. Tests of mote show whether the fast code computes
/// the same mathematics.
using real = float;
#endif

/// The type of sizes, positions and token ids. It has 64 bits on every platform, so that no product of extents is
/// silently truncated.
using Index = std::int64_t;

}  // namespace mote
