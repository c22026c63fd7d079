// 37: how much of an induction head it is
// Difficulty 3 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// An induction head finds the latest earlier occurrence of the current symbol. It attends to the symbol that came
// after this occurrence, because the same symbol may come next now. The score of a head is the share of its attention,
// from 0 to 1, that goes to this symbol.
//
// weights [T, T] has a row for each position t that attends and a column for each position that is attended to. ids
// [T] are the symbols. If the symbol at t has occurred before t, let p be its latest position before t. The symbol
// that came after it is at p + 1, so take the weight in row t and column p + 1. The score is the mean of these
// weights, over only those t whose symbol has occurred before. The score is 0 if there is no such t.
//
//   position   0  1  2  3  4        t = 2: 7 stood at 0, take weights[2, 1]
//   ids        7  8  7  7  8        t = 3: 7 stood at 2 and earlier at 0, take weights[3, 3]
//                                   t = 4: 8 stood at 1, take weights[4, 2]
//
// If every row t gives equal weights to the columns 0 to t, the three weights of this example are 1/3, 1/4 and 1/5.
// Their mean is the score, 0.2611.
//
// Sum in double. You may use: loops, ids.numel(), ids.at({t}), and weights.array().at({row, column}).
double induction_of(const Tensor& weights, const IntArray& ids) {
  your_code_here();  // replace this line
}
