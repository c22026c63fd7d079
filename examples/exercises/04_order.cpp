// 04: in which order gradients go back
// Difficulty 3 of 5, 20 minutes.
#include "examples/exercises/exercise.h"

// Values have numbers, and inputs[i] lists those that value i was computed from; a leaf has none. Backward gives every
// value a turn, in which it hands gradients to its inputs. When its own turn comes, all that were computed from it
// must have had theirs, or part of its gradient would arrive too late. So the order begins with `result`, and goes on
// so that each value stands before its inputs. No value stands there twice, and none that `result` does not depend on.
//
//   a, b, c = a * b, d = c + a, e = c * d, numbered from 0 (lesson 1):
//   backward_order({{}, {}, {0, 1}, {2, 0}, {2, 3}}, 4)  is  {4, 3, 2, 1, 0}, or with 0 before 1
//
// The numbers themselves say nothing about the order: elsewhere value 0 may be computed from value 7. Lesson 1 has two
// steps: collect() appends a value once all its inputs are there, and then the list is read from its end. You may
// write another function above this one. order.push_back(i) appends; std::find(order.begin(), order.end(), i) is
// order.end() if i is not in it; std::reverse(order.begin(), order.end()) turns it round.
std::vector<Index> backward_order(const std::vector<std::vector<Index>>& inputs, Index result) {
  your_code_here();  // replace this line
}
