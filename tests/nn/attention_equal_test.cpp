// Forms of MultiHeadAttention that must agree, bit for bit: fused, separate and stacked heads; groups and repeated
// weights; cached and whole; padded and short; a batch and its rows; with weights and without.
#include "engine/ops/ops.h"
#include "tests/nn/attention_oracle.h"

namespace mote::test::attention_equal_test {
namespace {

constexpr double rounding = f64 ? 1e-13 : 1e-5;

Array rows(const Array& x, Index begin, Index end) { return copy_of(x.slice(0, begin, end)); }

/// The separate form of a fused layer, with its weights.
MultiHeadAttention separated(const MultiHeadAttention& m, Variant v) {
  v.options.fused = false;
  const MultiHeadAttention other = layer_of(v, 2);
  const Index keys = m.n_embd + m.n_kv_head * m.head_width, end = keys + m.n_kv_head * m.value_head;
  const auto copy = [](const Parameter& from, const Parameter& q, const Parameter& k, const Parameter& u, Index a,
                       Index b, Index c) {
    if (!from.defined()) return;
    q.set(rows(from.value(), 0, a)), k.set(rows(from.value(), a, b)), u.set(rows(from.value(), b, c));
  };
  copy(m.c_attn->weight, other.q_proj->weight, other.k_proj->weight, other.v_proj->weight, m.n_embd, keys, end);
  copy(m.c_attn->bias, other.q_proj->bias, other.k_proj->bias, other.v_proj->bias, m.n_embd, keys, end);
  other.c_proj.weight.set(m.c_proj.weight.value());
  if (m.c_proj.bias.defined()) other.c_proj.bias.set(m.c_proj.bias.value());
  return other;
}

/// A fused layer's output, head after head: each with its own rows of the weights, then joined.
Array head_by_head(const MultiHeadAttention& m, const Tensor& x) {
  const Index D = m.head_width, V = m.value_head, H = m.n_head, G = m.n_kv_head;
  const Row slopes = paper_slopes(H);
  const auto part = [&](Index first, Index size) {  // [B, 1, T, size]
    const Array bias = m.c_attn->bias.defined() ? rows(m.c_attn->bias.value(), first, first + size) : Array();
    const Tensor weight = rows(m.c_attn->weight.value(), first, first + size);
    return unsqueeze(bias.defined() ? linear(x, weight, Tensor(bias)) : linear(x, weight), 1);
  };
  std::vector<Tensor> heads;
  for (Index h = 0; h < H; ++h) {
    const Index g = h / (H / G);
    Tensor q = part(h * D, D), k = part(H * D + g * D, D);
    const Tensor v = part((H + G) * D + g * V, V);
    if (m.rotary) q = (*m.rotary)(q, 0), k = (*m.rotary)(k, 0);
    AttentionOptions o{.causal = m.options.causal, .window = m.options.window};
    if (m.options.alibi) o.alibi = array({1}, {slopes[at(h)]});
    heads.push_back(squeeze(attention(q, k, v, o), 1));
  }
  return m.c_proj(concat(heads, 2)).array();
}

TEST_CASE("MultiHeadAttention: fused = separate = one head after the other, for every variant") {
  for (const Variant& v : causal_variants()) {
    if (!v.options.fused) continue;
    CAPTURE(v.name);
    const MultiHeadAttention m = layer_of(v), other = separated(m, v);
    const Array start = random_array({2, 9, v.d_in()}, 3), dy = random_array({2, 9, v.d_out()}, 4);
    Tensor x = Tensor(start).requires_grad_(), z = Tensor(start).requires_grad_();
    const Tensor fused = m(x), separate = other(z);
    CHECK(same_bits(fused.array(), separate.array()));
    fused.backward(dy);
    separate.backward(dy);
    CHECK(distance(x.grad().to_vector(), Value(z.grad()).x) < rounding);  // one sum over q, k and v, or three
    CHECK(same_bits(rows(m.c_attn->weight.grad(), 0, m.n_embd), other.q_proj->weight.grad()));
    CHECK(same_bits(m.c_proj.weight.grad(), other.c_proj.weight.grad()));
    const Array stacked = head_by_head(m, start);
    if (v.options.alibi)  // slopes by another formula
      CHECK(distance(stacked.to_vector(), Value(fused.array()).x) < rounding);
    else
      CHECK(same_bits(stacked, fused.array()));
  }
}

TEST_CASE("MultiHeadAttention: grouped queries with as many groups as heads are multi-head, and are repeated weights") {
  for (const Index G : {4, 2, 1}) {
    const Variant few{"", 16, 4, {.causal = true, .n_kv_head = G}}, all{"", 16, 4, {.causal = true}};
    const MultiHeadAttention grouped = layer_of(few), full = layer_of(all, 2);
    const auto spread = [&](const Array& from) {  // rows of each group's k and v, once for each of its heads
      std::vector<Tensor> parts{rows(from, 0, 16)};
      for (const Index first : {Index(16), 16 + 4 * G})
        for (Index h = 0; h < 4; ++h) {
          const Index begin = first + h / (4 / G) * 4;
          parts.push_back(rows(from, begin, begin + 4));
        }
      return concat(parts, 0).array();
    };
    full.c_attn->weight.set(spread(grouped.c_attn->weight.value()));
    full.c_attn->bias.set(spread(grouped.c_attn->bias.value()));
    full.c_proj.weight.set(grouped.c_proj.weight.value());
    full.c_proj.bias.set(grouped.c_proj.bias.value());
    const Array start = random_array({2, 7, 16}, 3), dy = random_array({2, 7, 16}, 4);
    Tensor x = Tensor(start).requires_grad_(), z = Tensor(start).requires_grad_();
    const Tensor y = grouped(x), again = full(z);
    CHECK(same_bits(y.array(), again.array()));
    y.backward(dy);
    again.backward(dy);
    CHECK(distance(x.grad().to_vector(), Value(z.grad()).x) < rounding);
    if (G == 4) CHECK(same_bits(x.grad(), z.grad()));
  }
}

TEST_CASE("MultiHeadAttention: cached in chunks of any size = the whole pass, for every variant") {
  const NoGrad no_grad;
  for (const Variant& v : causal_variants()) {
    CAPTURE(v.name);
    MultiHeadAttention m = layer_of(v);
    m.eval();
    const Index T = 150;  // beyond the 64 rows that a cache begins with
    const Array x = random_array({2, T, v.d_in()}, 3), whole = m(x).array();
    for (const Index step : {1, 3, 16, 67, 150}) {
      KeyValueCache cache = m.cache();
      for (Index t = 0; t < T; t += step) {
        const Index end = std::min(t + step, T);
        const Tensor y = m(Tensor(x.slice(1, t, end)), cache);
        CHECK_MESSAGE(same_bits(y.array(), whole.slice(1, t, end)), "rows from ", t, " in steps of ", step);
      }
      CHECK(cache.length() == T);
    }
  }
}

TEST_CASE("MultiHeadAttention: two cached sessions in turn, one emptied, one forked") {
  const NoGrad no_grad;
  for (const Index window : {0, 4}) {
    MultiHeadAttention m = layer_of({"", 8, 2, {.causal = true, .window = window, .rotary = RotaryOptions{}}});
    m.eval();
    const Array a = random_array({1, 40, 8}, 1), b = random_array({3, 40, 8}, 2);
    const Array whole_a = m(a).array(), whole_b = m(b).array();
    KeyValueCache one = m.cache(), two = m.cache(), fork = m.cache();
    const auto step = [&](const Array& x, Index t, KeyValueCache& cache) {
      return m(Tensor(x.slice(1, t, t + 1)), cache).array();
    };
    for (Index t = 0; t < 40; ++t) {
      CHECK(same_bits(step(a, t, one), whole_a.slice(1, t, t + 1)));
      CHECK(same_bits(step(b, t, two), whole_b.slice(1, t, t + 1)));
      if (t == 20) fork = two;
    }
    step(a.slice(1, 5, 6).expand({3, 1, 8}), 0, fork);  // another text from there on
    for (Index t = 22; t < 40; ++t) step(b, t, fork);
    two.clear();
    for (Index t = 0; t < 40; ++t) {  // the other text, with another batch
      CHECK(same_bits(step(a, t, two), whole_a.slice(1, t, t + 1)));
    }
    one.clear();
    for (Index t = 0; t < 40; ++t) CHECK(same_bits(step(b, t, one), whole_b.slice(1, t, t + 1)));
  }
}

TEST_CASE("MultiHeadAttention: a padded row with its mask = the row without padding") {
  for (Variant v : causal_variants())
    for (const bool causal : {true, false}) {
      if (!causal && v.options.window > 0) continue;
      v.options.causal = causal;
      CAPTURE(v.name);
      const MultiHeadAttention m = layer_of(v);
      const std::vector<Index> lengths{5, 12, 1};
      const Array x = random_array({3, 12, v.d_in()}, 3), y = m(x, padding_mask(lengths, 12)).array();
      for (Index b = 0; b < 3; ++b) {
        const Index length = lengths[at(b)];
        const Array alone = m(Tensor(x.slice(0, b, b + 1).slice(1, 0, length))).array();
        CHECK(same_bits(alone, y.slice(0, b, b + 1).slice(1, 0, length)));
      }
    }
}

TEST_CASE("MultiHeadAttention: a row of a batch = a batch of that row, and a permuted batch is permuted") {
  for (const Variant& v : causal_variants()) {
    CAPTURE(v.name);
    const MultiHeadAttention m = layer_of(v);
    const Array x = random_array({8, 6, v.d_in()}, 3), y = m(x).array();
    for (Index b = 0; b < 8; ++b) CHECK(same_bits(m(Tensor(x.slice(0, b, b + 1))).array(), y.slice(0, b, b + 1)));
    std::vector<Tensor> turned;
    for (Index b = 0; b < 8; ++b) turned.push_back(Tensor(x.select(0, (b * 3 + 1) % 8)));
    const Array z = m(stack(turned, 0)).array();
    for (Index b = 0; b < 8; ++b) CHECK(same_bits(z.select(0, b), y.select(0, (b * 3 + 1) % 8)));
  }
}

TEST_CASE("MultiHeadAttention: the causal flag = a causal mask; asking for weights changes no bit, for every variant") {
  for (Variant v : causal_variants())
    for (const double p : {0.0, 0.5}) {
      CAPTURE(v.name);
      v.options.dropout = p;
      const auto result = [&](bool weights, bool by_mask) {
        Variant w = v;
        if (by_mask) w.options.causal = false, w.options.window = 0;
        const MultiHeadAttention m = layer_of(w);
        m.attn_dropout.random.manual_seed(9);
        const Index window = v.options.window;
        Mask mask = by_mask ? causal_mask(9) : Mask();
        for (Index i = 0; i < 81 && by_mask && window; ++i) mask.mutate()[i] &= i / 9 - i % 9 < window;
        Tensor x = Tensor(random_array({2, 9, v.d_in()}, 3)).requires_grad_();
        const Attended got = weights ? m.with_weights(x, mask) : Attended{m(x, mask), {}, {}};
        got.output.backward(random_array({2, 9, v.d_out()}, 4));
        if (weights && p == 0) CHECK(same_bits(got.weights, got.dropped_weights));
        if (weights && p > 0) {  // a weight is dropped or doubled
          const std::vector<real> before = got.weights.to_vector(), after = got.dropped_weights.to_vector();
          for (std::size_t i = 0; i < before.size(); ++i) CHECK((after[i] == 0 || after[i] == 2 * before[i]));
          CHECK(!same_bits(got.weights, got.dropped_weights));
        }
        return std::vector{got.output.array(), x.grad(), m.c_proj.weight.grad()};
      };
      const std::vector<Array> plain = result(false, false);
      for (const auto& other : {result(true, false), result(false, true), result(true, true)})
        for (std::size_t i = 0; i < plain.size(); ++i) CHECK(same_bits(other[i], plain[i]));
    }
}

}  // namespace
}  // namespace mote::test::attention_equal_test
