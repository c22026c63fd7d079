// 42: where the answer stands
// Difficulty 3 of 5, 20 minutes.
#include "examples/exercises/exercise.h"

// Two inputs [1, T] differ at one position. After `clean` a model predicts `right`, and after `corrupted` it predicts
// `wrong`. At which position, and after which block, is the information that decides between the two? Run the model on
// `corrupted`, but replace the output of one block at one position by the output of the same block at the same
// position for `clean`. If the prediction changes to `right`, the information was there.
//
// Do this for each block l and each position t, and measure the logit of `right` minus the logit of `wrong` at the
// last position. The table below is for a model that repeats its input after 5 symbols. `clean` was 2 3 4 5 6 2, after
// which 3 comes next. `corrupted` was 2 7 4 5 6 2, after which 7 comes next. The deciding information is at position 1
// after block 0. Then a head of block 1 moves the information to the last position, where the model predicts:
//
//   position      0      1      2      3      4      5
//   block 0   -0.85   2.69  -0.85  -0.85  -0.85  -0.85
//   block 1   -0.85  -0.76  -0.84  -0.83  -0.85   2.64
//   block 2   -0.85  -0.85  -0.85  -0.85  -0.85   2.69
//
// You may use: model.config.n_layer, std::to_string(l), scopes, and select(model(ids), 1, -1), the logits [1, V] at
// the last position, whose array() has at({0, right}). A scope is a local variable that acts until its block ends. A
// Record keeps the tensors of the latest run, so each later run replaces them. A Tensor that you copy from a Record
// stays as it is:
//
//   const Record seen(model, {"*.h.*"});                       after model(ids): seen["transformer.h.0"], [1, T, C]
//   const Patch put(model, "transformer.h.0 at 3", value);     block 0 outputs row 3 of `value` at position 3

/// Returns the logit of `right` minus the logit of `wrong` for each patched block and position, [layers, T].
Tensor patched_at_each(const GPT& model, const IntArray& clean, const IntArray& corrupted, Index right, Index wrong) {
  your_code_here();  // replace this line
}
