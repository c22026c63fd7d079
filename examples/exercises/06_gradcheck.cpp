// 06: is this slope right?
// Difficulty 3 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// A wrong rule for a gradient raises no error: the model only learns worse. So every rule of mote is tested by a
// gradient check. Suppose that somebody claims that f has a certain slope at x. Measure the slope as in exercise 01,
//
//   measured = (f(x + h) - f(x - h)) / 2h,   h = 1e-5
//
// and return whether the claim agrees with the measured slope. The two never agree in all digits, so a small
// difference has to be allowed. If the slope is near a billion, the measurement is wrong by 0.001 or more, so the
// allowed difference has to grow with the slope. If the slope is 0, the measured slope is nearly 0 but not quite, so
// the allowed difference must not shrink to 0. This condition meets both demands:
//
//   |claimed - measured|  <  1e-6 * max(1, |claimed|, |measured|)
//
// std::abs(x) is |x|, and std::max({a, b, c}) is the largest of the three. A claim that is not a number (NaN) is never
// right.
//
//   for f(x) = x * x: is_slope(f, 3, 6) is true, is_slope(f, 3, 5.9) and is_slope(f, 3, 6.1) are false
bool is_slope(const std::function<double(double)>& f, double x, double claimed) {
  your_code_here();  // replace this line
}
