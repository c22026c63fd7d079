// 02: the gradient of a product
// Difficulty 1 of 5, 5 minutes.
#include "examples/exercises/exercise.h"

// Backward goes from the result L of a computation back to its inputs. Suppose that one step of the computation was
// z = x * y. Backward has already computed dz, which is short for the derivative dL/dz: if z grows by a little, L
// grows by dz times as much. Compute the derivatives dL/dx and dL/dy.
//
// When x grows by 1, z grows by y, since (x + 1) * y = x * y + y. By the chain rule L then grows by dz times the
// growth of z.
//
//   product_gradients(2, 5, 1)   is {5, 2}       dL/dx first, then dL/dy
//   product_gradients(2, 5, 10)  is {50, 20}
//
// A pair of numbers is returned in braces: return {1, 2};
std::pair<double, double> product_gradients(double x, double y, double dz) {
  your_code_here();  // replace this line
}
