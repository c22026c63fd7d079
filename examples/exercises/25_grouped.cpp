// 25: grouped heads
// Difficulty 2 of 5, 10 minutes.
#include "examples/exercises/exercise.h"

// While a model writes a text, it keeps the keys and values of all earlier tokens. For a long text the keys and values
// need more memory than the weights. So several heads of queries share one head of keys and values. There are H heads
// of queries but only G heads of keys and values, and each of the G heads is shared by H / G neighbouring heads of
// queries. Before attention, each of the G heads is repeated for the heads that share it:
//
//   head h of the result is head h / (H / G) of x, in integer division           x [B, G, T, d] -> [B, H, T, d]
//
// With G = 2 and H = 6, heads A B become A A A B B B:
//
//   for_all_heads(tensor({{{{1}}, {{2}}}}), 6)  is  {{{{1}}, {{1}}, {{1}}, {{2}}, {{2}}, {{2}}}}      [1, 6, 1, 1]
//
// You may use: unsqueeze(x, axis), which inserts an axis of extent 1; expand(x, {2, 3, 4}), which repeats axes of
// extent 1 to fill that shape; reshape(x, {2, 12}); or select, slice and concat. You may not use mote's repeat_heads,
// because it is the function that you write here.
Tensor for_all_heads(const Tensor& x, Index H) {
  your_code_here();  // replace this line
}
