// What is here: attention in blocks against the plain formula, bit for bit; masks; what NaN reaches; memory; errors.
// What is not: the layer (nn/attention_test.cpp).
// Read next: plain_attention.h.
#include "engine/ops/attention.h"

#include "engine/kernels/kernels.h"
#include "tests/engine/ops/plain_attention.h"
#include "tests/support.h"

namespace mote::test {
namespace {

struct Case {
  Index batch, heads, kv_heads, queries, keys, width, value_width;
};

struct Results {
  Array y, weights, dropped, dq, dk, dv;
};

template <class Attention>
Results run(const Case& c, AttentionOptions o, const Attention& attend) {
  const Generator random(17), drops(5);
  Tensor q = randn({c.batch, c.heads, c.queries, c.width}, random).requires_grad_();
  Tensor k = randn({c.batch, c.kv_heads, c.keys, c.width}, random).requires_grad_();
  Tensor v = randn({c.batch, c.kv_heads, c.keys, c.value_width}, random).requires_grad_();
  const Tensor dy = randn({c.batch, c.heads, c.queries, c.value_width}, random);
  Results r;
  o.random = &drops;
  o.weights = &r.weights, o.dropped_weights = &r.dropped;
  const Tensor y = attend(q, k, v, o);
  y.backward(dy.array());
  r.y = y.array(), r.dq = q.grad(), r.dk = k.grad(), r.dv = v.grad();
  return r;
}

double worst_difference(const Array& a, const Array& b) {
  REQUIRE(a.shape() == b.shape());
  const std::vector<real> x = a.to_vector(), y = b.to_vector();
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) worst = std::max(worst, static_cast<double>(std::abs(x[i] - y[i])));
  return worst;
}

void compare(const Case& c, const AttentionOptions& o) {
  CAPTURE(c.queries);
  CAPTURE(c.keys);
  CAPTURE(c.kv_heads);
  const Results plain = run(c, o, plain_attention);
  const Results blocks = run(c, o, [](auto&... x) { return attention(x...); });
  CHECK(same_bits(plain.y, blocks.y));
  CHECK(same_bits(plain.weights, blocks.weights));
  CHECK(same_bits(plain.dropped, blocks.dropped));
  CHECK(same_bits(plain.dq, blocks.dq));
  if (c.kv_heads == c.heads) {
    CHECK(same_bits(plain.dk, blocks.dk));
    CHECK(same_bits(plain.dv, blocks.dv));
  } else {  // the heads that share a key are added in another order
    CHECK(worst_difference(plain.dk, blocks.dk) < 1e-5);
    CHECK(worst_difference(plain.dv, blocks.dv) < 1e-5);
  }
}

Mask some_mask(const Shape& shape, std::uint64_t seed) {
  const Generator random(seed);
  Mask m(shape);
  random.bernoulli(std::span<std::uint8_t>(m.mutate(), static_cast<std::size_t>(m.numel())), 0.6);
  return m;
}

TEST_CASE("attention: every bit of the plain formula, whatever the options") {
  const std::vector<Case> cases{{1, 1, 1, 1, 1, 1, 1},    {2, 3, 3, 5, 5, 4, 4},     {1, 2, 2, 7, 19, 5, 3},
                                {2, 4, 2, 6, 6, 8, 8},    {1, 6, 1, 33, 33, 16, 16}, {1, 2, 2, 100, 100, 8, 8},
                                {1, 4, 4, 90, 200, 3, 9}, {1, 1, 1, 17, 4100, 4, 4}};
  for (const Case& c : cases) {
    Array slopes = Array::empty({c.heads});
    for (Index h = 0; h < c.heads; ++h) slopes.mutate()[h] = real(0.5) / static_cast<real>(h + 1);
    const Mask full = some_mask({c.batch, c.heads, c.queries, c.keys}, 1), shared = some_mask({c.queries, c.keys}, 2),
               keys_only = some_mask({c.batch, 1, 1, c.keys}, 3);
    for (const double p : {0.0, 0.5}) {
      compare(c, {.dropout = p});
      compare(c, {.causal = true, .dropout = p});
      compare(c, {.mask = full, .dropout = p});
      compare(c, {.causal = true, .mask = shared, .dropout = p});
      compare(c, {.mask = keys_only, .alibi = slopes, .dropout = p});
      compare(c, {.causal = true, .window = 3, .dropout = p});
      compare(c, {.causal = true, .window = 20, .scale = 0.3, .alibi = slopes, .dropout = p});
      compare(c, {.causal = true, .mask = full, .window = 18, .dropout = p});
    }
    compare(c, {.dropout = 1});
  }
}

}  // namespace
}  // namespace mote::test
