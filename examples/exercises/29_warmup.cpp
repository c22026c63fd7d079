// 29: a learning rate that rises and falls
// Difficulty 2 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// At first an optimizer's means of gradients are only guesses, so the learning rate begins small and rises. This is
// the warm-up. At the end the learning rate is small again, so that the weights settle. In between the learning rate
// falls along half a wave of the cosine. Steps are counted from 0:
//
//   step < warmup:     highest * (step + 1) / (warmup + 1)         never 0, which would waste a step
//   below total:       p = (step - warmup) / (total - warmup)      the part of the fall that is done, 0 to 1
//                      least + (1 + cos(pi p)) / 2 * (highest - least)
//   from total on:     least
//
//   warmup 3, total 11, highest 0.4, least 0:   steps 0 to 3 have 0.1 0.2 0.3 0.4, step 7 has 0.2, step 11 has 0
//
// You may use std::cos. pi is std::acos(-1.0). Index is an integer type. You may not use mote's learning_rate, because
// it is the function that you write here.
double rate_of(Index step, Index warmup, Index total, double highest, double least) {
  your_code_here();  // replace this line
}
