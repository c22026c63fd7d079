// TransformerBlock: every kind equal to its parts by hand; check_module, PyTorch's numbers, what follows what.
#include <set>

#include "tests/nn/by_hand.h"
#include "tests/nn/oracles.h"
#include "tests/sentences.h"
#include "tests/vectors.h"

namespace mote::test::transformer_block_test {
namespace {

/// What a block with these options is called with its parts, in visit order.
std::vector<std::string> names_of(const TransformerBlockOptions& given) {
  const TransformerBlockOptions o = given.resolved(1);
  const bool norm_bias = *o.bias && o.norm == NormKind::layer_norm;
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, bool bias) {
    names.push_back(name + ".weight");
    if (bias) names.push_back(name + ".bias");
  };
  add("ln_1", norm_bias);
  add("attn.c_attn", *o.projections.bias);
  add("attn.c_proj", o.projections.out_bias.value_or(*o.projections.bias));
  if (!o.feed_forward) return names;
  add("ln_2", norm_bias);
  if (o.activation == Activation::swiglu) add("mlp.c_gate", *o.bias);
  add("mlp.c_fc", *o.bias);
  add("mlp.c_proj", *o.bias);
  return names;
}

/// Both orders and norms with: gelu; a gated network, shared heads and a window; attention alone; other biases.
std::vector<TransformerBlockOptions> all_kinds() {
  std::vector<TransformerBlockOptions> all;
  for (const NormOrder order : {NormOrder::pre, NormOrder::post})
    for (const NormKind norm : {NormKind::layer_norm, NormKind::rms_norm})
      for (const int part : {0, 1, 2, 3}) {
        TransformerBlockOptions o;
        o.norm_order = order;
        o.norm = norm;
        o.n_inner = 3;
        if (part == 0 && norm == NormKind::rms_norm) {
          o.attention.alibi = alibi_slopes(2);
          o.norm_eps = 0.1;
        }
        if (part == 1) {
          o.activation = Activation::swiglu;
          o.projections.n_kv_head = 1;
          o.attention.window = 2;
        }
        if (part == 1 && norm == NormKind::rms_norm) o.projections.rotary = RotaryOptions{.base = 100};
        if (part == 2) o.bias = o.feed_forward = false;
        if (part == 3) {
          o.bias = false;
          o.projections.out_bias = true;
          o.activation = Activation::relu;
        }
        if (part == 3 && norm == NormKind::rms_norm) {
          o.projections.rotary = RotaryOptions{};
          o.projections.n_kv_head = 1;
          o.attention.window = 2;
        }
        all.push_back(o);
      }
  return all;
}

TEST_CASE("TransformerBlock: every kind equals its parts by hand, bit for bit, and shows the weights") {
  for (const TransformerBlockOptions& o : all_kinds()) {
    Generator random(1);
    TransformerBlock m(24, 2, random, o);
    scramble(m);
    const Array x = random_array({2, 7, 24}, 3, -0.5, 0.5);
    Array weights;
    CHECK(same_bits(m(x).array(), block_by_hand(parts_of(m), "", x, 2, o, &weights).array()));
    CHECK(same_bits(with_weights(m, x).weights, weights));
  }
}

TEST_CASE("TransformerBlock") {
  for (const TransformerBlockOptions& o : all_kinds())
    check_module(
        "TransformerBlock", [&](Generator& random) { return TransformerBlock(4, 2, random, o); },
        [](const TransformerBlock& m, In x) { return m(x[0]); },
        {.names = names_of(o),
         .inputs = {random_array({2, 3, 4}, 2)},  // no relu near its kink
         .error = [](const TransformerBlock& m) { m(Tensor(zeros_of(3, 4))); },
         .error_text = "SelfAttention: x [3, 4] must be [B, T, 4] (in attn)"});
}

TEST_CASE("TransformerBlock with dropout, an activation and a mask") {
  const Mask keep = mask({{true, true, false}, {true, false, true}, {false, false, true}});
  const TransformerBlockOptions o{.dropout = 0.3,
                                  .attention = {.causal = false},
                                  .projections = {.block_size = 3},
                                  .activation = Activation::silu,
                                  .n_inner = 3};
  check_module(
      "TransformerBlock", [&](Generator& random) { return TransformerBlock(4, 2, random, o); },
      [&](const TransformerBlock& m, In x) { return m(x[0], keep); },
      {.names = names_of(o),
       .inputs = {random_array({2, 3, 4}, 1)},
       .error = [](const TransformerBlock& m) { m(Tensor(zeros_of(1, 4, 4))); },
       .error_text = "SelfAttention: the length T = 4 is above block_size 3 (in attn)"});
  const Generator random(1);
  const TransformerBlock m(4, 2, random, {.attention = {.causal = false}});
  const Array x = random_array({1, 3, 4}, 1);
  CHECK(!same_bits(m(x).array(), m(x, keep).array()));
  CHECK(same_bits(m(x, causal_mask(3)).array(), TransformerBlock(4, 2, Generator(1))(x).array()));
  REFUSES(m(Tensor(zeros_of(1, 3, 5))));
}

TEST_CASE("TransformerBlockOptions: parts follow the block where they are not told otherwise") {
  const auto has_bias = [](const TransformerBlockOptions& o) {
    const TransformerBlock m(4, 2, Generator(1), o);
    std::set<std::string> there;
    for (const NamedParameter& p : named_parameters(m)) there.insert(p.name);
    std::vector<bool> biases;
    for (const std::string part : {"ln_1", "ln_2", "attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj"})
      biases.push_back(there.contains(part + ".bias"));
    return biases;
  };
  CHECK(has_bias({}) == std::vector<bool>(6, true));
  CHECK(has_bias({.bias = false}) == std::vector<bool>(6, false));
  CHECK(has_bias({.bias = false, .projections = {.bias = true}}) ==
        std::vector{false, false, true, true, false, false});
  CHECK(has_bias({.projections = {.bias = false}}) == std::vector{true, true, false, false, true, true});
  CHECK(has_bias({.projections = {.out_bias = false}}) == std::vector{true, true, true, false, true, true});
  const auto drops = [](const TransformerBlockOptions& o) {
    const TransformerBlock m(4, 2, Generator(1), o);
    std::vector<double> rates;
    for (const auto& [name, layer] : named_modules(m))
      if (const auto* const dropout = dynamic_cast<const Dropout*>(layer)) rates.push_back(dropout->p);
    return rates;
  };
  CHECK(drops({}) == std::vector{0.0, 0.0, 0.0});
  CHECK(drops({.dropout = 0.3}) == std::vector{0.3, 0.3, 0.3});
  CHECK(drops({.dropout = 0.3, .attention = {.dropout = 0}}) == std::vector{0.0, 0.3, 0.3});
  CHECK(drops({.dropout = 0.3, .projections = {.resid_dropout = 0.1}}) == std::vector{0.3, 0.1, 0.1});
  CHECK(drops({.attention = {.dropout = 0.2}}) == std::vector{0.2, 0.0, 0.0});
  const auto inner = [](Index width, const TransformerBlockOptions& o) { return o.resolved(width).n_inner; };
  CHECK((inner(4, {}) == 16 && inner(4, {.n_inner = 7}) == 7));
  for (Index C = 1; C <= 4096; ++C) {  // a gated network's: 8/3 C, rounded up to a multiple of 32
    const Index n = inner(C, {.activation = Activation::swiglu});
    if (n % 32 != 0 || 3 * n < 8 * C || 3 * (n - 32) >= 8 * C) FAIL_CHECK("C = " << C << ": " << n);
  }
  REFUSES(inner(4, {.n_inner = -1}));
}

/// Weights that are easily made again in PyTorch.
TransformerBlock wavy_block(Index width, Index heads, const TransformerBlockOptions& options) {
  Generator random(1);
  TransformerBlock m(width, heads, random, options);
  const std::vector<Parameter> p = parameters(m);  // in the order of all_names
  const double a[12] = {1, 2, 0.7, 0.3, 1.3, 0.9, 1, 2, 0.6, 0.5, 0.8, 1.1};
  const double b[12] = {0, 0, 0.1, 0.2, 0.4, 0.6, 1, 1, 0.3, 0.7, 0.9, 0.2};
  for (std::size_t i = 0; i < 12; ++i) p.at(i).set(wave(p[i].shape(), a[i], b[i]));
  for (const std::size_t gain : {0u, 6u}) p[gain].set(p[gain].value() * real(0.5) + real(1));
  return m;
}

TEST_CASE("TransformerBlock gives what PyTorch's TransformerEncoderLayer gives, with a mask and backward") {
  const VectorFile file("encoder_layer.txt");
  const Mask keep = mask({{true, false, true}, {true, true, false}, {false, false, true}});
  for (const std::size_t first : {0u, 1u}) {
    const TransformerBlock m = wavy_block(
        6, 3,
        {.attention = {.causal = first == 0}, .norm_order = first ? NormOrder::pre : NormOrder::post, .n_inner = 5});
    const Tensor x = Tensor(wave({1, 3, 6}, 1, 0.5)).requires_grad_();
    const Tensor y = m(x, first ? keep : Mask());
    y.backward(wave({1, 3, 6}, 0.4, 0.3));
    const std::string name = first ? "norms_first/" : "norms_last/";
    CHECK(distance(y.to_vector(), file[name + "y"].numbers()) < (f64 ? 1e-13 : 1e-5));
    CHECK(distance(x.grad().to_vector(), file[name + "dx"].numbers()) < (f64 ? 1e-13 : 1e-5));
  }
}

}  // namespace
}  // namespace mote::test::transformer_block_test
