// 43: the logit lens
// Difficulty 2 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// Each block of a model adds something to a vector x, the residual stream. What would the model say if it stopped after
// block l? The lens shows it: take x as this block gives it, and do with it what is done behind the last one, the final
// norm and then lm_head. Behind the last block these are the logits of the model itself.
//
// This is the symbol with the highest logit behind each block of a model that was trained to repeat, at the last three
// positions, where 7 1 8 is right. Block 2 finds it, and block 3 has nothing to do:
//
//   ids        2  7  1  8  5   2  7  1
//   block 0                    4  8  8
//   block 1                    4  8  7
//   block 2                    7  1  8
//   block 3                    7  1  8
//
// You may use: model.config.n_layer; std::to_string(l); (*model.transformer.ln_f)(x) and model.lm_head(x); stack of a
// std::vector<Tensor>, which puts them behind each other along a new first axis; and a scope, which acts until its
// block ends: const Record seen(model, {"*.h.*"}); after model(ids), seen["transformer.h.0"] is block 0's x.

/// The logits behind each block: ids [B, T] -> [layers, B, T, V].
Tensor logit_lens(const GPT& model, const IntArray& ids) {
  your_code_here();  // replace this line
}
