// Lesson 10. Two places at once: a task that two heads learn and one head does not, and what an MLP adds to heads.
#include <cmath>
#include <optional>
#include <vector>

#include "engine/engine.h"
#include "examples/lessons/lesson.h"
#include "nn/nn.h"
#include "nn/reach.h"
#include "train/optim/adamw.h"
#include "train/tasks/task.h"

using namespace mote;
namespace {
/// Rows of 16 numbers from 0 to 6. The target at position t is (a + b) mod 7, where a = x[t-1] and b = x[t-3]. A
/// target of -1 does not count. One row in four is held out.
Batch sums(Index rows, Split split, const Generator& random) {
  IntArray x({rows, 16}), y({rows, 16});
  for (Index n = 0; n < rows; ++n) {
    const std::vector<Index> row = draw_of(split, [&] { return random_ids(16, 0, 7, random); });
    for (Index t = 0; t < 16; ++t) {
      x.mutate()[16 * n + t] = row[t];
      y.mutate()[16 * n + t] = t < 3 ? -1 : (row[t - 1] + row[t - 3]) % 7;
    }
  }
  return {x, y};
}
struct Model : Layer<Model> {
  Embedding digit, place;
  LayerNorm ln;        // brings all vectors to one size. This and the `x +` in forward() help to learn (lesson 11)
  SelfAttention attn;  // lesson 9's attention, but q, k and v come from one matrix
  Linear out;
  std::optional<FeedForward> mlp;  // lesson 3's MLP, applied at each place
  Model(Index H, bool with_mlp, const Generator& random)
      : digit(7, 32, random), place(16, 32, random), ln(32), attn(32, H, random), out(32, 7, random) {
    for (const Parameter& p : {digit.weight, place.weight}) init::normal(p, 0, 0.02, random);
    if (with_mlp) mlp.emplace(32, 128, random);
  }
  Tensor forward(const IntArray& ids, const Mask& mask) const {  // [B, 16] -> [B, 16, 7]
    const Tensor x = digit(ids) + Tensor(place.weight), y = x + attn(ln(x), mask);
    return out(mlp ? y + (*mlp)(y) : y);
  }
  void visit(Visitor& f) override {
    f("digit", digit);
    f("place", place);
    f("ln", ln);
    f("attn", attn);
    f("out", out);
    f("mlp", mlp);
  }
};
/// The results of a training. `right` is the percentage of right answers, and `ahead` is explained at learn(). `if_0`
/// and `if_2` are the attention weights that head 0 gives to a = 1, for b = 0 and for b = 2. For each pair a, b take
/// the sum of the attention weights that all heads give to a. `off` is how far this sum is from 1, on average over all
/// pairs.
struct Result {
  double right, ahead, if_0, if_2, off;
};
/// Trains a model and measures it. `ahead` is the score of the right answer minus the score of the answer that is 1
/// too large, averaged over all pairs a, b. Suppose that one head attends to a alone, another to b alone, and that
/// their results are only added. The score of an answer c is then f(a, c) + g(b, c). Hold a fixed, and let b run from
/// 0 to 6. The right answer a + b runs through all seven c, and so does the wrong answer a + b + 1. So both get the
/// same seven f(a, c) in another order. With b fixed and a running, both get the same seven g(b, c). So on average the
/// right answer is not ahead, and it cannot always win.
Result learn(const char* what, Index H, const Mask& mask = {}, bool with_mlp = false) {
  const Model model(H, with_mlp, Generator(1));
  const Generator data(101), fresh(201);
  AdamW optimizer(all_parameters(model), {.lr = 3e-3});
  for (int step = 0; step < 700; ++step) {
    const Batch batch = sums(64, Split::train, data);  // 64 rows at a time
    optimizer.zero_grad();
    cross_entropy(model(batch.ids, mask), batch.targets, {.ignore_index = -1}).backward();
    optimizer.step();
  }
  const NoGrad no_grad;
  const Batch test = sums(500, Split::validation, fresh);
  const Tensor right = tensor(argmax(model(test.ids, mask)) == test.targets), asked = tensor(test.targets != -1);
  IntArray pairs({49, 16}), sum_of({49, 1}), wrong({49, 1});
  for (Index i = 0; i < 49; ++i) {
    pairs.mutate()[16 * i + 14] = i / 7;
    pairs.mutate()[16 * i + 12] = i % 7;
    sum_of.mutate()[i] = (i / 7 + i % 7) % 7;
    wrong.mutate()[i] = (i / 7 + i % 7 + 1) % 7;
  }
  const Record seen(model, {"attn weights"});
  const Tensor scores = select(model(pairs, mask), 1, 15);                     // at the last of the 16 places
  const Array w = select(select(seen["attn weights"], 2, 15), 2, 14).array();  // the weights of a, [49, H]
  const Result r{100 * number(sum(right)) / number(sum(asked)),
                 number(mean(gather(scores, 1, sum_of) - gather(scores, 1, wrong))), w.at({7, 0}), w.at({9, 0}),
                 number(mean(abs(sum(Tensor(w), {1}) - 1)))};
  std::printf("   %-44s %7.1f %7.2f %12.2f %10.2f\n", what, r.right, r.ahead, r.if_0, r.if_2);
  return r;
}
void lesson() {
  std::printf(
      "(x[t-1] + x[t-3]) mod 7, by one layer; guessing: 14 %%. ahead: the right score less that of right + 1\n"
      "                                                %% right   ahead   head 0's weight of a, where a = 1 and b = 0, "
      "b = 2\n");
  Mask one_each({1, 2, 16, 16});  // head 0 sees only x[t-1], head 1 only x[t-3]; before t = 3 both see nothing
  for (Index t = 3; t < 16; ++t) {
    one_each.mutate()[16 * t + t - 1] = 1;
    one_each.mutate()[256 + 16 * t + t - 3] = 1;
  }
  const Result one = learn("1 head of 32 numbers", 1), two = learn("2 heads of 16 numbers", 2);
  const Result apart = learn("2 heads, and each may see one of the places", 2, one_each);
  const Result mlp = learn("the same, and an MLP behind them", 2, one_each, true);
  claim(apart.right < 50 && std::abs(apart.ahead) < 1e-3,
        "if each head sees one place and only sums follow, the right answer is not ahead");
  claim(mlp.right > 90, "an MLP does more than add: so each head may look somewhere else, and it is learned");
  claim(two.ahead > 1 && two.if_0 > two.if_2 + 0.5, "without an MLP, how much head 0 hears of a depends on b");
  claim(one.right < 85 && two.right > 90 && two.off < 0.2,
        "and head 1 hears the rest: both weights of a are " + std::to_string(two.off) + " off 1 on average");
  std::printf(
      "\nTry: 4 and 8 heads. One head and an MLP: is a mean of a and b enough for a sum? For (a + 2 b) mod 7?\n"
      "Now read examples/lessons/11_block.cpp: what stands around attention in a transformer.\n");
}
}  // namespace

int main(int, char** argv) { return run_lesson(argv, lesson, "head; MLP"); }
