// 29: a learning rate that rises and falls
// Difficulty 2 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// At first an optimizer's means of gradients are guesses, so steps begin small: the warm-up. In the end small steps let
// weights settle. In between the rate falls like the cosine, in half a wave. Steps count from 0:
//
//   step < warmup:     highest * (step + 1) / (warmup + 1)         never 0, which would waste a step
//   below total:       p = (step - warmup) / (total - warmup)      the part of the fall that is done, 0 to 1
//                      least + (1 + cos(pi p)) / 2 * (highest - least)
//   from total on:     least
//
//   warmup 3, total 11, highest 0.4, least 0:   steps 0 to 3 have 0.1 0.2 0.3 0.4, step 7 has 0.2, step 11 has 0
//
// You may use std::cos; pi is std::acos(-1.0). Index is a whole number. mote's learning_rate is what you write here.
double rate_of(Index step, Index warmup, Index total, double highest, double least) {
  your_code_here();  // replace this line
}
