// 42: where the answer stands
// Difficulty 3 of 5, 20 minutes.
#include "examples/exercises/exercise.h"

// Two inputs [1, T] differ at one position: after `clean` a model says `right`, after `corrupted` it says `wrong`. At
// which position, and behind which block, does that which decides stand? Run `corrupted`, but let one block give, at
// one position, what it gave there for `clean`. If the answer turns, it stood there.
//
// Measure so for each block l and each position t: the logit of `right` less that of `wrong`, at the last position. In
// this table of a model that repeats after 5 symbols, 2 3 4 5 6 2 was followed by 3, and 2 7 4 5 6 2 by 7. What decides
// stands at position 1 behind block 0. Then a head of block 1 fetches it to where the answer is said:
//
//   position      0      1      2      3      4      5
//   block 0   -0.85   2.69  -0.85  -0.85  -0.85  -0.85
//   block 1   -0.85  -0.76  -0.84  -0.83  -0.85   2.64
//   block 2   -0.85  -0.85  -0.85  -0.85  -0.85   2.69
//
// You may use: model.config.n_layer, std::to_string(l), select(model(ids), 1, -1), the logits [1, V] at the last
// position, whose array() has at({0, right}), and scopes, which are local variables and act until their block ends.
// A Record keeps what was computed last, in whichever run; a Tensor that you take from it stays what it is:
//
//   const Record seen(model, {"*.h.*"});                       after model(ids): seen["transformer.h.0"], [1, T, C]
//   const Patch put(model, "transformer.h.0 at 3", value);     at position 3 block 0 gives what `value` has there

/// The difference of the two logits, patched at each place: [layers, T].
Tensor patched_at_each(const GPT& model, const IntArray& clean, const IntArray& corrupted, Index right, Index wrong) {
  your_code_here();  // replace this line
}
