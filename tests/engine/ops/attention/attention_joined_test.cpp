// Attention over heads that lie side by side, and over one packed projection: the same bits as with heads as an axis.
#include "engine/ops/kv_cache.h"
#include "engine/ops/view.h"
#include "tests/engine/ops/attention/masks_and_slopes.h"
#include "tests/support.h"

namespace mote::test::attention_joined_test {
namespace {

TEST_CASE("attention over joined heads and over a packed projection: the bits of heads as an axis") {
  struct Sizes {
    Index batch, heads, kv_heads, length, width;
  };
  for (const Sizes& s : {Sizes{2, 3, 3, 9, 4}, {2, 4, 2, 40, 8}, {3, 2, 1, 12, 16}, {1, 2, 2, 1, 1}})
    for (const AttentionOptions& o : {AttentionOptions{.causal = true, .dropout = 0.4},
                                      {.mask = random_mask({s.batch, s.heads, s.length, s.length}, 1), .dropout = 0.2},
                                      {.causal = true, .window = 5, .scale = 0.3, .alibi = some_slopes(s.heads)}}) {
      const Heads heads{s.heads, s.kv_heads};
      const Index q_end = s.heads * s.width, k_end = q_end + s.kv_heads * s.width, all = k_end + s.kv_heads * s.width;
      const std::vector<Array> x{random_array({s.batch, s.length, all}, 1)};
      const auto parts = [=](In t) { return split(t[0], {q_end, k_end - q_end, all - k_end}, 2); };
      const Run expected(
          [&](In t) {
            const std::vector<Tensor> p = parts(t);
            const Tensor q = split_heads(p[0], s.heads);
            const Tensor k = split_heads(p[1], s.kv_heads);
            const Tensor v = split_heads(p[2], s.kv_heads);
            return join_heads(attention(q, k, v, o, Generator(5)));
          },
          x);
      const Run joined(
          [&](In t) {
            const std::vector<Tensor> p = parts(t);
            return attention(p[0], p[1], p[2], heads, o, Generator(5));
          },
          x);
      CHECK(joined == expected);
      on_all_hardware({4}, [&] {
        const Run packed([&](In t) { return attention(t[0], heads, o, Generator(5)); }, x);
        CHECK(packed == expected);
      });
    }
  const OpFunction two = [](In t) { return attention(t[0], Heads{2}, {.causal = true}, Generator(1)); };
  const Array turned = random_array({2, 12, 7}, 1).transpose(1, 2);
  CHECK(Run(two, {turned}) == Run(two, {copy_of(turned)}));
  const Run nothing(two, {random_array({0, 5, 12}, 1)});
  CHECK(nothing.y.shape() == Shape{0, 5, 4});
  CHECK(nothing.dx[0].shape() == Shape{0, 5, 12});
}

TEST_CASE("attention over a packed projection and a cache, token by token: the bits of the whole") {
  const Index B = 2, T = 40;
  const Heads heads{4, 2};
  const Array x = random_array({B, T, 8 * 6}, 1);
  const NoGrad no_grad;
  for (const AttentionOptions& o :
       {AttentionOptions{.causal = true}, {.causal = true, .window = 9}, {.causal = true, .alibi = some_slopes(4)}}) {
    const Array whole = attention(x, heads, o, Generator(1)).array();
    KeyValueCache cache(o.window);
    for (Index t = 0; t < T;) {
      const Index end = t == 0 ? 5 : t == 20 ? 23 : t + 1;
      const Array y = attention(x.slice(1, t, end), heads, o, Generator(1), &cache).array();
      CHECK(same_bits(y, copy_of(whole.slice(1, t, end))));
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
  const auto shared = [](int queries, int keys) {
    return "attention: the " + std::to_string(queries) + " heads of queries must be a multiple of the " +
           std::to_string(keys) + " heads of keys, and both at least 1";
  };
  CHECK(packed(x, {3, 2}) == shared(3, 2));
  CHECK(packed(x, {0}) == shared(0, 0));
  const auto joined = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
    return error_of([&] { attention(q, k, v, Heads{2}, {}, random); });
  };
  CHECK(joined(x, row, x) == "split_heads: x [3, 8] must be [B, T, C]");
  CHECK(joined(x, x, odd) ==
        "split_heads: the last extent of x [2, 3, 9] must be a multiple of 2, the number of heads");
  CHECK(joined(x, x, Array::zeros({2, 4, 8})) ==
        "attention: k [2, 2, 3, 4] and v [2, 2, 4, 4] must have the same length, the last extent but one");
}

}  // namespace
}  // namespace mote::test::attention_joined_test
