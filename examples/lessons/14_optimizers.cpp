// Lesson 14. Optimizers by hand: SGD, momentum and AdamW, equal to mote's optimizers to the last bit. The lesson also
// shows what clipping of gradients does.
#include <cmath>

#include "engine/engine.h"
#include "examples/lessons/lesson.h"
#include "train/train.h"

using namespace mote;

namespace {
/// A weight w, and the numbers that an optimizer remembers of the gradients g of this weight. In the rules below,
/// std::fma(a, b, c) is a fused multiply-add: a b + c, rounded only once.
struct Weight {
  real w = 1, velocity = 0, mean = 0, square = 0;
};
/// SGD: w = w - lr g, a step against the slope. lr is the learning rate.
void sgd(Weight& x, real g, double lr, double) { x.w = std::fma(real(-lr), g, x.w); }
/// Momentum: velocity = 0.9 velocity + g, and w = w - lr velocity. Equal gradients add up to 1 + 0.9 + 0.81 + ... = 10
/// times one gradient. Of gradients that change their sign in every step, only 1 - 0.9 + 0.81 - ... = 0.53 of one
/// gradient is left.
void momentum(Weight& x, real g, double lr, double) {
  x.velocity = x.velocity * real(0.9) + g;
  x.w = std::fma(real(-lr), x.velocity, x.w);
}
/// AdamW, where t = 1, 2, ... is the number of the step. `mean` is the mean of about the last 10 gradients
/// (1 - beta1 = 1/10), and `square` is the mean of about the last 1000 squares g^2. If the gradients agree, the size
/// of mean / sqrt(square) is near 1, however large the gradients are. So w moves by about lr. The W stands for
/// decoupled weight decay, which shrinks w itself. If the decay were added to g, it would be divided by sqrt(square),
/// too, and weights with large gradients would hardly shrink.
void adamw(Weight& x, real g, double lr, double t) {
  const double beta1 = 0.9, beta2 = 0.999, decay = 0.01, eps = 1e-8;
  x.w *= real(1 - lr * decay);                                          // decay: w shrinks unless g pushes it back
  x.mean = std::fma(real(1 - beta1), g, x.mean * real(beta1));          // beta1 mean + (1 - beta1) g
  x.square = std::fma(real(1 - beta2) * g, g, x.square * real(beta2));  // the same for g^2 with beta2
  // Both means began at 0. After t equal gradients they have reached only the part 1 - beta^t of the right value, so
  // each mean is divided by this part.
  const real size = std::sqrt(x.square) / real(std::sqrt(1 - math::pow(beta2, t))) + real(eps);  // eps: no 0 / 0
  x.w -= real(lr / (1 - math::pow(beta1, t))) * x.mean / size;
}
bool as_mote = true;  // whether each step by hand equals the step of mote's optimizer
/// Takes 200 steps from (a, b) = (1, 1) down the valley (a^2 + 100 b^2) / 2. Steps are taken with `rule`, one of the
/// functions above, and with mote's optimizer `theirs`. Returns (a, b) after each step.
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
void lesson() {
  std::printf("From a = b = 1 down the valley (a^2 + 100 b^2) / 2, whose gradient is (a, 100 b). a and b after\n%s",
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
  Weight odd, cut;  // two more runs of AdamW on a: at step 100, g is 1000 for `odd`, and 1000 clipped to 1 for `cut`
  for (int t = 1; t <= 200; ++t) {
    adamw(odd, t == 100 ? 1000 : odd.w, 0.05, t);
    adamw(cut, t == 100 ? 1 : cut.w, 0.05, t);
  }
  std::printf("   With one odd gradient at step 100, 1000: a = %.4f after 200; clipped to 1: %.4f\n", odd.w, cut.w);
  claim(std::abs(odd.w) > 20 * std::abs(cut.w), "one odd gradient throws AdamW off for long; clipped it does not");
  std::printf(
      "\nTry: SGD with lr 0.02. AdamW with lr 0.5: why does it not fly off? Which beta decides how soon it forgets?\n"
      "Now read train/optim/adamw.h, train/loop/fit.cpp and examples/lessons/15_grokking.cpp: a rule found late.\n");
}
}  // namespace

int main(int, char** argv) { return run_lesson(argv, lesson, "SGD; AdamW; clipping"); }
