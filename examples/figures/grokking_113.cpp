// Grokking, taken apart (Nanda et al. 2023). A transformer block first memorizes a + b mod 113, and later finds a rule
// that consists of waves. With --quick, the program stops after the memorizing.
#include <chrono>

#include "examples/figures/addition_mod_113.h"
#include "examples/lessons/lesson.h"
#include "models/fourier.h"
#include "train/train.h"

using namespace mote;
namespace {
void figure(int argc, char** argv) {
  const bool quick = argc > 1;
  if (quick && argv[1] != std::string("--quick")) throw UsageError("it takes --quick, or nothing");
  const auto begin = std::chrono::steady_clock::now();
  const Generator random(1);
  const Pairs all(random);
  const Index n = p * p * 3 / 10;  // the first n pairs are the training set
  const IntArray known = all.ids.slice(0, 0, n), right = all.sums.slice(0, 0, n), unseen = all.sums.slice(0, n, p * p);
  const Weights weights = weights_of(random);
  ParameterGroup group;
  for (const Parameter& w : weights) group.parameters.push_back({std::to_string(group.parameters.size()), w});
  AdamW optimizer({group}, {.betas = {0.9, 0.98}, .weight_decay = 1});
  std::vector<double> train, test, restricted, excluded;
  std::vector<Weights> saved;  // every 200 steps
  std::printf("  step    train loss   test loss   Gini of the numbers' waves\n");
  for (int step = 0; step <= (quick ? 1400 : 14'000); ++step) {
    if (step % 200 == 0) {
      const NoGrad no_grad;
      const Tensor z = read(weights, all.ids).first;
      train.push_back(number(loss_of(slice(z, 0, 0, n), right)));
      test.push_back(number(cross_entropy(slice(z, 0, n, p * p), unseen)));
      const double uneven = gini(sqrt(frequency_shares(weights[0])));
      std::printf("%6d    %10.2g  %10.3g   %4.2f\n", step, train.back(), test.back(), uneven);
      for (Parameter& w : saved.emplace_back(weights)) w = Parameter(w.value());
    }
    optimizer.zero_grad();
    loss_of(read(weights, known).first, right).backward();
    optimizer.set_learning_rate(1e-3 * std::min(1.0, step / 10.0));
    optimizer.step();
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const auto peak = std::ranges::max_element(test);
  std::printf(
      "%.0f s. Start %.3f (paper 4.735), train loss at 200 %.3f (0.032), test loss at most %.1f at %td (34.1 at "
      "1,400)\n",
      seconds.count(), train[0], train[1], *peak, 200 * (peak - test.begin()));
  claim(std::abs(train[0] - 4.735) < 0.1, "it starts by guessing, ln 113 = 4.727");
  claim(train[1] < 0.1 && *peak > 10 && *peak < 100, "it knows the pairs by heart, and of others less than nothing");
  if (quick) return;
  const NoGrad no_grad;
  const Tensor shares = frequency_shares(weights[0]), basis = fourier_basis(p);
  Array key = Array::zeros({p, 1});  // 1 for cos and sin of frequencies with over 4 % of the embedding's variance
  for (Index row = 1; row < p; ++row) key.mutate()[row] = shares.array().at({(row - 1) / 2}) > 0.04;
  const Tensor waves = embedding(transpose(basis, 0, 1), all.sums);  // waves of a + b, [p^2, p]
  for (const Weights& then : saved) {  // the loss with only the key frequencies of a + b, and the loss without them
    const Tensor z = read(then, all.ids).first, part = matmul(waves, key * matmul(transpose(waves, 0, 1), z) / p);
    restricted.push_back(number(cross_entropy(mean(z, {0}, true) + part, all.sums)));
    excluded.push_back(number(loss_of(slice(z - part, 0, 0, n), right)));
  }
  const Tensor neurons = reshape(embedding(read(weights, all.ids).second, all.grid), {p, p, hidden});
  int pure = 0;
  for (Index j = 0; j < hidden; ++j)
    pure += number(max(select(neurons, 2, j))) > 0 && purity(select(neurons, 2, j), basis) > 0.85;
  const auto from = [](const std::vector<double>& x, bool above) {  // the step from which on all losses are > 1 or < 1
    return 200 * (std::find_if(x.rbegin(), x.rend(), [&](double l) { return (l > 1) != above; }).base() - x.begin());
  };
  const double keys = number(sum(Tensor(key))) / 2;
  std::printf(
      "Key frequencies %.0f (5); neurons with 85 %% of their variance from one %d of 512 (433); test loss below 1 "
      "from\nstep %td on (13,800), restricted to these frequencies from %td, and with them taken out above 1 from "
      "%td\n",
      keys, pure, from(test, false), from(restricted, false), from(excluded, true));
  claim(test.back() < 0.01 && keys >= 3 && keys <= 8, "it has found the rule, with a handful of waves");
  claim(from(restricted, false) + 1000 < from(test, false), "the waves could do it long before the list is given up");
  claim(from(excluded, true) + 1000 < from(test, false), "and the list's own pairs come to need them long before, too");
}
}  // namespace
int main(int argc, char** argv) {
  return run_lesson(1, argv, [&](const char*) { figure(argc, argv); });
}
