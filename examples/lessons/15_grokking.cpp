// Lesson 15. Grokking: a model first learns its examples by heart, and much later finds the rule. Weight decay makes
// the model find the rule.
#include <functional>

#include "engine/engine.h"
#include "examples/lessons/lesson.h"
#include "models/gpt.h"
#include "train/tasks/modular_addition.h"
#include "train/train.h"

using namespace mote;

namespace {
/// The scores for the sum, computed by one block of lesson 11. The result of the block is needed only at "=", where
/// the model gives its answer. There a and b have an effect only through attention.
Tensor scores(const GPT& model, const IntArray& ids) {
  const TransformerBlock& block = model.transformer.h[0];
  const Tensor x = model.transformer.embed(ids), y = select(x + block.attn(block.ln_1(x)), 1, 2);
  return model.lm_head((*model.transformer.ln_f)(y + (*block.mlp)((*block.ln_2)(y))));
}
/// Trains as long as go_on(model, step) is true. go_on is called at every 50th step. Returns the last loss. The
/// gradient is clipped: if its norm, sqrt(sum of all g^2), is above 1, each g is divided by the norm. The learning
/// rate first rises (warm-up), because AdamW's first step moves every w by the whole lr, even if g is mere chance.
/// Then the learning rate falls slowly (cool-down), so that the weights settle.
double train(const Task& task, const Batch& batch, double decay, const std::function<bool(const GPT&, int)>& go_on) {
  const GPT model(gpt_config(task.recipe().config, task.vocab_size(), task.block_size()), Generator(1));
  AdamW optimizer(decay_groups(model, decay), {.betas = {0.9, 0.98}});  // beta2 0.98: a mean over about 50 squares
  for (int step = 0;; ++step) {
    optimizer.zero_grad();
    const Tensor loss = cross_entropy(scores(model, batch.ids), batch.targets.select(1, 2));
    if (step % 50 == 0 && !go_on(model, step)) return number(loss);
    loss.backward();
    clip_grad_norm(optimizer.parameters(), 1);
    optimizer.set_learning_rate(1e-2 * std::min(1.0, (step + 1) / 11.0) * (1 - 0.9 * step / 4000));
    optimizer.step();
  }
}
void lesson() {
  const ModularAdditionTask task;
  const Questions trained = task.evaluation(1000, Split::train), others = task.evaluation(1000);
  const int pairs = int(task.pairs(Split::train));
  std::printf("A GPT of one block reads a, b and =, and is to say (a + b) mod 31: for 16, then %d of 961 pairs\n",
              pairs);
  const double loss = train(task, task.batch(16, Split::train, Generator(3)), 1, [](auto&, int t) { return t < 200; });
  claim(loss < 0.3, "the first test of any model: it learns 16 pairs by heart, to a loss of " + std::to_string(loss));
  const auto right = [](const GPT& model, const Questions& q) {
    const NoGrad no_grad;
    return number(mean(tensor(argmax(scores(model, q.prompts)) == q.answers.select(1, 0))));
  };
  double by_heart = 0, last = 1500, unseen = 0;
  for (const double decay : {1, 0}) {
    std::printf("   with a weight decay of %g\n", decay);
    train(task, task.batch(pairs, Split::train, Generator(2)), decay, [&](auto& model, int step) {
      const double known = right(model, trained);
      unseen = right(model, others);
      std::printf("   step %4d: right for %3.0f %% of them, %3.0f %% of all others\n", step, 100 * known, 100 * unseen);
      if (by_heart == 0 && known > 0.98 && unseen < 0.1) by_heart = step;
      if (unseen > 0.95) last = step;
      return step < last;
    });
  }
  claim(by_heart > 0 && last > 2 * by_heart, "grokking: it knows the pairs by heart, and much later the rule");
  claim(unseen < 0.5, "decay does it: without, the others stay wrong for all that time");
  std::printf(
      "\nTry: use x alone in scores(): does the first test notice? Weight decay 0.3, with last = 3000: and the rule?\n"
      "Now read train/tasks/modular_addition.h and examples/lessons/16_induction.cpp: what a model finds inside.\n");
}
}  // namespace

int main(int, char** argv) { return run_lesson(argv, lesson, "warm-up; weight decay; grokking"); }
