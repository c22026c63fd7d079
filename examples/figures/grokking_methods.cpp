// Grokking by six methods: how soon does a transformer block that has memorized a + b mod p find the rule? Five of the
// methods are said to make it find the rule sooner.
#include <memory>

#include "examples/figures/addition_mod_113.h"
#include "examples/figures/record.h"
#include "train/train.h"

using namespace mote;
namespace {
/// A method of training, with its learning rate and weight decay. Of 17 to 20 combinations of both, this one found the
/// rule soonest for seeds 11 to 13.
struct Method {
  std::string name = {};
  double rate = 0, decay = 0;
  const char* is = "";
};
const Method methods[] = {{"adamw", 0.01, 1, "AdamW alone"},
                          {"grokfast", 0.002, 2, "AdamW; slow parts of gradients amplified"},
                          {"muon", 0.05, 1, "Muon; tables and the head by AdamW"},
                          {"perpendicular", 0.01, 0.5, "AdamW; no gradient along the weights"},
                          {"stablemax", 0.01, 0.3, "AdamW; a loss without exponentials"},
                          {"whitened", 0.06, 0.3, "all singular values of gradients about 1: Muon without momentum"}};

/// Grokfast (Lee et al. 2024): adds twice the running mean of each gradient, its slowly changing part, to the
/// gradient.
void amplify(const std::vector<Parameter>& weights, std::vector<Array>& means) {
  means.resize(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Array& g = weights[i].grad();
    means[i] = means[i].defined() ? means[i] * 0.98 + g * 0.02 : g;
    weights[i].set_grad(g + means[i] * 2);
  }
}
/// Perpendicular gradients (Prieto et al. 2025): removes the part of each gradient that only makes weights longer or
/// shorter.
void turn(const std::vector<Parameter>& weights) {
  for (const Parameter& w : weights)
    w.set_grad(w.grad() - w.value() * (sum(w.value() * w.grad()) / sum(w.value() * w.value())));
}
/// StableMax (Prieto et al. 2025): cross-entropy with s(z) in place of e^z. s(z) is 1 + z for z >= 0 and 1 / (1 - z)
/// for z < 0.
Tensor stable_loss(const Tensor& z, const IntArray& right) {
  const Tensor s = relu(z) + 1 / (1 + relu(-z));
  return mean(log(sum(s, {1})) - log(squeeze(gather(s, 1, right.reshape({-1, 1})), 1)));
}

std::unique_ptr<Optimizer> optimizer_of(const Weights& weights, const Method& method) {
  const bool whitened = method.name == "whitened", muon = method.name == "muon";
  MuonGroups groups{{{{}, method.decay}}, {{{}, method.decay}}};
  for (std::size_t i = 0; i < weights.size(); ++i)  // weights 0 to 2 are embedding tables, weight 9 is the output layer
    (whitened || (muon && i >= 3 && i < 9) ? groups.matrices : groups.others)[0].parameters.push_back(
        {std::to_string(i), weights[i]});
  if (!muon && !whitened) return std::make_unique<AdamW>(groups.others, AdamWOptions{.betas = {0.9, 0.98}});
  if (whitened) groups.others.clear();
  return std::make_unique<Muon>(groups, MuonOptions{.momentum = whitened ? 0 : 0.95, .betas = {0.9, 0.98}});
}

/// Trains until 99 % of the held-out pairs are right, which is checked every ten steps, or for 3,000 steps. Returns
/// the number of steps and the seconds. Errors: a loss that is not finite.
std::pair<int, double> train(const Method& method, Index modulus, Index seed) {
  const Generator random(static_cast<std::uint64_t>(seed));
  const Pairs all(random, modulus);
  const Index pairs = modulus * modulus, known = modulus == p ? pairs * 3 / 10 : pairs / 2;
  const Weights weights = weights_of(random, modulus);
  const std::unique_ptr<Optimizer> optimizer = optimizer_of(weights, method);
  std::vector<Array> means;
  const auto right = [&] {
    const NoGrad no_grad;
    const IntArray said = argmax(read(weights, all.ids.slice(0, known, pairs)).first, -1);
    return static_cast<double>(mean(tensor(said == all.sums.slice(0, known, pairs))).item());
  };
  int steps = 3000;
  double seconds = 0;
  for (int step = 1; step <= steps; ++step) {
    const double begin = seconds_now();
    std::vector<Index> rows = random.randperm(known);
    rows.resize(modulus == p ? rows.size() : 512);
    const IntArray sums = take_rows(all.sums, rows);
    optimizer->zero_grad();
    const Tensor z = read(weights, take_rows(all.ids, rows)).first;
    const Tensor loss = method.name == "stablemax" ? stable_loss(z, sums) : cross_entropy(z, sums);
    check(std::isfinite(loss.item()), "the loss is ", loss.item(), " at step ", step);
    loss.backward();
    if (method.name == "grokfast") amplify(optimizer->parameters(), means);
    if (method.name == "perpendicular") turn(optimizer->parameters());
    optimizer->set_learning_rate(method.rate * std::min(1.0, step / 10.0));
    optimizer->step();
    seconds += seconds_now() - begin;
    if (step % 10 == 0 && right() >= 0.99) steps = step;
  }
  std::printf("%4d %6d %8.1f  %016llx\n", static_cast<int>(seed), steps, seconds, hash_of(weights));
  return {steps, seconds};
}
}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    std::string name = "whitened";
    Seeds seeds{1, 1};
    Index modulus = 97;
    std::optional<double> rate, decay;
    const std::string usage =
        "[adamw|grokfast|muon|perpendicular|stablemax|whitened] [SEEDS: 1 or 1-10] [MODULUS: 41 to 500] [RATE DECAY]";
    read_words(argc, argv, usage, name, seeds, modulus, rate, decay);
    Method method;
    for (const Method& m : methods) method = m.name == name ? m : method;
    method.rate = rate.value_or(method.rate);
    method.decay = decay.value_or(method.decay);
    if (method.name.empty() || modulus < 41 || modulus > 500 || !(method.rate > 0 && method.decay >= 0))
      throw UsageError("a word is none of " + usage);
    std::printf("a + b mod %d: %s, rate %g, decay %g (3000: never)\nseed  steps  seconds  hash of the weights\n",
                static_cast<int>(modulus), method.is, method.rate, method.decay);
    std::vector<double> seconds;
    const std::vector<double> steps = of_seeds(seeds, [&](Index seed) {
      const auto [taken, time] = train(method, modulus, seed);
      seconds.push_back(time);
      return taken;
    });
    std::printf("steps: median %.0f, worst %.0f; seconds: %.1f, %.1f\n", median(steps), largest(steps), median(seconds),
                largest(seconds));
    return 0;
  });
}
