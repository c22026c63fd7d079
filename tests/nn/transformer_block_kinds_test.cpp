// TransformerBlock with every kind of norm, network, positions, heads and projections; its weights; a hundred of them.
#include <map>

#include "engine/ops/loss.h"
#include "tests/nn/block_oracles.h"

namespace mote::test::transformer_block_kinds_test {
namespace {

/// What a block with these options is called with its parts, in visit order.
std::vector<std::string> names_of(const TransformerBlockOptions& o) {
  const bool norm_bias = o.bias && o.norm == NormKind::layer_norm;
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, bool bias) {
    names.push_back(name + ".weight");
    if (bias) names.push_back(name + ".bias");
  };
  add("ln_1", norm_bias);
  if (o.fused) {
    add("attn.c_attn", o.attention_bias);
    add("attn.c_proj", o.out_bias.value_or(o.attention_bias));
  } else {
    for (const char* layer : {"q_proj", "k_proj", "v_proj"}) add(std::string("attn.") + layer, o.attention_bias);
    add("attn.o_proj", o.out_bias.value_or(o.attention_bias));
  }
  if (!o.feed_forward) return names;
  add("ln_2", norm_bias);
  if (o.activation == Activation::swiglu) add("mlp.c_gate", o.mlp_bias);
  add("mlp.c_fc", o.mlp_bias);
  add("mlp.c_proj", o.mlp_bias);
  return names;
}

std::vector<TransformerBlockOptions> all_kinds() {
  std::vector<TransformerBlockOptions> all;
  for (const NormOrder order : {NormOrder::pre, NormOrder::post})
    for (const NormKind norm : {NormKind::layer_norm, NormKind::rms_norm})
      for (const int part : {0, 1, 2, 3}) {  // gelu, a gated network, none; three projections of one group
        TransformerBlockOptions o;
        o.order = order, o.norm = norm, o.hidden = 3;
        o.feed_forward = part != 2;
        if (part == 1) o.activation = Activation::swiglu, o.n_kv_head = 1, o.window = 2;
        if (part == 2) o.bias = o.attention_bias = false;
        if (part == 3) o.fused = o.attention_bias = false, o.n_kv_head = 1;  // a bias of keys has no gradient
        if (part == 3) o.out_bias = true;
        if (part == 1 && norm == NormKind::rms_norm) o.rotary = RotaryOptions{.base = 100};
        if (part == 0 && norm == NormKind::rms_norm) o.alibi = true, o.norm_eps = 0.1;
        all.push_back(o);
      }
  return all;
}

TEST_CASE("TransformerBlock: every kind") {
  const Shape shape{2, 3, 4};
  for (const TransformerBlockOptions& o : all_kinds())
    check_module(
        "TransformerBlock", [&](Generator& random) { return TransformerBlock(4, 2, random, o); },
        [](const TransformerBlock& m, In x) { return m(x[0]); },
        {.names = names_of(o),
         .inputs = {random_array(shape, 1)},
         .oracle = [&](const Weights& w,
                       const std::vector<Value>& x) { return any_block_oracle(w, "", x[0].x, shape, 2, o); },
         .tolerance = f64 ? 1e-12 : 2e-5,
         .gradient_tolerance = f64 ? 1e-6 : 3e-4,
         .error =
             [](const TransformerBlock& m) {
               m(Tensor(Array::zeros({3, 4})));
             },
         .error_text =
             std::string("MultiHeadAttention: ") + (o.fused ? "x" : "query") + " [3, 4] must be [B, T, 4] (in attn)"});
}

/// A fused block's weights or their gradients, under the names they have where projections are separate.
template <class Numbers>
std::map<std::string, Array> separated(const TransformerBlock& m, const Numbers& numbers_of) {
  const Index keys = m.attn.n_embd, values = keys + m.attn.n_kv_head * m.attn.head_width,
              end = values + m.attn.n_kv_head * m.attn.value_head;
  std::map<std::string, Array> all;
  for (const NamedParameter& p : named_parameters(m)) {
    const Array x = numbers_of(p.parameter);
    const std::string kind = p.name.substr(p.name.rfind('.'));
    if (p.name == "attn.c_attn" + kind) {
      all["attn.q_proj" + kind] = copy_of(x.slice(0, 0, keys));
      all["attn.k_proj" + kind] = copy_of(x.slice(0, keys, values));
      all["attn.v_proj" + kind] = copy_of(x.slice(0, values, end));
    } else {
      all[p.name == "attn.c_proj" + kind ? "attn.o_proj" + kind : p.name] = x;
    }
  }
  return all;
}

TEST_CASE("TransformerBlock: fused = false is the fused block with its weights cut, bit for bit") {
  for (TransformerBlockOptions o : all_kinds())
    for (const double dropout : {0.0, 0.3}) {
      if (!o.fused) continue;
      o.dropout = dropout, o.n_kv_head = o.n_kv_head ? 2 : 0;
      Generator random(1);
      const TransformerBlock fused(24, 4, random, o);
      o.fused = false;
      const TransformerBlock separate(24, 4, random, o);
      scramble(fused);
      const auto weights = separated(fused, [](const Parameter& p) { return p.value(); });
      std::vector<std::string> names;
      for (const NamedParameter& p : named_parameters(separate)) {
        names.push_back(p.name);
        REQUIRE_MESSAGE(weights.contains(p.name), p.name);
        p.parameter.set(weights.at(p.name));
      }
      CHECK(names == names_of(o));
      CHECK(names.size() == weights.size());
      const Array start = random_array({2, 7, 24}, 3, -0.5, 0.5), dy = random_array({2, 7, 24}, 4);
      const GeneratorState draws = random.get_state();
      const auto result = [&](const TransformerBlock& m) {
        random.set_state(draws);
        Tensor x = Tensor(start).requires_grad_();
        const Tensor y = m(x);
        y.backward(dy);
        return std::vector{y.array(), x.grad()};
      };
      const std::vector<Array> whole = result(fused), cut = result(separate);
      CHECK(same_bits(cut[0], whole[0]));
      const double rounding = f64 ? 1e-13 : 1e-5;  // what reaches the input is one sum over q, k and v, or three
      CHECK(distance(cut[1].to_vector(), Value(whole[1]).x) < rounding);
      const auto gradients = separated(fused, [](const Parameter& p) { return p.grad(); });
      for (const NamedParameter& p : named_parameters(separate)) {
        const Array &got = p.parameter.grad(), &expected = gradients.at(p.name);
        if (o.order == NormOrder::pre && p.name.starts_with("ln_1"))
          CHECK_MESSAGE(distance(got.to_vector(), Value(expected).x) < rounding, p.name);
        else
          CHECK_MESSAGE(same_bits(got, expected), p.name);
      }
    }
}

TEST_CASE("TransformerBlock: with_weights gives the same output, bit for bit, and what the heads look at") {
  for (TransformerBlockOptions o : all_kinds())
    for (const double dropout : {0.0, 0.3}) {
      o.dropout = dropout;
      o.hidden = 0, o.n_kv_head = o.n_kv_head ? 2 : 0;
      Generator random(1);
      TransformerBlock m(24, 4, random, o);
      scramble(m);
      const Array x = random_array({2, 7, 24}, 3, -0.5, 0.5);
      const GeneratorState start = random.get_state();
      const Array y = m(x).array();
      const GeneratorState end = random.get_state();
      random.set_state(start);
      const Attended attended = m.with_weights(x);
      CHECK(same_bits(attended.output.array(), y));
      CHECK(random.get_state() == end);
      CHECK(attended.weights.shape() == Shape{2, 4, 7, 7});
      CHECK(same_bits(attended.weights, attended.dropped_weights) == (dropout == 0));
      Row weights;
      any_block_oracle(weights_of(m), "", Value(x).x, {2, 7, 24}, 4, o, &weights);
      CHECK(distance(attended.weights.to_vector(), weights) < (f64 ? 1e-12 : 2e-5));
    }
}

TEST_CASE("TransformerBlock: with_weights takes a mask, records the graph and names the layer in errors") {
  Generator random(1);
  TransformerBlockOptions o;
  o.causal = false;
  const TransformerBlock m(4, 2, random, o);
  scramble(m);
  const Mask keep = mask({{true, false, true}, {true, true, false}, {false, false, true}});
  const Array x = random_array({1, 3, 4}, 1);
  const Attended masked = m.with_weights(x, keep);
  CHECK(same_bits(masked.output.array(), m(x, keep).array()));
  CHECK(masked.weights.at({0, 1, 0, 1}) == 0);
  CHECK(masked.weights.at({0, 1, 2, 2}) == 1);
  const auto gradient = [&](bool with) {
    zero_grad(m);
    const Tensor y = with ? m.with_weights(x, keep).output : m(x, keep);
    y.backward(random_array({1, 3, 4}, 5));
    return m.attn.c_attn->weight.grad();
  };
  const Array plain = gradient(false);
  CHECK(same_bits(gradient(true), plain));
  CHECK(error_of([&] {
          m.with_weights(Tensor(Array::zeros({1, 3, 5})));
        }) == "layer_norm: weight [4] does not fit the last axis of x [1, 3, 5] (in ln_1)");
}

TEST_CASE("a hundred blocks train a step without NaN, in both norm orders") {
  for (TransformerBlockOptions o : all_kinds()) {
    o.hidden = 0, o.n_kv_head = 0;
    Generator random(3);
    std::vector<TransformerBlock> blocks;
    for (int i = 0; i < 100; ++i) blocks.emplace_back(16, 2, random, o);
    const Array x = random_array({2, 8, 16}, 4), target = random_array({2, 8, 16}, 5);
    const auto loss_of = [&] {
      Tensor y = x;
      for (const TransformerBlock& block : blocks) y = block(y);
      return mse_loss(y, target);
    };
    const Tensor loss = loss_of();
    loss.backward();
    CHECK(std::isfinite(loss.item()));
    for (const TransformerBlock& block : blocks)
      for (const NamedParameter& p : named_parameters(block)) {
        const std::vector<real> g = p.parameter.grad().to_vector();
        Index nonzero = 0;
        for (const real v : g) {
          if (!std::isfinite(v)) FAIL_CHECK(p.name << " has a gradient of " << v);
          nonzero += v != 0;
        }
        // no gradient dies on its way through a hundred blocks
        CHECK_MESSAGE(nonzero > 0, p.name);
        p.parameter.set(p.parameter.value() - p.parameter.grad() * real(1e-4));
      }
    const NoGrad no_grad;
    CHECK(std::isfinite(loss_of().item()));
  }
}

}  // namespace
}  // namespace mote::test::transformer_block_kinds_test
