// The geometry of superposition (Elhage et al., "Toy Models of Superposition"). How much of 20 dimensions does each of
// 100 equal features get? A feature may have a dimension of its own (1), share one dimension with its opposite (1/2),
// or share two dimensions with two other features in a triangle (2/3).
#include <algorithm>
#include <cmath>

#include "engine/engine.h"
#include "examples/lessons/lesson.h"
#include "nn/nn.h"
#include "train/train.h"

using namespace mote;

namespace {
constexpr Index features = 100, dims = 20, rarities = 12, seeds = 3, rows = 128, steps = 6'000;

/// Trains the models x' = relu(W^T W x + b) to reconstruct x, as in superposition.cpp. Returns W [rarities, seeds,
/// features, dims].
Tensor trained(const Tensor& chance) {
  const Generator random(1);
  const Parameter b(Array::zeros({rarities, seeds, 1, features})), W(Array::zeros({rarities, seeds, features, dims}));
  init::normal(W, 0, std::sqrt(2.0 / (features + dims)), random);
  AdamW optimizer({{.parameters = {{"W", W}, {"b", b}}}}, {.weight_decay = 0});
  for (Index step = 0; step < steps; ++step) {
    const Tensor u = rand({rarities, seeds, rows, features}, random) / chance, x = where(u < 1, u, 0);
    const Tensor error = relu(matmul(matmul(x, W), transpose(W, 2, 3)) + b) - x;
    optimizer.zero_grad();
    (sum(error * error) / rows).backward();
    optimizer.set_learning_rate(3e-3 * (1 - double(step) / steps));
    optimizer.step();
  }
  return W.value();
}

void lesson() {
  const Tensor chance = reshape(pow(Tensor(0.1), linspace(0, 1, rarities)), {rarities, 1, 1, 1}), W = trained(chance);
  const Tensor squares = sum(W * W, {3}), hat = W / sqrt(unsqueeze(squares, -1));
  const Tensor overlap = matmul(hat, transpose(W, 2, 3));
  const Tensor share = squares / sum(overlap * overlap, {3});  // D_i = |W_i|^2 / sum over j of (W_i / |W_i| . W_j)^2
  std::printf(
      "1 / chance: m / |W|^2, dimensions for each feature, of 3 models; how many features in all are longer than\n"
      "0.5, and which share D of a dimension they have, in steps of 1/60 (. 1 or 2, + to 9, # more)\n"
      "%54s%s\n",
      "2/5", "   1/2       2/3  3/4            1");
  double dense = 0, half = 1;
  std::array<int, 61> all{};
  for (Index r = 0; r < rarities; ++r) {
    const double rare = 1 / double(chance.array().data()[r]);
    std::printf("%5.2f: ", rare);
    std::array<int, 61> bins{};
    int kept = 0;
    for (Index s = 0; s < seeds; ++s) {
      const double each = dims / double(sum(select(select(squares, 0, r), 0, s)).item());
      std::printf(" %.2f", each);
      if (r == 0) dense = std::max(dense, std::abs(each - 1));
      for (Index f = 0; f < features; ++f) {
        if (squares.array().at({r, s, f}) < 0.25) continue;
        const std::size_t bin = std::size_t(std::min(60.0, std::round(60 * double(share.array().at({r, s, f})))));
        ++kept;
        ++bins[bin];
        ++all[bin];
      }
    }
    std::printf(" %4d ", kept);
    for (const int n : bins) std::printf("%c", n == 0 ? ' ' : n < 3 ? '.' : n < 10 ? '+' : '#');
    std::printf("\n");
    if (rare > 2 && rare < 3.3) half = std::min(half, double(bins[29] + bins[30] + bins[31]) / kept);
  }
  std::printf("Of all, within 1/120 of 2/5 %d, of 1/2 %d, of 2/3 %d, of 3/4 %d\n", all[24], all[30], all[40], all[45]);
  claim(dense < 0.03, "paper, dense: m / |W|^2 = 1. So here");
  claim(half > 0.9, "paper: then it sticks at 1/2, pairs of opposites. So here");
}
}  // namespace

int main(int, char** argv) { return run_lesson(argv, lesson); }
