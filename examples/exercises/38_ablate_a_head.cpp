// 38: which heads matter
// Difficulty 3 of 5, 20 minutes.
#include "examples/exercises/exercise.h"

// What does a head do for a model? Take it out, and see how much the loss rises. The results of the H heads of a layer
// lie side by side, those of head h in columns h * d to (h + 1) * d - 1, where d = C / H. Then c_proj mixes them:
// y = heads W^T + bias. So a head is not heard if W [C, C] has zeros in its columns. Of C = 4, H = 2, without head 1:
//
//   1 2 3 4        1 2 0 0
//   5 6 7 8   ->   5 6 0 0      and so on
//
// For each head, measure the loss without it, less the loss with all: tensor({{2.1, 0.0}, {0.3, 0.1}}) would mean that
// the model cannot do without head 0 of layer 0. Afterwards the model has to be what it was.
//
// You may use: h of model.transformer, the list of blocks; of a block, attn.n_head and attn.c_proj.weight, a Parameter
// with shape(), value(), an Array that you can keep, and set(array); model.loss(ids, targets).item(). Write elements of
// an Array w by w.mutate()[row * C + column], or multiply by a Tensor of ones and zeros and take its array().

/// How much the loss rises without each head: [layers, heads].
Tensor rise_without_each(GPT& model, const IntArray& ids, const IntArray& targets) {
  your_code_here();  // replace this line
}
