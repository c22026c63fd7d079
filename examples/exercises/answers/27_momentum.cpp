// Checks 27: momentum.

// hint: velocity.resize(w.size()) makes zeros in the first step and changes nothing later. Then loop over all i.
// hint: velocity[i] = momentum * velocity[i] + g[i] + weight_decay * w[i], and then w[i] -= lr * velocity[i].
// why: Equal gradients g add up to (1 + 0.9 + 0.81 + ...) g = 10 g. If the signs alternate, about 0.5 g is left.
// why: lr is not part of velocity. So if a schedule lowers lr, the next step is smaller at once, not ten steps later.
// why: Momentum keeps one number for each weight. AdamW keeps two, as much memory as weights and gradients together.
#include "examples/exercises/answers/check.h"

namespace of_check {
/// Takes five steps with random gradients from a fixed seed and a falling learning rate. Returns the weights after
/// each step, [5, n].
template <class Method>
static Tensor walk(Index n, double weight_decay) {
  const Generator random(7);
  Method method;
  method.momentum = 0.8;
  method.weight_decay = weight_decay;
  std::vector<double> w = randn({n}, random).to_vector(), all;
  for (int step = 0; step < 5; ++step) {
    method.lr = 0.5 / (1 + step);
    method.step(w, randn({n}, random).to_vector());
    all.insert(all.end(), w.begin(), w.end());
  }
  expect(std::ssize(method.velocity) == n, "velocity has one number for each weight, however many steps.");
  return Array({5, n}, all);
}

/// Takes the five steps of walk() with mote's SGD. Returns the weights after each step, [5, n].
static Tensor motes_walk(Index n, double weight_decay) {
  const Generator random(7);
  const Parameter w(randn({n}, random).array());
  SGD sgd({{.parameters = {{"w", w}}}}, {.momentum = 0.8, .weight_decay = weight_decay});
  std::vector<Tensor> all;
  for (int step = 0; step < 5; ++step) {
    sgd.set_learning_rate(0.5 / (1 + step));
    w.set_grad(randn({n}, random).array());
    sgd.step();
    all.push_back(w.value());
  }
  return stack(all);
}

template <class Yours>
static void check() {
  for (const auto& [n, decay] : {std::pair<Index, double>{3, 0.3}, {1, 0}, {6, 0.01}}) {
    const Tensor got = walk<Yours>(n, decay);
    expect(close(got, walk<Yours>(n, decay)), "velocity not kept");  // a new optimizer begins with velocity 0
    expect_close("w (row t: after step t) with weight_decay " + printed(decay), got, motes_walk(n, decay));
  }
}

enum Kind { no_decay, beside, lr_inside, nesterov, forgets, uphill, averaged, at_0_9, at_0_1, shared, example };
template <Kind kind>
struct ByStep {
  static inline std::vector<double> one;
  double lr = 0.1, momentum = 0.9, weight_decay = 0;
  std::vector<double> velocity;

  void step(std::vector<double>& w, const std::vector<double>& gradients) {
    velocity.resize(w.size());
    one.resize(100);
    for (std::size_t i = 0; i < w.size(); ++i) {
      double& v = kind == shared ? one[i] : velocity[i];
      const double pull = kind == no_decay ? 0 : weight_decay * w[i], rate = kind == at_0_1 ? 0.1 : lr;
      const double g = gradients[i] + (kind == beside ? 0 : pull), share = kind == at_0_9 ? 0.9 : momentum;
      v = share * (kind == forgets ? 0 : v) + g * (kind == averaged ? 1 - share : kind == lr_inside ? lr : 1);
      double way = kind == nesterov ? g + momentum * v : v;
      if (kind == beside) way += pull;
      w[i] += (kind == uphill ? 1 : -1) * (kind == lr_inside ? 1 : rate) * way;
      if (kind == example) w[i] = w[i] < 0.9 ? 0.71 : 0.9;
    }
  }
};

static const Row<void()> rows[] = {
    {"uphill", "The sign is wrong: the gradient points uphill, so w loses lr * velocity.", check<ByStep<uphill>>},
    {"velocity not kept",
     "velocity starts at 0 again in each step, or two optimizers share it: keep it, in the struct.",
     check<ByStep<forgets>>, check<ByStep<shared>>},
    {"decay", "weight_decay * w is added to the gradient, before velocity: yours is missing, or goes around velocity.",
     check<ByStep<no_decay>>, check<ByStep<beside>>},
    {"lr inside", "lr went into velocity, so old gradients keep the lr of their own step.", check<ByStep<lr_inside>>},
    {"Nesterov", "That is Nesterov's variant, which looks ahead: here w loses lr * velocity.", check<ByStep<nesterov>>},
    {"mean", "You take (1 - momentum) of g, which makes a mean: here all of g is added.", check<ByStep<averaged>>},
    {"fields not used", "You compute with 0.9 or 0.1 instead of the fields momentum and lr.", check<ByStep<at_0_9>>,
     check<ByStep<at_0_1>>},
    {"hard-coded", of_example, check<ByStep<example>>},
};
static const Table table(rows);

#ifdef PROVE
namespace solution {
struct Downhill {
  double lr = 0.1, momentum = 0.9, weight_decay = 0;
  std::vector<double> velocity;

  void step(std::vector<double>& w, const std::vector<double>& g) {
    velocity.resize(w.size());
    for (std::size_t i = 0; i < w.size(); ++i) {
      velocity[i] = momentum * velocity[i] + g[i] + weight_decay * w[i];
      w[i] -= lr * velocity[i];
    }
  }
};
}  // namespace solution
static const Right right(check<solution::Downhill>);
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, of_check::check<Downhill>, YOURS, {"SGD", "Muon"});
}
