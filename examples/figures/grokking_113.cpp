// Grokking, taken apart: Nanda et al. 2023 (arXiv 2301.05217). A block learns a + b mod 113 by heart, then by waves.
// With --quick the first 1,400 steps: by heart.
#include <chrono>
#include <cmath>

#include "engine/engine.h"
#include "examples/lesson.h"
#include "models/fourier.h"
#include "nn/nn.h"
#include "train/train.h"

using namespace mote;

namespace {
constexpr Index p = 113, width = 128, hidden = 512;
using Weights = std::array<Parameter, 10>;

/// A block of 4 heads, no norms and no biases, read at "=" alone. A pair is three of 227 vectors, a at 0, b at 1 and =
/// at 2: keys and values are made of each once, not in every pair. pairs [B, 3] -> logits [B, p], neurons [B, hidden].
std::pair<Tensor, Tensor> read(const Weights& weights, const IntArray& pairs) {
  const auto& [numbers, equals, places, q, k, v, out, up, down, unembed] = weights;
  const std::vector<Tensor> at = unbind(unsqueeze(places, 1));
  const Tensor end = equals + at[2], all = cat({numbers + at[0], numbers + at[1], end});
  const Tensor query = expand(unsqueeze(linear(end, q), 0), {pairs.shape()[0], 1, width});
  const Tensor keys = embedding(linear(all, k), pairs), values = embedding(linear(all, v), pairs);
  const Tensor x = end + linear(select(attention(query, keys, values, Heads{4}, {}, Generator()), 1, 0), out);
  const Tensor neurons = relu(linear(x, up));
  return {linear(x + linear(neurons, down), unembed), neurons};
}

/// Cross-entropy as log(1 + sum of e^(z_j - z_right)): its gradient is exact where a float takes e^-20 for 0 beside 1.
Tensor loss_of(const Tensor& z, const IntArray& right) {
  const Tensor ahead = z - gather(z, 1, right.reshape({-1, 1}));
  return mean(log(1 + sum(exp(masked_fill(ahead, embedding(eye(p), right) > 0.5, -INFINITY)), {1})));
}

void lesson(bool quick) {
  const auto begin = std::chrono::steady_clock::now();
  const Generator random(1);
  const std::vector<Index> order = random.randperm(p * p);
  IntArray pairs({p * p, 3}), sums({p * p}), grid({p * p});  // in this order; where a pair stands in it
  for (Index i = 0; i < p * p; ++i) {
    const Index a = order[std::size_t(i)] / p, b = order[std::size_t(i)] % p;
    std::ranges::copy(std::array{a, p + b, 2 * p}, pairs.mutate() + 3 * i);
    sums.mutate()[i] = (a + b) % p, grid.mutate()[a * p + b] = i;
  }
  const Index n = p * p * 3 / 10;  // to train on: the first of them
  const IntArray known = pairs.slice(0, 0, n), right = sums.slice(0, 0, n);
  Weights weights;
  ParameterGroup group;
  const Index to[] = {p, 1, 3, width, width, width, width, hidden, width, p};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double std = 1 / std::sqrt(i == 9 ? p : width);
    weights[i] = Parameter(Init(random).normal({to[i], i == 8 ? hidden : width}, 0, std));
    group.parameters.push_back({std::to_string(i), weights[i]});
  }
  AdamW optimizer({group}, {.betas = {0.9, 0.98}, .weight_decay = 1});
  std::vector<Weights> saved;  // every 200 steps, and their losses
  std::vector<double> train, test, restricted, excluded;
  std::printf("  step    train loss   test loss   Gini of the numbers' waves\n");
  for (int step = 0; step <= (quick ? 1400 : 14'000); ++step) {
    if (step % 200 == 0) {
      const NoGrad no_grad;
      const Tensor z = read(weights, pairs).first;
      train.push_back(number(loss_of(slice(z, 0, 0, n), right)));
      test.push_back(number(cross_entropy(slice(z, 0, n, p * p), sums.slice(0, n, p * p))));
      std::printf("%6d    %10.2g  %10.3g   %4.2f\n", step, train.back(), test.back(),
                  gini(sqrt(frequency_shares(weights[0]))));
      std::fflush(stdout);
      for (Parameter& w : saved.emplace_back(weights)) w = Parameter(w.value());
    }
    optimizer.zero_grad();
    loss_of(read(weights, known).first, right).backward();
    optimizer.set_learning_rate(1e-3 * std::min(1.0, step / 10.0));
    optimizer.step();
  }
  const auto below_1 = [](const std::vector<double>& losses) {  // from which step on
    return 200 * (std::ranges::find_if(losses, [](double loss) { return loss < 1; }) - losses.begin());
  };
  const auto peak = std::ranges::max_element(test);
  std::printf(
      "start %.3f (paper 4.735); train loss at step 200 %.3f (0.032); test loss at most %.1f at step %td (34.1 at\n"
      "1,400); %.0f s\n",
      train[0], train[1], *peak, 200 * (peak - test.begin()),
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  claim(std::abs(train[0] - 4.735) < 0.1, "it starts by guessing, ln 113 = 4.727");
  claim(train[1] < 0.1 && *peak > 10 && *peak < 100, "it knows the pairs by heart, and of others less than nothing");
  if (quick) return;

  const NoGrad no_grad;
  const Tensor shares = frequency_shares(weights[0]);
  Array key = Array::zeros({p, 1});  // 1 for cos and sin of frequencies that have 4 % of the numbers' variance
  for (Index row = 1; row < p; ++row) key.mutate()[row] = shares.array().at({(row - 1) / 2}) > 0.04;
  const Tensor waves = embedding(transpose(fourier_basis(p), 0, 1), sums);  // of a + b, [p^2, p]
  std::printf(
      "Losses, restricted to key frequencies of a + b (all pairs), and with these excluded (training pairs):\n");
  for (std::size_t i = 0; i < saved.size(); ++i) {
    const Tensor z = read(saved[i], pairs).first, part = matmul(waves, key * matmul(transpose(waves, 0, 1), z) / p);
    restricted.push_back(number(cross_entropy(mean(z, {0}, true) + part, sums)));
    excluded.push_back(number(loss_of(slice(z - part, 0, 0, n), right)));
    if (i % 5 == 0) std::printf("%6zu    %10.2g  %10.2g\n", 200 * i, restricted[i], excluded[i]);
  }
  const Tensor neurons = reshape(embedding(read(weights, pairs).second, grid), {p, p, hidden});
  int pure = 0, alive = 0;  // of how many neurons one frequency has 0.85 of the variance along a
  for (Index j = 0; j < hidden; ++j) {
    const Tensor neuron = select(neurons, 2, j);
    if (number(max(neuron)) <= 0) continue;
    ++alive, pure += number(max(frequency_shares(neuron))) > 0.85;
  }
  const double keys = number(sum(Tensor(key))) / 2;
  std::printf("key frequencies %.0f (paper 5); %d of 512 neurons alive, of one frequency %d (433)\n", keys, alive,
              pure);
  std::printf("a loss below 1: test from step %td on (13,800), restricted %td\n", below_1(test), below_1(restricted));
  claim(test.back() < 0.01 && keys >= 3 && keys <= 8, "it has found the rule, with a handful of waves");
  claim(below_1(restricted) + 1000 < below_1(test), "the waves could do it long before the list is given up");
  const std::size_t half = std::size_t(below_1(test)) / 300;  // at two thirds of the way
  claim(excluded[half] > 100 * *std::ranges::min_element(excluded), "and even the list's own pairs come to need them");
}
}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    lesson(argc > 1 && std::string(argv[1]) == "--quick");
    return all_claims_hold ? 0 : 1;
  });
}
