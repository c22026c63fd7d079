// 26: a cache of keys and values
// Difficulty 3 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// A model that writes a text gets one token more in each step. The attention results of earlier tokens cannot change
// any more, since none of these tokens sees the new one. So only the new token attends, to itself and to all earlier
// tokens. The keys and values of earlier tokens are not computed again but kept in a cache, and each layer has a cache
// of its own:
//
//   step(q, k, v)   q, k, v [H, 1, d] of the newest token -> its attention result, [H, 1, d]
//
// T steps give the T rows of causal attention over the whole text. If v is {{{2}}} and then {{{4}}}, and all q and k
// are {{{0}}}, the steps return {{{2}}} and then {{{3}}}, the mean of both values.
//
// You may use: concat({a, b}, axis), which joins two tensors, of which neither may be undefined; keys.defined(), which
// says whether a tensor has been assigned to keys; mote's attention(q, keys, values), which computes
// softmax(q keys^T / sqrt(d)) values.
struct TextSoFar {
  Tensor keys, values;  // of the n tokens so far, oldest first: [H, n, d]; not defined before the first step

  Tensor step(const Tensor& q, const Tensor& k, const Tensor& v) {
    your_code_here();  // replace this line
  }
};
