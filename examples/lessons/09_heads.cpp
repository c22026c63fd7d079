// Lesson 9. Heads: how a token looks at others several times at once, what this costs, and what sharing heads saves.
#include <array>
#include <cmath>
#include <vector>

#include "engine/engine.h"
#include "examples/lessons/lesson.h"
#include "nn/nn.h"

using namespace mote;
namespace {
/// Attention with several heads. In lesson 7 a token had one query and got one weighted mean. Here queries, keys and
/// values are cut into H parts of C / H numbers. Each part is a head. A head has parameters of its own and computes a
/// mean of its own, as in lesson 7. The H means stand side by side, so they are C numbers again. A last matrix mixes
/// these numbers. Several heads of queries may share one head of keys and values.
Tensor attend(const MultiHeadAttention& layer, const Tensor& x) {  // [B, T, C] -> [B, T, C]
  const Index H = layer.n_head, shared = layer.n_kv_head;
  // [B, H, T, C / H] each. A head of keys or values is repeated for every head of queries that shares it.
  const Tensor q = split_heads(layer.q_proj(x), H);
  const Tensor k = repeat_heads(split_heads(layer.k_proj(x), shared), H);
  const Tensor v = repeat_heads(split_heads(layer.v_proj(x), shared), H);
  const Tensor scores = matmul(q, transpose(k, -2, -1)) * (1 / std::sqrt(static_cast<real>(q.size(-1))));
  const Tensor weights = masked_softmax(scores, causal_mask(x.size(1)));  // [B, H, T, T]
  return layer.o_proj(join_heads(matmul(weights, v)));
}
void lesson() {
  const Generator random(1);
  const Tensor x = randn({1, 32, 64}, random);
  std::printf(
      "32 tokens of 64 numbers. A text is written token by token; keys and values are kept for later ones.\n"
      "   heads of q   of k and v   parameters   multiply-adds   numbers kept of a token\n");
  std::vector<std::array<Index, 3>> all;
  bool same = true;
  for (const auto& [H, shared] : {std::pair<Index, Index>{1, 1}, {8, 8}, {8, 2}}) {
    const MultiHeadAttention layer(64, H, random, {.causal = true}, {.bias = false, .n_kv_head = shared});
    const Tensor theirs = layer(x);
    const Trace trace;  // records every operation from here on
    const Tensor ours = attend(layer, x);
    Index products = 0;
    for (const TraceEvent& e : trace.events())
      if (e.name == "linear" || e.name == "matmul") products += e.flops / 2;
    all.push_back({parameter_count(layer), products, layer.k_proj.weight.shape()[0] + layer.v_proj.weight.shape()[0]});
    const auto [numbers, work, kept] = all.back();
    std::printf("   %10d %12d %12d %15d %25d\n", int(H), int(shared), int(numbers), int(work), int(kept));
    same = same && ours.to_vector() == theirs.to_vector();
  }
  claim(same, "mote's layer MultiHeadAttention does what attend() does, to the last bit");
  claim(all[0] == all[1], "eight narrow heads multiply as often as one wide head: the same matrices, cut differently");
  claim(all[1][2] == 4 * all[2][2], "if four heads share keys and values, a quarter of these has to be kept");

  const MultiHeadAttention two(64, 2, random, {.causal = true});
  const Array weights = two.with_weights(x).weights;  // [1, 2, 32, 32]
  const Tensor apart = Tensor(weights.select(1, 0)) - Tensor(weights.select(1, 1));
  const double most = number(max(abs(apart)));
  claim(most > 0.01, "two heads share their attention out differently, by up to " + std::to_string(most));
  std::printf(
      "\nTry: 4 heads that all share one head of keys and values: how much is kept? Which matrices become smaller?\n"
      "Now read examples/lessons/10_two_places.cpp: what several heads can learn and one cannot.\n");
}
}  // namespace

int main(int, char** argv) { return run_lesson(argv, lesson, "batch; head; grouped heads"); }
