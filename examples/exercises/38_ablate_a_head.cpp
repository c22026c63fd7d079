// 38: which heads matter
// Difficulty 3 of 5, 20 minutes.
#include "examples/exercises/exercise.h"

// What does a head do for a model? Take it out, and see how much the loss rises. The results of the H heads of a layer
// lie side by side. The result of head h is in columns h * d to (h + 1) * d - 1, where d = C / H. Then c_proj mixes
// the results of all heads: y = heads W^T + bias. So a head has no effect if W [C, C] has zeros in the columns of the
// head. For C = 4 and H = 2, this is W without head 1:
//
//   1 2 3 4        1 2 0 0
//   5 6 7 8   ->   5 6 0 0      and so on
//
// For each head, measure the loss without it, minus the loss with all heads. The result tensor({{2.1, 0.0},
// {0.3, 0.1}}) would mean that the model cannot do without head 0 of layer 0. Afterwards the model has to be as it was
// before.
//
// You may use: h of model.transformer, the list of blocks; attn.n_head and attn.c_proj.weight of a block;
// model.loss(ids, targets).item(). The weight is a Parameter with shape(), with value(), which is an Array that you
// can keep, and with set(array). Write elements of an Array w by w.mutate()[row * C + column], or multiply the weight
// by a Tensor of ones and zeros and take the array() of the product.

/// Returns a table [layers, heads]: by how much the loss rises without each head.
Tensor rise_without_each(GPT& model, const IntArray& ids, const IntArray& targets) {
  your_code_here();  // replace this line
}
