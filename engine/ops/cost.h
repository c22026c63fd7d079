// Rough costs of loops in nanoseconds, from which grain_for() computes the size of tasks. No result depends on them.
#pragma once

namespace mote::cost {

inline constexpr double simple = 0.2;        ///< per element that is copied, added or scaled
inline constexpr double exponential = 0.4;   ///< per element of a function such as exp, or of a softmax
inline constexpr double row = 15;            ///< per row, in addition to its elements
inline constexpr double norm = 0.3;          ///< per element of a norm; the gradient of a norm takes twice as long
inline constexpr double rotated_pair = 1.0;  ///< per pair of elements that is rotated

}  // namespace mote::cost
