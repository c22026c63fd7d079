// 10: one-hot rows
// Difficulty 2 of 5, 10 minutes.
#include "examples/exercises/exercise.h"

// A network computes with numbers, but an id is only a name: token 4 is not twice token 2. So each id becomes a row of
// K numbers, where K is the number of possible ids. The row has a 1 in the column of the id and 0 in all other
// columns. Such a row is called one-hot. ids [N] become a table [N, K] with a row for each id. N is ids.numel() and
// may be 0.
//
//   one_hot(ints({2, 0}), 4)  is   0 0 1 0
//                                  1 0 0 0
//
// ids and columns are counted from 0. There are several ways: compare each id with each column; take rows of eye(K),
// the table with 1 on its diagonal; or write into an array. tensor(ids) is a tensor of the ids as numbers. The
// comparison == gives a mask, and tensor(mask) turns the mask into zeros and ones. arange(K) is 0, 1, ... K - 1.
// unsqueeze(x, axis) inserts an axis of extent 1. ids.at({i}) is one id. With Array y = Array::zeros({N, K}),
// y.mutate()[position] is an element that you can write, and positions are counted row by row.
Tensor one_hot(const IntArray& ids, Index K) {
  your_code_here();  // replace this line
}
