// 24: rotary positions
// Difficulty 3 of 5, 20 minutes.
#include "examples/exercises/exercise.h"

// Llama adds nothing to its tokens to tell them their places: it turns queries and keys. Numbers i and i + d/2 of a row
// of d numbers, call them a and b, are a point in the plane. (Halves make pairs, not neighbours.) Row t is at place t,
// from 0 on; there each pair is turned about the origin by its own angle, t times the pair's speed:
//
//   angle = t * 10000^(-2i/d)       new a = a cos(angle) - b sin(angle)
//   i = 0 ... d/2 - 1               new b = b cos(angle) + a sin(angle)                 x [..., T, d] -> [..., T, d]
//
// A query times a key then depends on how far apart they stand, not on where.
//
//   turned_by_place(tensor({{1, 2, 3, 4}, {1, 2, 3, 4}}))  is  {{1, 2, 3, 4}, {-1.984, 1.960, 2.462, 4.020}}
//
// You may use: arange(n) is 0, 1, ... n - 1; exp, cos, sin; unsqueeze(t, 1) * speeds has a row for each t; slice(x, -1,
// from, to), columns of x; concat({a, b}, -1), side by side. mote's rotary is what you write here.
Tensor turned_by_place(const Tensor& x) {
  your_code_here();  // replace this line
}
