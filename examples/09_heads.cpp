// Lesson 9. Heads: why a token should look more than once at a time, what that costs, and what sharing saves.
#include <array>
#include <cmath>
#include <vector>

#include "engine/engine.h"
#include "examples/lesson.h"
#include "nn/nn.h"
#include "train/adamw.h"
#include "train/tasks/two_places.h"

using namespace mote;

namespace {

/// In lesson 7 a token had one query and heard one mean. With H heads, queries, keys and values are cut into H parts of
/// C / H numbers, and each part has a lesson 7 of its own: its own weights and its own mean. The H means, side by side,
/// are C numbers again, and a last matrix mixes them. Heads of queries may share the keys and values of one head.
Tensor attend(const MultiHeadAttention& layer, const Tensor& x) {  // [B, T, C] -> [B, T, C]
  const Index H = layer.n_head, shared = layer.n_kv_head;
  const Tensor q = split_heads(layer.q_proj(x), H);                        // [B, H, T, C / H]
  const Tensor k = repeat_heads(split_heads(layer.k_proj(x), shared), H);  // each as often as there are heads that
  const Tensor v = repeat_heads(split_heads(layer.v_proj(x), shared), H);  // share it, so [B, H, T, C / H] again
  const Tensor scores = matmul(q, transpose(k, -2, -1)) * (1 / std::sqrt(static_cast<real>(q.size(-1))));
  const Tensor weights = masked_softmax(scores, causal_mask(x.size(1)));  // [B, H, T, T]
  return layer.o_proj(join_heads(matmul(weights, v)));
}

void costs() {
  const Generator random(1);
  const Tensor x = randn({1, 32, 64}, random);
  std::printf(
      "1. 32 tokens of 64 numbers. A text is written token by token; keys and values are kept for later ones.\n"
      "   heads of q   of k and v   parameters   multiply-adds   numbers kept of a token\n");
  std::vector<std::array<Index, 3>> all;
  bool same = true;
  for (const auto& [H, shared] : {std::pair<Index, Index>{1, 1}, {8, 8}, {8, 2}}) {
    const MultiHeadAttention layer(64, H, random, {.causal = true}, {.bias = false, .n_kv_head = shared});
    const Tensor theirs = layer(x);
    const Trace trace;  // from here on every operation is noted
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
}

/// Rows of 16 numbers from 0 to 6. Wanted is (a + b) mod 7, where a = x[t-1] and b = x[t-3].
struct Model : Layer<Model> {
  Embedding digit, place;
  LayerNorm ln;        // brings all vectors to one size; this, and `x +` below, help to learn: lesson 10
  SelfAttention attn;  // as above, but queries, keys and values come from a single matrix
  Linear out;
  Model(Index H, const Generator& random)
      : digit(7, 32, random), place(16, 32, random), ln(32), attn(32, H, random), out(32, 7, random) {
    for (const Parameter& p : {digit.weight, place.weight}) init::normal(p, 0, 0.02, random);
  }
  Tensor forward(const IntArray& ids, const Mask& mask) const {  // [B, 16] -> [B, 16, 7]
    const Tensor x = digit(ids) + Tensor(place.weight);
    return out(x + attn(ln(x), mask));
  }
  void visit(Visitor& f) override { f("digit", digit), f("place", place), f("ln", ln), f("attn", attn), f("out", out); }
};

/// How far the right answer's score is above that of the answer that is 1 too large, on average over all pairs a, b.
///
/// Suppose that one head hands on a alone, and another b alone. A layer adds up what its heads say; so the score of an
/// answer c is a number that depends on a and c, plus one that depends on b and c. Keep a, and let b run from 0 to 6:
/// the right answer, a + b, runs through all seven c, and so does the wrong answer, a + b + 1. Both then got the same
/// seven numbers from a; and, with b kept, from b. So on average the right answer is not ahead: it cannot always win.
double ahead(const Model& model, const Mask& mask) {
  IntArray ids({49, 16});
  for (Index i = 0; i < 49; ++i) ids.mutate()[16 * i + 14] = i / 7, ids.mutate()[16 * i + 12] = i % 7;
  const Array scores = select(model(ids, mask), 1, 15).array();  // at the last of the 16 places
  double sum = 0;
  for (Index i = 0; i < 49; ++i) {
    const Index right = (i / 7 + i % 7) % 7;
    sum += static_cast<double>(scores.at({i, right}) - scores.at({i, (right + 1) % 7}));
  }
  return sum / 49;
}

/// Trains, and returns the percentage of right answers to new rows, and ahead().
std::pair<double, double> learn(const char* what, Index H, const Mask& mask = {}) {
  const TwoPlacesTask task;
  const Model model(H, Generator(1));
  const Generator data(101), fresh(201);
  AdamW optimizer(all_parameters(model), {.lr = 3e-3});
  for (int step = 0; step < 1000; ++step) {
    const Batch batch = task.batch(64, Split::train, data);
    optimizer.zero_grad();
    cross_entropy(model(batch.ids, mask), batch.targets, {.ignore_index = -1}).backward();
    optimizer.step();
  }
  const NoGrad no_grad;
  const Batch test = task.batch(500, Split::validation, fresh);
  const Tensor right = tensor(eq(argmax(model(test.ids, mask)), test.targets)), asked = tensor(test.targets != -1);
  const double share = 100 * number(sum(right)) / number(sum(asked));
  const double lead = ahead(model, mask);
  std::printf("   %-44s %10d %8.1f %10.4f\n", what, int(parameter_count(model)), share, lead);
  return {share, lead};
}

void lesson() {
  costs();
  std::printf(
      "\n2. (x[t-1] + x[t-3]) mod 7, by one layer; guessing: 14 %%. ahead: the right score less that of right + 1\n"
      "                                                parameters  %% right      ahead\n");
  Mask one_each({1, 2, 16, 16});  // head 0 sees x[t-1] alone, and head 1 x[t-3]
  for (Index t = 3; t < 16; ++t) one_each.mutate()[16 * t + t - 1] = 1, one_each.mutate()[256 + 16 * t + t - 3] = 1;
  const auto one = learn("1 head of 32 numbers", 1), two = learn("2 heads of 16 numbers", 2);
  const auto apart = learn("2 heads, and each may see one of the places", 2, one_each);
  claim(one.first < 85 && two.first > 90, "two heads learn it; one, twice as wide, hears one mixture and does not");
  claim(apart.first < 50 && std::abs(apart.second) < 1e-3, "one place for each head: the right answer is not ahead");
  claim(two.second > 1, "seeing both, it is, as the weight of a depends on b; with one head, too, but not always");
  std::printf(
      "\nTry: 4 and 8 heads. Let head 0 see x[t-1] alone and head 1 both places: does it learn?\n"
      "Now read examples/10_block.cpp: what stands around attention in a transformer.\n");
}

}  // namespace

int main(int, char** argv) { return run_lesson(argv, lesson, "head; grouped heads"); }
