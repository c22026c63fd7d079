// Rough costs of loops in nanoseconds, from which grain_for() computes the size of tasks. No result depends on them.
#pragma once

namespace mote::cost {

inline constexpr double simple = 0.2;        ///< an element copied, added or scaled
inline constexpr double exponential = 0.4;   ///< an element of a function such as exp, or of a softmax
inline constexpr double row = 15;            ///< a row, in addition to its elements
inline constexpr double norm = 0.3;          ///< an element of a norm; its gradient takes twice as long
inline constexpr double rotated_pair = 1.0;  ///< a pair of elements rotated

}  // namespace mote::cost
