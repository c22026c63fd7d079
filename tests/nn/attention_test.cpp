// SelfAttention and MultiHeadAttention: equal to heads by hand, cached, masked; their draws and refusals.
#include "nn/fields.h"
#include "tests/nn/by_hand.h"
#include "tests/nn/oracles.h"
#include "tests/sentences.h"

namespace mote::test::attention_test {
namespace {

/// One kind of layer; Options are those of the layer made from it.
template <class Options>
struct Variant {
  std::string name;
  Index width, heads;
  AttentionOptions attention;
  Options around;
  Index d_in() const {
    if constexpr (requires { around.d_in; })
      if (around.d_in) return around.d_in;
    return width;
  }
};
using Self = Variant<SelfAttentionOptions>;
using General = Variant<MultiHeadAttentionOptions>;

SelfAttention made(const Self& v, const Generator& random) {
  return SelfAttention(v.width, v.heads, random, v.attention, v.around);
}
MultiHeadAttention made(const General& v, const Generator& random) {
  return MultiHeadAttention(v.width, v.heads, random, v.attention, v.around);
}
/// With numbers in all its weights.
template <class V>
auto layer_of(const V& v, Index seed = 1) {
  auto m = made(v, Generator(seed));
  scramble(m);
  return m;
}
Array by_hand(const Self& v, const Module& m, const Tensor& x, Array* weights) {
  return attention_by_hand(parts_of(m), "", x, v.heads, v.attention, v.around, weights).array();
}
Array by_hand(const General& v, const Module& m, const Tensor& x, Array* weights) {
  return attention_by_hand(parts_of(m), "", x, x, x, v.heads, v.attention, v.around, weights).array();
}

/// f(variant) for every kind of layer and of positions, all causal.
template <class F>
void each_variant(const F& f) {
  const RotaryOptions partly{.base = 100, .fraction = 0.5, .length = 3};
  f(Self{"plain", 8, 2, {}, {}});
  f(Self{"rotary", 8, 2, {}, {.rotary = RotaryOptions{}}});
  f(Self{"grouped, window, partial rotary", 24, 6, {.window = 5}, {.n_kv_head = 3, .rotary = partly}});
  f(Self{"scaled, multi-query, one bias, alibi",
         16,
         4,
         {.scale = 0.3, .alibi = alibi_slopes(4)},
         {.bias = false, .out_bias = true, .n_kv_head = 1}});
  f(General{"separate, multi-query, window, alibi",
            12,
            3,
            {.causal = true, .window = 3, .alibi = alibi_slopes(3)},
            {.n_kv_head = 1}});
  f(General{"another width", 8, 2, {.causal = true}, {.bias = false, .out_bias = true, .d_in = 5}});
}

TEST_CASE("attention layers: equal in every bit to their heads by hand, for every variant; so are the weights") {
  each_variant([](const auto& v) {
    CAPTURE(v.name);
    const auto m = layer_of(v);
    const Tensor x = random_array({2, 9, v.d_in()}, 3);
    Array weights;
    const Array y = by_hand(v, m, x, &weights);
    CHECK(same_bits(m(x).array(), y));
    const AttentionOutput got = with_weights(m, x);
    CHECK(same_bits(got.output.array(), y));
    CHECK(same_bits(got.weights, weights));
    CHECK(same_bits(got.dropped_weights, weights));
    for (const Shape& shape : {Shape{0, 3, v.d_in()}, Shape{2, 0, v.d_in()}})
      CHECK(m(Tensor(Array::zeros(shape))).shape() == shape.with(2, y.shape()[2]));
  });
  const General across{"", 8, 4, {.scale = -0.5}, {.n_kv_head = 2, .d_in = 3, .key_width = 4, .value_width = 5}};
  const MultiHeadAttention m = layer_of(across);
  const Tensor q = random_array({2, 4, 3}, 1), k = random_array({1, 6, 4}, 2), v = random_array({2, 6, 5}, 3);
  Array weights;
  const Tensor y = attention_by_hand(parts_of(m), "", q, k, v, 4, across.attention, across.around, &weights);
  const AttentionOutput got = with_weights(m, q, k, v);
  CHECK((same_bits(got.output.array(), y.array()) && same_bits(m(q, k, v).array(), y.array())));
  CHECK(same_bits(got.weights, weights));
}

/// What every module promises, gradients against differences among it.
template <class V>
void check_layer(const V& v, const std::vector<Array>& x, const std::vector<std::string>& names) {
  constexpr bool self = std::is_same_v<V, Self>;
  const Index wrong = v.d_in() + 1;
  check_module(
      v.name, [&](Generator& random) { return made(v, random); },
      [](const auto& m, In in) {
        if constexpr (!self)
          if (in.size() == 3) return m(in[0], in[1], in[2]);
        return m(in[0]);
      },
      {.names = names,
       .inputs = x,
       .error = [&](const auto& m) { m(Tensor(zeros_of(1, 2, wrong))); },
       .error_text = (self ? "SelfAttention: x [1, 2, " : "MultiHeadAttention: query [1, 2, ") + std::to_string(wrong) +
                     "] must be [B, T, " + std::to_string(v.d_in()) + "] (in " +
                     (self ? "SelfAttention)" : "MultiHeadAttention)")});
}

TEST_CASE("SelfAttention") {
  const std::vector<Array> x{random_array({2, 3, 4}, 1)}, wide{random_array({2, 4, 8}, 1)};
  const std::vector<std::string> all{"c_attn.weight", "c_attn.bias", "c_proj.weight", "c_proj.bias"};
  check_layer(Self{"plain", 4, 2, {}, {}}, x, all);
  check_layer(Self{"not causal, no bias", 4, 2, {.causal = false}, {.bias = false}}, x,
              {"c_attn.weight", "c_proj.weight"});
  check_layer(Self{"one bias", 4, 2, {}, {.out_bias = false}}, x, {"c_attn.weight", "c_attn.bias", "c_proj.weight"});
  check_layer(Self{"dropped", 4, 2, {.dropout = 0.3}, {}}, x, all);
  check_layer(Self{"output dropped", 4, 2, {}, {.resid_dropout = 0.4}}, x, all);
  check_layer(
      Self{"all at once", 8, 4, {.window = 3, .alibi = alibi_slopes(4)}, {.n_kv_head = 2, .rotary = RotaryOptions{}}},
      wide, all);
}

TEST_CASE("MultiHeadAttention") {
  // without biases: one of keys adds one number to all scores of a query and has no gradient
  const std::vector<Array> x{random_array({2, 3, 4}, 1)}, narrow{random_array({1, 3, 3}, 1)},
      three{random_array({2, 3, 4}, 1), random_array({2, 5, 3}, 2), random_array({2, 5, 2}, 3)};
  const std::vector<std::string> bare{"q_proj.weight", "k_proj.weight", "v_proj.weight", "o_proj.weight"},
      out{"q_proj.weight", "k_proj.weight", "v_proj.weight", "o_proj.weight", "o_proj.bias"};
  check_layer(General{"separate", 4, 2, {}, {.bias = false, .out_bias = true}}, x, out);
  check_layer(General{"dropped", 4, 2, {.dropout = 0.3}, {.bias = false}}, x, bare);
  check_layer(General{"narrow", 6, 3, {.causal = true, .window = 2}, {.bias = false, .n_kv_head = 1, .d_in = 3}},
              narrow, bare);
  check_layer(General{"across", 4, 2, {}, {.bias = false, .key_width = 3, .value_width = 2}}, three, bare);
}

/// Collects what enters every output projection.
struct Heads : Observer {
  std::vector<std::string> layers;
  std::vector<Array> values;
  Heads() { watch(); }
  void event(const Event& e) override {
    if (e.name != "heads") return;
    if (e.kind == Event::value_asked) e.answer(Want::to_see);
    if (e.kind != Event::value_shown) return;
    layers.push_back(current_layer());
    values.push_back((e.value->dim() == 4 ? join_heads(*e.value) : *e.value).array());
  }
};

TEST_CASE("attention layers show an observer their heads joined: what enters the output projection, bit for bit") {
  each_variant([](const auto& v) {
    CAPTURE(v.name);
    const auto m = layer_of(v);
    const Tensor x = random_array({2, 9, v.d_in()}, 3);
    const Array unwatched = m(x).array();
    const Heads seen;
    const Array y = m(x).array();
    CHECK(same_bits(y, unwatched));
    REQUIRE(seen.values.size() == 1);
    if constexpr (requires { m.o_proj; })
      CHECK(same_bits(m.o_proj(seen.values[0]).array(), y));
    else
      CHECK(same_bits(m.c_proj(seen.values[0]).array(), y));
    if constexpr (requires { m.cache(); }) {
      const NoGrad no_grad;
      KeyValueCache cache = m.cache();  // a token at a time
      for (Index t = 0; t < 9; ++t) {
        m(slice(x, 1, t, t + 1), Mask(), &cache);
        CHECK(same_bits(seen.values.back(), copy_of(seen.values[0].slice(1, t, t + 1))));
      }
    }
  });
  const Heads seen;
  const Tensor q = random_array({3, 4}, 1), k = random_array({5, 4}, 2), v = random_array({5, 2}, 3);
  const Tensor y = attention(q, k, v);  // without heads
  CHECK(same_bits(seen.values[0].reshape({3, 2}), y.array()));
  CHECK(seen.layers[0].empty());
}

TEST_CASE("attention layers: a mask beside causal or in its place, and a row of the batch as if it were alone") {
  each_variant([](auto v) {
    CAPTURE(v.name);
    const auto m = layer_of(v);
    const Tensor x = random_array({3, 7, v.d_in()}, 3);
    const Array y = m(x, padding_mask({5, 7, 1}, 7)).array();
    for (const auto& [b, length] : {std::pair<Index, Index>{0, 5}, {1, 7}, {2, 1}}) {
      const Array alone = m(slice(slice(x, 0, b, b + 1), 1, 0, length)).array();
      CHECK(same_bits(alone, y.slice(0, b, b + 1).slice(1, 0, length)));
    }
    const Array plain = m(x).array();
    Mask recent = causal_mask(7);
    for (Index i = 0; i < 49 && v.attention.window; ++i) recent.mutate()[i] &= i / 7 - i % 7 < v.attention.window;
    v.attention.causal = false;
    v.attention.window = 0;
    const auto open = layer_of(v);
    CHECK(same_bits(open(x, recent).array(), plain));
    CHECK(!same_bits(open(x).array(), plain));
  });
}

TEST_CASE("attention layers: dropout of weights and of the output") {
  const Generator random(1);
  const Tensor x = random_array({2, 3, 4}, 1);
  const MultiHeadAttention half(4, 2, random, {.dropout = 0.5});
  const GeneratorState start = random.get_state();
  const AttentionOutput got = with_weights(half, x);
  const std::vector<real> before = got.weights.to_vector(), after = got.dropped_weights.to_vector();
  for (std::size_t i = 0; i < before.size(); ++i) CHECK((after[i] == 0 || after[i] == 2 * before[i]));
  CHECK(before != after);
  random.set_state(start);
  CHECK(same_bits(half(x).array(), got.output.array()));  // asking for weights changes no bit and no draw
  const MultiHeadAttention weights(4, 2, random, {.dropout = 1});
  scramble(weights);
  const Array y = weights(x).array().reshape({6, 4});  // every weight dropped: the output's bias
  for (Index row = 0; row < 6; ++row) CHECK(same_bits(y.select(0, row), weights.o_proj.bias.value()));
  const SelfAttention fused(4, 2, random, {.dropout = 0}, {.resid_dropout = 1});
  for (const real v : fused(x).to_vector()) CHECK(v == 0);
}

TEST_CASE("attention layers draw as Linear does, in the order of their names; or as PyTorch, packed where it packs") {
  const Generator random(5), again(5);
  const SelfAttention fused(6, 2, random, {}, {.n_kv_head = 1});
  const Linear c_attn(6, 12, again);
  const Linear c_proj(6, 6, again);
  CHECK(same_bits(fused.c_attn.weight.value(), c_attn.weight.value()));
  CHECK(same_bits(fused.c_proj.bias.value(), c_proj.bias.value()));
  const MultiHeadAttention apart(6, 2, random);
  for (const Linear* made : {&apart.q_proj, &apart.k_proj, &apart.v_proj, &apart.o_proj}) {
    const Linear drawn(6, 6, again);
    CHECK((same_bits(made->weight.value(), drawn.weight.value()) && same_bits(made->bias.value(), drawn.bias.value())));
  }
  CHECK(random.get_state() == again.get_state());
  // Other widths of keys or values: PyTorch has three matrices, each with a bound of its own.
  const MultiHeadAttention across(60, 2, random, {}, {.key_width = 20, .torch_init = true});
  const auto near_bound = [&](const Linear& linear, double in, double out) {
    double largest = 0;
    for (const real x : linear.weight.value().to_vector())
      largest = std::max(largest, std::abs(static_cast<double>(x)));
    const double bound = std::sqrt(6 / (in + out));
    return largest <= bound && largest > 0.99 * bound;
  };
  CHECK((near_bound(across.q_proj, 60, 60) && near_bound(across.k_proj, 20, 60) && near_bound(across.v_proj, 60, 60)));
  const MultiHeadAttention values(60, 2, random, {}, {.value_width = 20, .torch_init = true});
  CHECK((near_bound(values.q_proj, 60, 60) && near_bound(values.k_proj, 60, 60) && near_bound(values.v_proj, 20, 60)));
}

TEST_CASE("attention layers: what a constructor refuses") {
  const Generator random(1);
  const auto says = [&](Index width, Index heads, const AttentionOptions& a, const MultiHeadAttentionOptions& o) {
    const std::string error = error_of([&] { MultiHeadAttention(width, heads, random, a, o); });
    const SelfAttentionOptions same{.n_kv_head = o.n_kv_head, .block_size = o.block_size};
    const std::string other = error_of([&] { SelfAttention(width, heads, random, a, same); });
    if (other.starts_with("SelfAttention: ")) CHECK(other.substr(15) == error.substr(20));
    return error;
  };
  CHECK_SENTENCE(says(10, 3, {}, {}));
  CHECK_SENTENCE(says(0, 1, {}, {}));
  CHECK_SENTENCE(says(4, 0, {}, {}));
  for (const Index n : {3, 8, -1})
    CHECK(says(8, 4, {}, {.n_kv_head = n}) ==
          "MultiHeadAttention: n_kv_head " + std::to_string(n) + " must divide the 4 heads, or be 0 for as many");
  CHECK_SENTENCE(says(8, 4, {.window = -3}, {}));
  CHECK_SENTENCE(says(8, 4, {.causal = false, .window = 3}, {}));
  CHECK_SENTENCE(says(8, 4, {.dropout = 1.5}, {}));
  CHECK_SENTENCE(says(8, 4, {.mask = Mask({3, 3})}, {}));
  CHECK_SENTENCE(says(8, 4, {}, {.block_size = -1}));
  CHECK_SENTENCE(says(8, 4, {}, {.d_in = -2}));
}

TEST_CASE("attention layers: a wrong call is a sentence with the layer's path") {
  using M = MultiHeadAttention;
  const Generator random(1);
  const SelfAttention self(4, 2, random, {}, {.block_size = 3});
  const M across(4, 2, random, {}, {.block_size = 3, .key_width = 3, .value_width = 5});
  const auto says = []<class L>(const L& m, const std::function<void(const L&)>& call) {
    const Inside<L> outer(m.clone());
    const std::string text = error_of([&] { outer(call); }), end = " (in inner)";
    CHECK(text.ends_with(end));
    return text.substr(0, text.size() - end.size());
  };
  const auto zeros = [](Index B, Index T, Index C) { return Tensor(Array::zeros({B, T, C})); };
  const Tensor x = zeros(1, 2, 4), k = zeros(1, 3, 3), v = zeros(1, 3, 5);
  CHECK_SENTENCE(says(self, {[&](const SelfAttention& m) { m(zeros(1, 4, 4)); }}));
  CHECK_SENTENCE(says(self, {[&](const SelfAttention& m) { m(x, Mask({3, 3})); }}));
  CHECK_SENTENCE(says(across, {[&](const M& m) { m(x, zeros(1, 4, 3), v); }}));
  CHECK_SENTENCE(says(across, {[&](const M& m) { m(x, x, v); }}));
  CHECK_SENTENCE(says(across, {[&](const M& m) { m(x, k, k); }}));
}

TEST_CASE("attention layers: a cache misused is a sentence with the layer's path, and the cache stays as it was") {
  const Generator random(1);
  SelfAttention m(4, 2, random, {.dropout = 0.5}, {.block_size = 3});
  const SelfAttention drops_output(4, 2, random, {}, {.resid_dropout = 0.5});
  KeyValueCache cache = m.cache();
  const auto says = [&](const SelfAttention& layer, Index T) {
    const Index before = cache.length();
    const std::string text = error_of([&] { layer(Tensor(random_array({1, T, 4}, 1)), Mask(), &cache); });
    CHECK(cache.length() == before);
    return text;
  };
  const NoGrad no_grad;
  const std::string in_training = "SelfAttention: a cache is for evaluation: call eval() first (in SelfAttention)";
  CHECK(says(m, 2) == in_training);
  CHECK(says(drops_output, 2) == in_training);
  m.eval();
  m(Tensor(random_array({1, 2, 4}, 1)), Mask(), &cache);
  CHECK_SENTENCE(says(m, 2));
}

}  // namespace
}  // namespace mote::test::attention_test
