// 10: one-hot rows
// Difficulty 2 of 5, 10 minutes.
#include "examples/exercises/exercise.h"

// A network computes with numbers, but an id is only a name: token 4 is not twice token 2. So an id among K becomes a
// row of K zeros with a single 1, in the column of that id: "one-hot". ids [N] become a table [N, K], a row for each;
// N, which is ids.numel(), may be 0.
//
//   one_hot(ints({2, 0}), 4)  is   0 0 1 0
//                                  1 0 0 0
//
// ids and columns are counted from 0. There are several ways: compare each id with each column; take rows of eye(K),
// the table with 1 on its diagonal; or write into an array. tensor(ids) makes numbers of ids, and of a mask (which is
// what == gives) 0 and 1; arange(K) is 0, 1, ... K - 1; unsqueeze(x, axis) inserts an axis of extent 1; ids.at({i}) is
// one id. Array y = Array::zeros({N, K}) has y.mutate()[position], counted row after row.
Tensor one_hot(const IntArray& ids, Index K) {
  your_code_here();  // replace this line
}
