// 26: a cache of keys and values
// Difficulty 3 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// A model that writes a text gets one token more in each step. What earlier tokens heard cannot change any more, since
// none of them sees the new one. So only the new token attends: with its query, to all keys and values so far, its own
// included. Those of earlier tokens are not computed again but kept, in a cache, one for each layer:
//
//   step(q, k, v)   q, k, v [H, 1, d] of the newest token -> what it hears, [H, 1, d]
//
// T steps give the T rows of causal attention over the whole text. If v is {{{2}}} and then {{{4}}}, and all q and k
// are {{{0}}}, the steps return {{{2}}} and then {{{3}}}, the mean.
//
// You may use: concat({a, b}, axis), one behind the other, but not with a Tensor that was never assigned, which
// keys.defined() tells; attention(q, keys, values), mote's softmax(q keys^T / sqrt(d)) values.
struct TextSoFar {
  Tensor keys, values;  // of the n tokens so far, oldest first: [H, n, d]; not defined before the first step

  Tensor step(const Tensor& q, const Tensor& k, const Tensor& v) {
    your_code_here();  // replace this line
  }
};
