// Checks 27: momentum.

// hint: velocity.resize(w.size()) makes zeros in the first step and changes nothing later. Then loop over all i.
// hint: velocity[i] = momentum * velocity[i] + g[i] + weight_decay * w[i], and then w[i] -= lr * velocity[i].
// why: Equal gradients add up to 1 + 0.9 + 0.81 + ... = 10 times one; those that change their sign halve.
// why: lr stands outside of velocity: if a schedule lowers it, the next step is smaller at once, not ten steps later.
// why: One number is kept for each weight; AdamW keeps two, as much as weights and gradients together.
#include "examples/exercises/answers/check.h"

namespace of_check {
enum Mistake { no_decay, beside, lr_inside, nesterov, forgets, uphill, averaged, grows, constant };
template <Mistake mistake>
struct Wrongly {
  double lr = 0.1, momentum = 0.9, weight_decay = 0;
  std::vector<double> velocity;

  void step(std::vector<double>& w, const std::vector<double>& gradients) {
    velocity.resize(mistake == grows ? velocity.size() + w.size() : w.size());
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double pull = mistake == no_decay ? 0 : weight_decay * w[i];
      const double g = gradients[i] + (mistake == beside ? 0 : pull), kept = mistake == forgets ? 0 : velocity[i];
      const double share = mistake == averaged ? 1 - momentum : mistake == lr_inside ? lr : 1;
      velocity[i] = momentum * kept + share * g;
      double way = mistake == nesterov ? g + momentum * velocity[i] : velocity[i];
      if (mistake == beside) way += pull;
      w[i] += (mistake == uphill ? 1 : -1) * (mistake == lr_inside ? 1 : lr) * way;
      if (mistake == constant) w[i] = w[i] < 0.9 ? 0.71 : 0.9;
    }
  }
};

/// The weights after each of five steps, a row for each, with gradients from one seed and a learning rate that falls.
template <class Method>
static Tensor walk(Index n, double weight_decay) {
  const Generator random(7);
  Method method;
  method.momentum = 0.8, method.weight_decay = weight_decay;
  std::vector<double> w = randn({n}, random).to_vector(), all;
  for (int step = 0; step < 5; ++step) {
    method.lr = 0.5 / (1 + step);
    method.step(w, randn({n}, random).to_vector());
    all.insert(all.end(), w.begin(), w.end());
  }
  expect(std::ssize(method.velocity) == n,
         "velocity has " + printed(method.velocity.size()) + " numbers for " + printed(n) + " weights: one for each.");
  return Array({5, n}, all);
}

/// The same by mote's SGD.
static Tensor motes_walk(Index n, double weight_decay) {
  const Generator random(7);
  const Parameter w(randn({n}, random).array());
  SGD sgd({{.parameters = {{"w", w}}}}, {.momentum = 0.8, .weight_decay = weight_decay});
  std::vector<Tensor> all;
  for (int step = 0; step < 5; ++step) {
    sgd.set_learning_rate(0.5 / (1 + step)), w.set_grad(randn({n}, random).array()), sgd.step();
    all.push_back(w.value());
  }
  return stack(all);
}

template <class Yours>
static void check() {
  for (const auto& [n, decay] : {std::pair<Index, double>{3, 0.3}, {1, 0}, {6, 0.01}}) {
    const Tensor got = walk<Yours>(n, decay), want = motes_walk(n, decay);
    const auto no = [&](const Tensor& wrong, const char* sentence) {
      if (!close(wrong, want)) expect_not(got, wrong, sentence);
    };
    no(walk<Wrongly<uphill>>(n, decay), "The sign is wrong: the gradient points uphill, so w loses lr * velocity.");
    no(walk<Wrongly<forgets>>(n, decay),
       "velocity starts at 0 again in each step, or is not used: keep it, in the struct.");
    no(walk<Wrongly<no_decay>>(n, decay), "weight_decay has no effect: weight_decay * w is added to the gradient.");
    no(walk<Wrongly<beside>>(n, decay), "Weight decay goes around velocity: add weight_decay * w to g before that.");
    no(walk<Wrongly<lr_inside>>(n, decay), "lr went into velocity, so old gradients keep the lr of their own step.");
    no(walk<Wrongly<nesterov>>(n, decay), "That is Nesterov's variant, which looks ahead: here w loses lr * velocity.");
    no(walk<Wrongly<averaged>>(n, decay), "You take (1 - momentum) of g, which makes a mean: here all of g is added.");
    expect_close("w (row t: after step t) with weight_decay " + printed(decay), got, want);
  }
}

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

static const Tried tried[] = {
    {"solution", "", check<solution::Downhill>},
    {"uphill", "points uphill", check<Wrongly<uphill>>},
    {"velocity not kept", "starts at 0 again", check<Wrongly<forgets>>},
    {"decay forgotten", "no effect", check<Wrongly<no_decay>>},
    {"decay beside velocity", "around velocity", check<Wrongly<beside>>},
    {"lr inside", "lr went into", check<Wrongly<lr_inside>>},
    {"Nesterov", "Nesterov", check<Wrongly<nesterov>>},
    {"mean", "makes a mean", check<Wrongly<averaged>>},
    {"grows", "one for each", check<Wrongly<grows>>},
    {"hard-coded", "row t", check<Wrongly<constant>>},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, of_check::check<Downhill>, YOURS, {"SGD", "Muon"});
}
