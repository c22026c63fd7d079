// 04: in which order gradients go back
// Difficulty 3 of 5, 20 minutes.
#include "examples/exercises/exercise.h"

// The values of a computation are numbered, and inputs[i] lists the values that value i was computed from. A leaf has
// no inputs. Backward visits one value after the other, and each visited value gives its inputs their gradients.
// Before a value is visited, all values that were computed from it must have been visited, because otherwise part of
// its gradient would arrive too late. So the order begins with `result`, and each value stands before its inputs. The
// order contains each value that `result` depends on once, and no other value.
//
//   a, b, c = a * b, d = c + a, e = c * d, numbered from 0 (lesson 1):
//   backward_order({{}, {}, {0, 1}, {2, 0}, {2, 3}}, 4)  is  {4, 3, 2, 1, 0}, or with 0 before 1
//
// The numbers say nothing about the order, because in another computation value 0 may be computed from value 7.
// Lesson 1 takes two steps: collect() appends a value to a list once all its inputs are in the list, and then the list
// is read from its end. You may write another function above this one. order.push_back(i) appends i.
// std::find(order.begin(), order.end(), i) is order.end() if i is not in the list. std::reverse(order.begin(),
// order.end()) reverses the list.
std::vector<Index> backward_order(const std::vector<std::vector<Index>>& inputs, Index result) {
  your_code_here();  // replace this line
}
