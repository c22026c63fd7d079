// 24: rotary positions
// Difficulty 3 of 5, 20 minutes.
#include "examples/exercises/exercise.h"

// Llama does not add positions to its tokens. Instead it rotates queries and keys. In a row of d numbers, number i and
// number i + d/2 form a pair a, b, which is a point in the plane. (A pair is not two neighbours. It is one number from
// each half of the row.) Row t is at position t, counted from 0. In row t each pair is rotated about the origin by its
// own angle, which is t times the speed of the pair:
//
//   angle = t * 10000^(-2i/d)       new a = a cos(angle) - b sin(angle)
//   i = 0 ... d/2 - 1               new b = b cos(angle) + a sin(angle)                 x [..., T, d] -> [..., T, d]
//
// The dot product of a query and a key then depends on the distance of their positions, not on the positions
// themselves.
//
//   turned_by_place(tensor({{1, 2, 3, 4}, {1, 2, 3, 4}}))  is  {{1, 2, 3, 4}, {-1.984, 1.960, 2.462, 4.020}}
//
// You may use: arange(n), which is 0, 1, ... n - 1; exp, cos, sin; unsqueeze(t, 1) * speeds, which has a row for each
// t; slice(x, -1, from, to), which is the columns of x from `from` to `to` - 1; concat({a, b}, -1), which puts a and b
// side by side. You may not use mote's rotary, because it is the function that you write here.
Tensor turned_by_place(const Tensor& x) {
  your_code_here();  // replace this line
}
