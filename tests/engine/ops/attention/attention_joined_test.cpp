// Attention over heads that lie side by side, and over one packed projection: the same bits as with heads as an axis.
#include "engine/ops/kv_cache.h"
#include "engine/ops/view.h"
#include "tests/engine/ops/attention/masks_and_slopes.h"
#include "tests/engine/ops/attention/seen_weights.h"
#include "tests/support.h"

namespace mote::test::attention_joined_test {
namespace {

struct Sizes {
  Index batch, heads, kv_heads, queries, keys, width, value_width;
};

Tensor apart(const Tensor& x, Index heads) {
  return transpose(reshape(x, {x.size(0), x.size(1), heads, x.size(2) / heads}), 1, 2);
}
Tensor together(const Tensor& x) { return reshape(transpose(x, 1, 2), {x.size(0), x.size(2), x.size(1) * x.size(3)}); }

std::vector<AttentionOptions> options_of(const Sizes& s) {
  const Mask full = random_mask({s.batch, s.heads, s.queries, s.keys}, 1);
  return {{},
          {.causal = true},
          {.causal = true, .dropout = 0.4},
          {.mask = full, .dropout = 0.2},
          {.causal = true, .window = 5, .scale = 0.3, .alibi = some_slopes(s.heads)}};
}

TEST_CASE("attention over joined heads: results, weights and gradients have the bits of heads as an axis") {
  for (const Sizes& s :
       {Sizes{2, 3, 3, 7, 9, 4, 5}, {2, 4, 2, 33, 33, 8, 8}, {3, 2, 1, 12, 12, 16, 3}, {1, 2, 2, 1, 1, 1, 1}})
    for (const AttentionOptions& o : options_of(s)) {
      const std::vector<Array> x{random_array({s.batch, s.queries, s.heads * s.width}, 1),
                                 random_array({s.batch, s.keys, s.kv_heads * s.width}, 2),
                                 random_array({s.batch, s.keys, s.kv_heads * s.value_width}, 3)};
      const SeenWeights seen;
      const Run joined(
          [&](In t) {
            return attention(t[0], t[1], t[2], Heads{s.heads, s.kv_heads}, o, Generator(5));
          },
          x);
      const Run expected(
          [&](In t) {
            const Tensor q = apart(t[0], s.heads), k = apart(t[1], s.kv_heads), v = apart(t[2], s.kv_heads);
            return together(attention(q, k, v, o, Generator(5)));
          },
          x);
      CHECK(joined == expected);
      CHECK(same_bits(seen.maps().front().weights, seen.maps().back().weights));
      CHECK(same_bits(seen.maps().front().dropped, seen.maps().back().dropped));
    }
}

TEST_CASE("attention over a packed projection: the same bits; one array takes all three gradients") {
  for (const Sizes& s :
       {Sizes{2, 3, 3, 9, 9, 4, 4}, {2, 4, 2, 40, 40, 8, 8}, {4, 4, 4, 8, 8, 4, 4}, {1, 3, 1, 17, 17, 6, 6}})
    for (const AttentionOptions& o : options_of(s)) {
      const Index q_end = s.heads * s.width, k_end = q_end + s.kv_heads * s.width, all = k_end + s.kv_heads * s.width;
      const std::vector<Array> x{random_array({s.batch, s.queries, all}, 1)};
      const OpFunction packed = [&](In t) { return attention(t[0], Heads{s.heads, s.kv_heads}, o, Generator(5)); };
      const Run run(packed, x);
      const Run expected(
          [&](In t) {
            const Tensor q = slice(t[0], 2, 0, q_end), k = slice(t[0], 2, q_end, k_end), v = slice(t[0], 2, k_end, all);
            return attention(q, k, v, Heads{s.heads, s.kv_heads}, o, Generator(5));
          },
          x);
      CHECK(run == expected);
      on_all_hardware({4}, [&] { CHECK(Run(packed, x) == run); });
    }
  const OpFunction two = [](In t) { return attention(t[0], Heads{2}, {.causal = true}, Generator(1)); };
  const Array turned = random_array({2, 12, 7}, 1).transpose(1, 2);
  CHECK(Run(two, {turned}) == Run(two, {copy_of(turned)}));
  const Run nothing(two, {random_array({0, 5, 12}, 1)});
  CHECK(nothing.y.shape() == Shape{0, 5, 4});
  CHECK(nothing.dx[0].shape() == Shape{0, 5, 12});
}

TEST_CASE("attention over joined heads and a cache, token by token: the bits of the whole") {
  const Index B = 2, T = 40, H = 4, G = 2, d = 6;
  const Array x = random_array({B, T, (H + 2 * G) * d}, 1);
  for (const AttentionOptions& o :
       {AttentionOptions{.causal = true}, {.causal = true, .window = 9}, {.causal = true, .alibi = some_slopes(H)}}) {
    const NoGrad no_grad;
    const Array whole = attention(x, Heads{H, G}, o, Generator(1)).array();
    KeyValueCache packed(o.window), joined(o.window);
    for (Index t = 0; t < T;) {
      const Index end = t == 0 ? 5 : t == 20 ? 23 : t + 1;
      const Array row = x.slice(1, t, end);
      CHECK(same_bits(attention(row, Heads{H, G}, o, Generator(1), &packed).array(), copy_of(whole.slice(1, t, end))));
      const Array q = row.slice(2, 0, H * d), k = row.slice(2, H * d, (H + G) * d),
                  v = row.slice(2, (H + G) * d, (H + 2 * G) * d);
      const Tensor y = attention(q, k, v, Heads{H, G}, o, Generator(1), &joined);
      CHECK(same_bits(y.array(), copy_of(whole.slice(1, t, end))));
      t = end;
    }
  }
}

TEST_CASE("attention over joined heads: what does not fit is a sentence") {
  const Tensor x = Array::zeros({2, 3, 8}), odd = Array::zeros({2, 3, 9}), row = Array::zeros({3, 8});
  const Generator random(1);
  const auto packed = [&](const Tensor& qkv, const Heads& heads) {
    return error_of([&] { attention(qkv, heads, {}, random); });
  };
  CHECK(packed(odd, {2}) ==
        "attention: qkv [2, 3, 9] must be [B, T, C] with C a multiple of 6 heads: 2 of queries, 2 of keys and 2 of "
        "values");
  CHECK(packed(row, {2, 1}).find("qkv [3, 8] must be [B, T, C]") != std::string::npos);
  CHECK(packed(x, {3, 2}) == "attention: 3 heads of queries cannot share 2 of keys");
  CHECK(packed(x, {0}) == "attention: 0 heads of queries cannot share 0 of keys");
  const auto joined = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
    return error_of([&] { attention(q, k, v, Heads{2}, {}, random); });
  };
  CHECK(joined(x, row, x) == "attention: q [2, 3, 8], k [3, 8] and v [2, 3, 8] of joined heads must be [B, T, C]");
  CHECK(joined(x, x, odd) ==
        "attention: q [2, 3, 8], k [2, 3, 8] and v [2, 3, 9] do not hold 2, 2 and 2 heads, of one width in q and k");
  CHECK(joined(x, x, Array::zeros({2, 4, 8})) == "attention: k [2, 3, 8] and v [2, 4, 8] differ in their length");
}

}  // namespace
}  // namespace mote::test::attention_joined_test
