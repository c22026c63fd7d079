// Lesson 13. Training: from a step downhill to AdamW, by hand and to the last bit; and grokking, the rule found late.
#include <cmath>

#include "engine/engine.h"
#include "examples/lessons/lesson.h"
#include "models/gpt.h"
#include "train/tasks/modular_addition.h"
#include "train/train.h"

using namespace mote;

namespace {
/// A weight, and what a rule remembers of its gradients g. Below, std::fma(a, b, c) is a b + c, rounded only once.
struct Weight {
  real w = 1, velocity = 0, mean = 0, square = 0;
};
/// SGD: w = w - lr g, a step against the slope.
void sgd(Weight& x, real g, double lr, double) { x.w = std::fma(real(-lr), g, x.w); }
/// Momentum: velocity = 0.9 velocity + g, and w = w - lr velocity. Gradients that agree add up, to 1 + 0.9 + 0.81 + ...
/// = 10 times one; of those that change their sign in every step 1 - 0.9 + 0.81 - ... = 0.53 of one is left.
void momentum(Weight& x, real g, double lr, double) {
  x.velocity = x.velocity * real(0.9) + g;
  x.w = std::fma(real(-lr), x.velocity, x.w);
}
/// AdamW, its step t = 1, 2, ... `mean` is the mean of about the last 10 gradients (1 - beta1 = 1/10), `square` that of
/// about 1000 squares g^2. mean / sqrt(square) is near 1 if they agree, however large they are: so w moves by about lr.
/// Decay is "decoupled" (the W): in g it would be divided, too, and what is steep would hardly shrink.
void adamw(Weight& x, real g, double lr, double t) {
  const double beta1 = 0.9, beta2 = 0.999, decay = 0.01, eps = 1e-8;
  x.w *= real(1 - lr * decay);                                          // what no g holds up shrinks
  x.mean = std::fma(real(1 - beta1), g, x.mean * real(beta1));          // beta mean + (1 - beta) g
  x.square = std::fma(real(1 - beta2) * g, g, x.square * real(beta2));  // the same of g^2
  // Both began at 0: of equal gradients they have only the part 1 - beta^t so far. Divided by that they are right.
  const real size = std::sqrt(x.square) / real(std::sqrt(1 - math::pow(beta2, t))) + real(eps);  // no 0 / 0
  x.w -= real(lr / (1 - math::pow(beta1, t))) * x.mean / size;
}
bool as_mote = true;  // is each step by hand that of mote's optimizer?
/// 200 steps (a, b) from (1, 1) down the valley (a^2 + 100 b^2) / 2, and beside them those of mote's optimizer.
std::vector<std::pair<double, double>> walk(const char* name, auto rule, Optimizer&& theirs) {
  Weight a, b;
  const Parameter w = theirs.parameters()[0];
  std::vector<std::pair<double, double>> path;
  std::printf("   %-18s", name);
  for (int t = 1; t <= 200; ++t) {
    rule(a, a.w, theirs.learning_rate(), t);
    rule(b, 100 * b.w, theirs.learning_rate(), t);
    w.set_grad(w.value() * tensor({1, 100}).array());
    theirs.step();
    as_mote = as_mote && w.value().to_vector() == std::vector<real>{a.w, b.w};
    const auto [x, y] = path.emplace_back(a.w, b.w);
    if (t < 3 || t % 100 == 0) std::printf("  %8.5f %8.1e%s", x, y, t == 200 ? "\n" : "");
  }
  return path;
}
void valley() {
  std::printf("1. From a = b = 1 down the valley (a^2 + 100 b^2) / 2, whose gradient is (a, 100 b). a and b after\n%s",
              "                                  1 step            2 steps          100 steps          200 steps\n");
  const auto w = [] { return std::vector<ParameterGroup>{{.parameters = {{"w", Parameter(Array::full({2}, 1))}}}}; };
  const auto slow = walk("SGD, lr 0.019", sgd, SGD(w(), {.lr = 0.019}));
  const auto fast = walk("SGD, lr 0.021", sgd, SGD(w(), {.lr = 0.021}));
  const auto ball = walk("momentum, lr 0.019", momentum, SGD(w(), {.lr = 0.019, .momentum = 0.9}));
  const auto adam = walk("AdamW, lr 0.05", adamw, AdamW(w(), {.lr = 0.05}));
  claim(as_mote, "all these steps by hand are those of mote's optimizers, to the last bit");
  claim(slow[198].second * slow[199].second < 0 && std::abs(fast[199].second) > 1000,
        "SGD jumps across the valley, and with a little more lr out of it: the steepest direction limits lr");
  claim(slow[199].first > 0.01 && std::abs(ball[199].first) < 0.002 && std::abs(adam[199].first) < 0.002,
        "so it crawls along the flat direction. Momentum and AdamW do not");
  claim(std::abs(adam[9].first - adam[9].second) < 1e-4, "to AdamW, both directions are alike");
  Weight odd, cut;  // AdamW for a once more; but the gradient of step 100 is 1000, or 1, which clipping makes of it
  for (int t = 1; t <= 200; ++t) {
    adamw(odd, t == 100 ? 1000 : odd.w, 0.05, t);
    adamw(cut, t == 100 ? 1 : cut.w, 0.05, t);
  }
  std::printf("   With one odd gradient at step 100, 1000: a = %.4f after 200; clipped to 1: %.4f\n", odd.w, cut.w);
  claim(std::abs(odd.w) > 20 * std::abs(cut.w), "one odd gradient throws AdamW off for long; clipped it does not");
}
/// Scores for the sum, by a block of lesson 10, at "=" alone: of a and b only what attention hears is needed.
Tensor scores(const GPT& model, const IntArray& ids) {
  const TransformerBlock& block = model.transformer.h[0];
  const Tensor x = model.transformer.embed(ids), y = select(x + block.attn(block.ln_1(x)), 1, 2);
  return model.lm_head((*model.transformer.ln_f)(y + (*block.mlp)((*block.ln_2)(y))));
}
/// Trains as long as go_on(model, step), asked at every 50th. New in the loop is clipping: where the gradient's norm,
/// sqrt(sum of all g^2), is above 1, each g is divided by it. And the learning rate rises first (warm-up), as AdamW's
/// first step moves w by all of lr (part 1: 0.05), be g chance or not; then it falls slowly (cool-down), to settle.
double train(const Task& task, const Batch& batch, double decay, const std::function<bool(const GPT&, int)>& go_on) {
  const GPT model(gpt_config(task.recipe().config, task.vocab_size(), task.block_size()), Generator(1));
  AdamW optimizer(decay_groups(model, decay), {.betas = {0.9, 0.98}});  // squares of about 50 steps: these are few
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
  valley();
  const ModularAdditionTask task;
  const Questions trained = task.evaluation(1000, Split::train), others = task.evaluation(1000);
  const int pairs = int(task.pairs(Split::train));
  std::printf("\n2. A GPT of one block reads a, b and =, and is to say (a + b) mod 31: for 16, then %d of 961 pairs\n",
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
      "\nTry: use x alone in scores(): does the first test notice? Weight decay 0.3: when does it find the rule?\n"
      "Now read train/optim/adamw.h, train/loop/fit.cpp and examples/lessons/14_induction.cpp: "
      "what a model finds inside.\n");
}
}  // namespace

int main(int, char** argv) { return run_lesson(argv, lesson, "SGD; AdamW; warm-up; clipping; weight decay; grokking"); }
