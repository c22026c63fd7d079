// Five properties of every variant of MultiHeadAttention (shapes, causality, softmax, split heads, gradients that
// flow); what NaN in a later token reaches in a layer and in a block.
#include "nn/transformer_block.h"
#include "tests/nn/attention_oracle.h"

namespace mote::test::attention_causality_test {
namespace {

/// x with the numbers of token t and all later ones replaced.
Array changed_from(const Array& x, Index t, real with) {
  Array y = copy_of(x);
  const Index T = x.shape()[1], C = x.shape()[2];
  for (Index i = 0; i < y.numel(); ++i)
    if (i / C % T >= t) y.mutate()[i] = with == 0 ? y.data()[i] + 1 : with;
  return y;
}

/// Those before t keep every bit and are finite, whatever the later ones are: another number, infinite, NaN.
template <class Model>
void check_causal(const Model& model, const Array& x, bool every_kind) {
  const Array y = model(Tensor(x)).array();
  const Index T = x.shape()[1];
  for (Index t = 0; t < T; ++t)
    for (const real with : {real(0), nan, inf, -inf}) {
      if (with != 0 && !every_kind && t % 3 != 1) continue;
      const Array z = model(Tensor(changed_from(x, t, with))).array();
      CHECK_MESSAGE(same_bits(z.slice(1, 0, t), y.slice(1, 0, t)), "token ", t, " became ", with);
      CHECK(!same_bits(z.slice(1, t, t + 1), y.slice(1, t, t + 1)));
    }
  for (const real v : y.to_vector()) CHECK(std::isfinite(v));
}

TEST_CASE("MultiHeadAttention: five properties of every variant and kind of position") {
  for (const Variant& v : causal_variants()) {
    CAPTURE(v.name);
    const MultiHeadAttention m = layer_of(v);
    // shapes
    for (const Shape& shape : {Shape{1, 1, 0}, Shape{3, 1, 0}, Shape{1, 9, 0}, Shape{2, 5, 0}, Shape{2, 0, 0}})
      CHECK(m(Tensor(random_array(shape.with(2, v.d_in()), 1))).shape() == shape.with(2, v.d_out()));
    // causality
    const Index T = 9;
    const Array start = random_array({2, T, v.d_in()}, 3);
    check_causal(m, start, true);
    // softmax: rows sum to 1, and what may not be seen has weight 0
    const Array weights = m.with_weights(Tensor(start)).weights;
    REQUIRE(weights.shape() == Shape{2, v.heads, T, T});
    for (Index h = 0; h < v.heads; ++h)
      for (Index i = 0; i < T; ++i) {
        double total = 0;
        for (Index j = 0; j < T; ++j) {
          const real weight = weights.at({1, h, i, j});
          const bool seen = j <= i && (v.options.window == 0 || j > i - v.options.window);
          CHECK((weight > 0) == seen);
          CHECK(weight >= 0);
          total += static_cast<double>(weight);
        }
        CHECK(std::abs(total - 1) < (f64 ? 1e-14 : 1e-6));
      }
    // heads are split: without a head's columns of the output projection, its group's values and its queries do nothing
    for (Index h = 0; h < v.heads; ++h) {
      const MultiHeadAttention one = m.clone();
      Array only = Array::zeros(one.c_proj.weight.shape());
      for (Index o = 0; o < v.d_out(); ++o)
        for (Index c = h * m.value_head; c < (h + 1) * m.value_head; ++c)
          only.mutate()[o * v.heads * m.value_head + c] = real(0.5);
      one.c_proj.weight.set(only);
      const Tensor y = one(Tensor(start));
      y.backward(random_array(y.shape(), 5));
      const Array d_query = (v.options.fused ? *one.c_attn : *one.q_proj).weight.grad(),
                  d_value = (v.options.fused ? *one.c_attn : *one.v_proj).weight.grad();
      const Index before = v.options.fused ? m.n_embd + m.n_kv_head * m.head_width : 0;
      for (Index other = 0; other < v.heads; ++other)
        CHECK((d_query.at({other * m.head_width, 0}) != 0) == (other == h));
      for (Index g = 0; g < m.n_kv_head; ++g)
        CHECK((d_value.at({before + g * m.value_head, 0}) != 0) == (g == h / (v.heads / m.n_kv_head)));
    }
    // gradients reach every weight and every input
    Tensor x = Tensor(start).requires_grad_();
    const Tensor y = m(x);
    y.backward(random_array(y.shape(), 5));
    for (const real d : x.grad().to_vector()) CHECK((d != 0 && std::isfinite(d)));
    for (const NamedParameter& p : named_parameters(m)) {
      REQUIRE_MESSAGE(p.parameter.grad().defined(), p.name);
      Index zeros = 0;
      for (const real d : p.parameter.grad().to_vector()) zeros += d == 0;
      CHECK_MESSAGE(zeros * 4 <= p.parameter.grad().numel(), p.name);  // a bias of keys gets about 0
    }
  }
}

TEST_CASE("MultiHeadAttention: the gradient of an output for a later input is exactly 0") {
  for (const Variant& v : causal_variants()) {
    CAPTURE(v.name);
    const MultiHeadAttention m = layer_of(v);
    for (const Index i : {0, 3, 6}) {
      Tensor x = Tensor(random_array({1, 7, v.d_in()}, 3)).requires_grad_();
      Array dy = Array::zeros({1, 7, v.d_out()});
      for (Index c = 0; c < v.d_out(); ++c) dy.mutate()[i * v.d_out() + c] = 1;
      m(x).backward(dy);
      for (Index j = 0; j < 7; ++j)
        for (Index c = 0; c < v.d_in(); ++c) {
          const bool seen = j <= i && (v.options.window == 0 || j > i - v.options.window);
          CHECK((x.grad().at({0, j, c}) != 0) == seen);
        }
    }
  }
}

TEST_CASE("A causal layer, in blocks of many rows: what comes later changes no bit, on any hardware") {
  const MultiHeadAttention m = layer_of({"", 16, 4, {.causal = true, .n_kv_head = 2, .rotary = RotaryOptions{}}});
  const Array x = random_array({1, 200, 16}, 3);
  for (const kernels::Table* table : kernels::available_tables())
    for (const int n : {1, 4}) {
      const Hardware use(*table, n);
      const Array y = m(Tensor(x)).array();
      for (const Index t : {1, 63, 64, 84, 85, 167, 168, 199})
        for (const real with : {real(0), nan, inf})
          CHECK(same_bits(m(Tensor(changed_from(x, t, with))).array().slice(1, 0, t), y.slice(1, 0, t)));
    }
}

TEST_CASE("TransformerBlock: NaN in a later token reaches no earlier one") {
  for (const NormOrder order : {NormOrder::pre, NormOrder::post})
    for (const bool alibi : {false, true}) {
      Generator random(1);
      TransformerBlockOptions o{.order = order, .n_kv_head = 2, .window = alibi ? 4 : 0, .alibi = alibi};
      if (!alibi) o.rotary = RotaryOptions{};
      const TransformerBlock block(16, 4, random, o);
      scramble(block);
      check_causal(block, random_array({2, 11, 16}, 3), false);
    }
}

}  // namespace
}  // namespace mote::test::attention_causality_test
