// 23: positions as waves
// Difficulty 2 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// Attention does not know in which order its tokens stand. So the paper "Attention is all you need" adds a vector to
// the token at position t. The vector is row t of a table [T, C], which is fixed and needs no training. Columns 2i and
// 2i + 1 hold the sine and the cosine of the same angle, which is t times a speed. From left to right the speeds fall
// from 1 to nearly 1 / 10000:
//
//   row t, column 2i:      sin(t / 10000^(2i / C))
//   row t, column 2i + 1:  cos(t / 10000^(2i / C))            t = 0 ... T - 1,  i = 0 ... C / 2 - 1,  C is even
//
//   wave_table(2, 4)  is  0       1       0       1
//                         0.8415  0.5403  0.0100  1.0000
//
// Two loops are enough: fill std::vector<real> y(T * C), row after row, with std::sin, std::cos and std::pow, and
// return Array({T, C}, y). You may not use mote's SinusoidalPositions, because it is the table that you write here.
Tensor wave_table(Index T, Index C) {
  your_code_here();  // replace this line
}
