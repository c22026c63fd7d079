// 43: the logit lens
// Difficulty 2 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// Each block of a model adds something to a vector x, the residual stream. What would the model predict if it stopped
// after block l? The logit lens shows it. Take x after block l, and do with it what the model does after its last
// block: apply the final norm and then lm_head. After the last block the lens gives the logits of the model itself.
//
// The table shows the symbol with the highest logit after each block, at the last three positions. The model was
// trained to repeat its input after 5 symbols, so 7 1 8 is right. The right symbols appear after block 2, and block 3
// has nothing left to do:
//
//   ids        2  7  1  8  5   2  7  1
//   block 0                    4  8  8
//   block 1                    4  8  7
//   block 2                    7  1  8
//   block 3                    7  1  8
//
// You may use: model.config.n_layer; std::to_string(l); (*model.transformer.ln_f)(x) and model.lm_head(x); stack of a
// std::vector<Tensor>, which joins the tensors along a new first axis; and a Record, which acts until its block of
// code ends. After const Record seen(model, {"*.h.*"}); and model(ids), seen["transformer.h.0"] is x after block 0.

/// Returns the logits after each block: ids [B, T] -> [layers, B, T, V].
Tensor logit_lens(const GPT& model, const IntArray& ids) {
  your_code_here();  // replace this line
}
