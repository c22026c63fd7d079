// 30: clipping
// Difficulty 2 of 5, 10 minutes.
#include "examples/exercises/exercise.h"

// One odd batch can have gradients so large that a single step undoes what a thousand have learned. So before each step
// one measures all gradients together, as if they were one long vector, and shortens that vector if it is too long:
//
//   norm = sqrt(sum of the squares of all elements of all arrays)
//   if norm > longest: every element is multiplied by longest / norm; otherwise nothing changes
//
//   gradients {{3, 0}, {4}} and longest 1: the norm is 5, so they become {{0.6, 0}, {0.8}}, and 5 is returned
//
// Returns the norm as it was before: whoever trains wants to see it.
//
// You may use: sum(a).item() is the sum of an Array's elements as a number; Arrays have + - * / among each other and
// with numbers. mote's clip_grad_norm is what you write here, but for 1e-6 that it adds to the norm, as PyTorch's.
double clip_together(std::vector<Array>& gradients, double longest) {
  your_code_here();  // replace this line
}
