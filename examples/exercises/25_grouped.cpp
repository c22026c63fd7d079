// 25: grouped heads
// Difficulty 2 of 5, 10 minutes.
#include "examples/exercises/exercise.h"

// While a model writes, it keeps the keys and values of all earlier tokens. Of a long text they need more memory than
// the weights. So heads of queries share them: there are H heads of queries, but only G of keys and values, and H / G
// neighbouring heads share each. Before attention, each of the G heads is repeated for those that share it:
//
//   head h of the result is head h / (H / G) of x, whole numbers divided         x [B, G, T, d] -> [B, H, T, d]
//
// With G = 2 and H = 6, heads A B become A A A B B B:
//
//   for_all_heads(tensor({{{{1}}, {{2}}}}), 6)  is  {{{{1}}, {{1}}, {{1}}, {{2}}, {{2}}, {{2}}}}      [1, 6, 1, 1]
//
// You may use: unsqueeze(x, axis), a new axis of extent 1; expand(x, {2, 3, 4}), which repeats axes of extent 1 to fill
// that shape; reshape(x, {2, 12}); or select, slice and concat. mote's repeat_heads is what you write here.
Tensor for_all_heads(const Tensor& x, Index H) {
  your_code_here();  // replace this line
}
