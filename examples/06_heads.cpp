// What is here: lesson 6. What a second head is good for: the same layer with 1, 2 and 8 heads, compared by what it
//   computes, what it costs, and what it can learn.
// What is not: pictures of heads (attention_maps.cpp).
// Read next: attention_maps.cpp.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

#include "engine/engine.h"
#include "models/gpt.h"
#include "train/adamw.h"
#include "train/fit.h"
#include "train/tasks/two_places.h"

using namespace mote;

namespace {

double norm(const Tensor& x) { return std::sqrt(static_cast<double>(sum(x * x).item())); }

/// The same layer with 8 heads and with 1, on the same input.
void outputs_and_sizes() {
  std::printf(
      "Attention of width 512 on input [1, 32, 512], dropout 0.1\n"
      "  heads   parameters   norm of the output   in training mode, twice\n");
  const Tensor x = randn({1, 32, 512}, Generator(0));
  for (const Index heads : {8, 1}) {
    MultiHeadAttention attention(512, heads, Generator(1), {.bias = false, .dropout = 0.1, .fused = false});
    const NoGrad no_grad;
    const double noisy = norm(attention(x, x, x));
    const double again = norm(attention(x, x, x));
    attention.eval();
    std::printf("  %5d   %10lld   %18.4f   %.4f, %.4f\n", static_cast<int>(heads),
                static_cast<long long>(parameter_count(attention)), norm(attention(x, x, x)), noisy, again);
  }
  std::printf(
      "Heads cut the same matrices into more pieces: not one parameter more. Norms are compared in evaluation\n"
      "mode; in training mode dropout draws anew at every call, and the numbers say nothing about heads.\n\n");
}

/// Median milliseconds of one forward pass for each number of heads, measured in turns so that a slow moment of the
/// machine hits all of them.
void times() {
  const std::vector<Index> counts{1, 8, 16};
  std::vector<MultiHeadAttention> layers;
  for (const Index heads : counts)
    layers.emplace_back(512, heads, Generator(1), MultiHeadAttentionOptions{.causal = true});
  const Tensor x = randn({4, 256, 512}, Generator(0));
  std::vector<std::vector<double>> milliseconds(counts.size());
  const NoGrad no_grad;
  for (int round = 0; round < 11; ++round)
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const auto start = std::chrono::steady_clock::now();
      layers[i](x);
      milliseconds[i].push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
  std::printf("Time of a forward pass, width 512, input [4, 256, 512] (median of 11, this machine)\n");
  for (std::size_t i = 0; i < counts.size(); ++i) {
    std::nth_element(milliseconds[i].begin(), milliseconds[i].begin() + 5, milliseconds[i].end());
    std::nth_element(milliseconds[0].begin(), milliseconds[0].begin() + 5, milliseconds[0].end());
    std::printf("  %2d head%s %6.2f ms, %.2f times that of one head\n", static_cast<int>(counts[i]),
                counts[i] == 1 ? " " : "s", milliseconds[i][5], milliseconds[i][5] / milliseconds[0][5]);
  }
  std::printf(
      "The products cost the same; what grows is the softmax, which every head has over all pairs of tokens.\n\n");
}

/// Share of right answers after 1,000 steps on a task that needs two earlier tokens at once.
double accuracy(Index heads, std::uint64_t seed) {
  const TwoPlacesTask task;
  GPTConfig c = GPTConfig::attention_only();
  c.block_size = task.length, c.vocab_size = task.modulus, c.n_layer = 1, c.n_head = heads, c.n_embd = 32;
  const Generator random(seed), data(seed + 100), fresh(seed + 200);
  GPT model(c, random);
  AdamW optimizer(all_parameters(model), {.lr = 3e-3});
  fit(optimizer,
      [&](Index) {
        const Batch batch = task.batch(64, data);
        return model.loss(batch.ids, batch.targets);
      },
      {.steps = 1000, .clip = 0});
  const NoGrad no_grad;
  model.eval();
  const Batch test = task.batch(500, fresh);
  const Tokens answer = argmax(model(test.ids));
  Index right = 0, asked = 0;
  for (Index i = 0; i < answer.numel(); ++i) {
    if (test.targets.data()[i] < 0) continue;
    ++asked;
    right += answer.data()[i] == test.targets.data()[i];
  }
  return static_cast<double>(right) / static_cast<double>(asked);
}

}  // namespace

int main() {
  outputs_and_sizes();
  times();
  std::printf(
      "Predict (x[t-1] + x[t-3]) mod 7: one attention layer of width 32, 1,000 steps, answers to fresh rows, for\n"
      "three seeds (guessing would be right in 14.3 %%)\n");
  bool as_expected = true;
  for (const Index heads : {1, 2, 8}) {
    std::printf("  %d head%s", static_cast<int>(heads), heads == 1 ? " " : "s");
    for (const std::uint64_t seed : {1, 2, 3}) {
      const double share = accuracy(heads, seed);
      std::printf("  %5.1f %%", 100 * share);
      as_expected = as_expected && (heads == 1 ? share < 0.8 : share > 0.9);
    }
    std::printf("\n");
  }
  std::printf(
      "A head hands on one mixture of what it looks at. With one head the two numbers arrive mixed in one vector;\n"
      "with two heads each place can have a head, and a part of the vector, of its own.\n");
  return as_expected ? 0 : 1;
}
