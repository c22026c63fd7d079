// 30: clipping
// Difficulty 2 of 5, 10 minutes.
#include "examples/exercises/exercise.h"

// One unusual batch can have gradients so large that a single step undoes what a thousand steps have learned. So
// before each step all gradients together are treated as one long vector, and this vector is shortened if it is too
// long:
//
//   norm = sqrt(sum of the squares of all elements of all arrays)
//   if norm > longest: every element is multiplied by longest / norm; otherwise nothing changes
//
//   gradients {{3, 0}, {4}} and longest 1: the norm is 5, so they become {{0.6, 0}, {0.8}}, and 5 is returned
//
// The function returns the norm before clipping, because it is worth watching during training.
//
// You may use: sum(a).item(), which is the sum of an Array's elements as a number; + - * / of Arrays with each other
// and with numbers. You may not use mote's clip_grad_norm. clip_grad_norm is the function that you write here, except
// that it divides by norm + 1e-6, as PyTorch does.
double clip_together(std::vector<Array>& gradients, double longest) {
  your_code_here();  // replace this line
}
