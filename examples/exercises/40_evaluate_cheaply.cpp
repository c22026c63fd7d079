// 40: evaluate cheaply
// Difficulty 3 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// During a training the loss on held-out examples is measured from time to time. The examples come in batches, and the
// last batch is often smaller. Call the model once for each batch. Return the mean loss of all examples, and see to it
// that
//
//   - each example counts the same: batches of 3 and 1 examples with mean losses 1.0 and 2.0 make 1.25, not 1.5;
//   - the whole network answers: dropout must not drop anything;
//   - no graph is recorded, since nobody will call backward(): it would cost time, and memory for each batch;
//   - the training can go on: afterwards the model is in the mode, training or evaluation, in which it was before.
//
// You may use: cross_entropy(model(x), classes), the mean loss of one batch; item(), which gives it as a number;
// classes.numel(); NoGrad and Evaluation, which act until the end of the block in which they are declared
// (nn/evaluation.h), or model.training(), model.eval() and model.train(on).

using Examples = std::pair<Tensor, IntArray>;  // x [N, in], and the class of each example

double loss_over(Sequential& model, const std::vector<Examples>& batches) {
  your_code_here();  // replace this line
}
