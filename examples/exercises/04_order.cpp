// 04: in which order gradients go back
// Difficulty 3 of 5, 20 minutes.
#include "examples/exercises/exercise.h"

// The values of a computation are numbered, and inputs[i] lists the values that value i was computed from. A leaf has
// no inputs. Backward visits one value after the other, and each visited value gives its inputs their gradients.
// Before a value is visited, all values that were computed from it must have been visited, because otherwise part of
// its gradient would arrive too late. Return the numbers of the values in the order of the visits: `result` comes
// first, and each value comes before its inputs. Each value that `result` depends on occurs once, and no other value
// occurs.
//
//   The values a, b, c = a * b, d = c + a and e = c * d of lesson 1 have the numbers 0 to 4:
//   backward_order({{}, {}, {0, 1}, {2, 0}, {2, 3}}, 4)  is  {4, 3, 2, 1, 0} or {4, 3, 2, 0, 1}.
//
// The numbers say nothing about the order, because in another computation value 0 may be computed from value 7.
// Lesson 1 takes two steps. First collect() lists the values, and appends a value only after all its inputs are in the
// list. Then the list is read from its end. You may write another function above this one. order.push_back(i) appends
// i. std::find(order.begin(), order.end(), i) is order.end() if i is not in the list. std::reverse(order.begin(),
// order.end()) reverses the list.
std::vector<Index> backward_order(const std::vector<std::vector<Index>>& inputs, Index result) {
  your_code_here();  // replace this line
}
