// The model and the data of grokking_113 and grokking_methods: a + b mod p as in Nanda et al. 2023.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "nn/nn.h"

constexpr mote::Index p = 113, width = 128, hidden = 512;
using Weights = std::array<mote::Parameter, 10>;

inline Weights weights_of(const mote::Generator& random, mote::Index p = ::p) {
  const mote::Index rows[] = {p, 1, 3, width, width, width, width, hidden, width, p};
  Weights all;
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = mote::Parameter(
        mote::Init(random).normal({rows[i], i == 8 ? hidden : width}, 0, 1 / std::sqrt(i == 9 ? p : width)));
  return all;
}

/// A transformer block with 4 heads, without norms and biases, evaluated only at "=". A pair consists of a, b and "=",
/// which are three of only 2p + 1 different vectors. So keys and values are computed once for each vector, and not in
/// every pair. pairs [B, 3] -> logits [B, p], neurons [B, hidden].
inline std::pair<mote::Tensor, mote::Tensor> read(const Weights& weights, const mote::IntArray& pairs) {
  using namespace mote;
  const auto& [numbers, equals, places, q, k, v, out, up, down, unembed] = weights;
  const std::vector<Tensor> at = unbind(unsqueeze(places, 1));
  const Tensor end = equals + at[2], all = cat({numbers + at[0], numbers + at[1], end});
  const Tensor query = expand(unsqueeze(linear(end, q), 0), {pairs.shape()[0], 1, width});
  const Tensor keys = embedding(linear(all, k), pairs), values = embedding(linear(all, v), pairs);
  const Tensor x = end + linear(select(attention(query, keys, values, Heads{4}, {}, Generator()), 1, 0), out);
  const Tensor neurons = relu(linear(x, up));
  return {linear(x + linear(neurons, down), unembed), neurons};
}

/// Cross-entropy as log(1 + sum of e^(z_j - z_right)). Its gradient is exact even where 1 + e^-20 is 1 in float.
inline mote::Tensor loss_of(const mote::Tensor& z, const mote::IntArray& right) {
  using namespace mote;
  const Tensor ahead = z - gather(z, 1, right.reshape({-1, 1}));
  return mean(log(1 + sum(exp(masked_fill(ahead, embedding(eye(z.size(1)), right) > 0.5, -INFINITY)), {1})));
}

/// All pairs [p^2, 3] in a random order, and their sums. grid[a p + b] is the place of (a, b) in this order.
struct Pairs {
  mote::IntArray ids, sums, grid;
  explicit Pairs(const mote::Generator& random, mote::Index p = ::p) : ids({p * p, 3}), sums({p * p}), grid({p * p}) {
    const std::vector<mote::Index> order = random.randperm(p * p);
    for (mote::Index i = 0; i < p * p; ++i) {
      const mote::Index a = order[std::size_t(i)] / p, b = order[std::size_t(i)] % p;
      std::copy_n(std::array{a, p + b, 2 * p}.data(), 3, ids.mutate() + 3 * i);
      sums.mutate()[i] = (a + b) % p;
      grid.mutate()[a * p + b] = i;
    }
  }
};

/// The largest share of a neuron's variance that a single frequency explains. `neuron` has the values of the neuron
/// for all pairs of a and b, [p, p], and `basis` is fourier_basis(p). A frequency explains the waves of a, the waves
/// of b, and the products of both that have this frequency.
inline double purity(const mote::Tensor& neuron, const mote::Tensor& basis) {
  using namespace mote;
  const Tensor coefficient = matmul(matmul(basis, neuron), transpose(basis, 0, 1));
  Array power = (coefficient * coefficient).array();
  power.mutate()[0] = 0;  // without the mean
  double best = 0, all = static_cast<double>(sum(power).item());
  for (Index k = 1; k < p; k += 2) {
    const Index rows[] = {0, k, k + 1};
    double share = 0;
    for (const Index i : rows)
      for (const Index j : rows) share += static_cast<double>(power.at({i, j}));
    best = std::max(best, share / all);
  }
  return best;
}
