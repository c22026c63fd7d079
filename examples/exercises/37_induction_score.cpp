// 37: how much of an induction head it is
// Difficulty 3 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// An induction head goes back to where its symbol stood the last time, and looks at what came after it: the same may
// come now. The score of a head says how much of its attention, from 0 to 1, goes there.
//
// weights [T, T] has a row for each position t that looks and a column for each that is looked at; ids [T] are the
// symbols. If the symbol of t has occurred before t, let p be its latest occurrence before t. What came after it stands
// at p + 1: take the weight in row t for p + 1. The score is the mean of these weights over those t alone; 0 if there
// are none.
//
//   position   0  1  2  3  4        t = 2: 7 stood at 0, take weights[2, 1]
//   ids        7  8  7  7  8        t = 3: 7 stood at 2 and earlier at 0, take weights[3, 3]
//                                   t = 4: 8 stood at 1, take weights[4, 2]
//
// If every row looks at 0 ... t alike, these are 1/3, 1/4 and 1/5, and the score is their mean, 0.2611.
// Add up in double. You may use: loops, ids.numel(), ids.at({t}), and weights.array().at({row, column}).
double induction_of(const Tensor& weights, const IntArray& ids) {
  your_code_here();  // replace this line
}
