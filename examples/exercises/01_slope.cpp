// 01: the slope of a curve
// Difficulty 1 of 5, 5 minutes.
#include "examples/exercises/exercise.h"

// The slope of f at x is the rate at which f(x) grows when x grows. For example, with a slope of 6 f(x) grows by 0.06
// if x grows by 0.01. Training moves every weight against the slope of the loss. Code that computes slopes is tested
// by measuring them: go a small step h from x to either side, take the difference of f between these two points, and
// divide it by the distance between them.
//
//   slope = (f(x + h) - f(x - h)) / 2h
//
// f is a function of one number: call it, as in f(3). Take h = 1e-5, which is 0.00001. With a larger step the bend of
// the curve would distort the result. With a far smaller step the difference would have hardly any correct digits,
// because a double has only 16 digits. If two numbers agree in 15 digits, their difference has one correct digit.
//
//   for f(x) = x * x at x = 3: (3.00001 * 3.00001 - 2.99999 * 2.99999) / 0.00002 = 6
double slope(const std::function<double(double)>& f, double x) {
  your_code_here();  // replace this line
}
