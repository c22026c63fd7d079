// 01: the slope of a curve
// Difficulty 1 of 5, 5 minutes.
#include "examples/exercises/exercise.h"

// The slope of f at x says how many times as fast f(x) grows as x does. Training moves every weight against its slope,
// and whoever writes a rule for slopes tests it by measuring: go a little step h from x to either side, see how far f
// rises between the two, and divide by how far they are apart.
//
//   slope = (f(x + h) - f(x - h)) / 2h
//
// f is a function of one number: call it, as in f(3). Take h = 1e-5, which is 0.00001. A larger step would see that the
// curve bends. A far smaller one would leave nothing to see: a double has 16 digits, and if two numbers agree in 15 of
// them, their difference has one digit left.
//
//   for f(x) = x * x at x = 3: (3.00001 * 3.00001 - 2.99999 * 2.99999) / 0.00002 = 6
double slope(const std::function<double(double)>& f, double x) {
  your_code_here();  // replace this line
}
