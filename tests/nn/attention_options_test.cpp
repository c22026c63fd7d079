// MultiHeadAttention's options through check_module, each against one formula in double; its errors.
#include "tests/nn/attention_oracle.h"

namespace mote::test::attention_options_test {
namespace {

std::vector<std::string> names_of(const MultiHeadAttentionOptions& o) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& layer, bool bias) {
    names.push_back(layer + ".weight");
    if (bias) names.push_back(layer + ".bias");
  };
  for (const char* layer : {"q_proj", "k_proj", "v_proj"})
    if (!o.fused) add(layer, o.bias);
  if (o.fused) add("c_attn", o.bias);
  add(o.fused ? "c_proj" : "o_proj", o.out_bias.value_or(o.bias));
  return names;
}

void check(const Variant& v, const std::vector<Array>& inputs) {
  const Index wrong = v.d_in() + 1;
  check_module(
      v.name, [&](Generator& random) { return MultiHeadAttention(v.width, v.heads, random, v.options); },
      [](const MultiHeadAttention& m, In x) { return x.size() == 1 ? m(x[0]) : m(x[0], x[1], x[2]); },
      {.names = names_of(v.options),
       .inputs = inputs,
       .oracle = [&](const Weights& w,
                     const std::vector<Value>& x) { return layer_oracle(w, v.width, v.heads, v.options, x); },
       .error =
           [&](const MultiHeadAttention& m) {
             m(Tensor(Array::zeros({1, 2, wrong})));
           },
       .error_text = std::string("MultiHeadAttention: ") + (v.options.fused ? "x" : "query") + " [1, 2, " +
                     std::to_string(wrong) + "] must be [B, T, " + std::to_string(v.d_in()) +
                     "] (in MultiHeadAttention)"});
}

TEST_CASE("MultiHeadAttention: one projection or three, widths, groups, windows, biases") {
  const std::vector<Array> x{random_array({2, 3, 4}, 1)}, narrow{random_array({1, 3, 3}, 1)};
  // bias = false where projections are separate: a bias of keys adds one number to all scores of a query and so has no
  // gradient, until rotary turns it by each key's position
  check({"separate", 4, 2, {.bias = false, .out_bias = true, .fused = false}}, x);
  check({"separate, turned", 4, 2, {.causal = true, .fused = false, .rotary = RotaryOptions{}}}, x);
  check({"widths", 4, 2, {.d_in = 3, .d_out = 5, .value_head = 3}}, narrow);
  check({"groups", 8, 4, {.causal = true, .n_kv_head = 2, .d_in = 3, .d_out = 2}}, narrow);
  check({"multi-query",
         6,
         3,
         {.causal = true, .bias = false, .fused = false, .n_kv_head = 1, .window = 2, .d_in = 3, .value_head = 1}},
        narrow);
  check({"window", 4, 2, {.causal = true, .window = 2}}, x);
  check({"no bias but in the output", 4, 2, {.bias = false, .out_bias = true}}, x);
  check({"no bias in the output", 4, 2, {.out_bias = false}}, x);
}

TEST_CASE("MultiHeadAttention: rotary positions and ALiBi") {
  const std::vector<Array> x{random_array({2, 4, 8}, 1)}, three{random_array({1, 4, 6}, 1)};
  for (const bool causal : {true, false}) {
    check({"rotary", 8, 2, {.causal = causal, .rotary = RotaryOptions{}}}, x);
    check({"alibi", 6, 3, {.causal = causal, .alibi = true}}, three);
  }
  check({"part of rotary", 8, 2, {.causal = true, .rotary = RotaryOptions{.base = 50, .fraction = 0.5, .length = 2}}},
        x);
  check({"all at once",
         8,
         4,
         {.causal = true, .n_kv_head = 2, .window = 3, .value_head = 1, .rotary = RotaryOptions{}, .alibi = true}},
        x);
}

TEST_CASE("MultiHeadAttention across: other lengths and widths of keys and values") {
  const std::vector<Array> x{random_array({2, 3, 4}, 1), random_array({2, 5, 3}, 2), random_array({2, 5, 2}, 3)};
  check({"across", 4, 2, {.bias = false, .out_bias = true, .fused = false, .key_width = 3, .value_width = 2}}, x);
  const std::vector<Array> shorter{random_array({1, 4, 3}, 1), random_array({1, 2, 4}, 2), random_array({1, 2, 5}, 3)};
  check({"across, fewer keys",
         8,
         4,
         {.bias = false,
          .fused = false,
          .n_kv_head = 2,
          .d_in = 3,
          .d_out = 1,
          .key_width = 4,
          .value_width = 5,
          .value_head = 1}},
        shorter);
}

TEST_CASE("MultiHeadAttention: dropout on the output alone, on the weights alone") {
  for (const bool weights : {false, true})
    check_module(
        "MultiHeadAttention",
        [=](Generator& random) {
          return MultiHeadAttention(4, 2, random, {.dropout = weights ? 0.4 : 0, .resid_dropout = weights ? 0 : 0.4});
        },
        [](const MultiHeadAttention& m, In x) { return m(x[0]); },
        {.names = names_of({}), .inputs = {random_array({2, 3, 4}, 1)}});
  Generator random(1);
  const MultiHeadAttention all(4, 2, random, {.resid_dropout = 1}),
      none(4, 2, random, {.dropout = 1, .resid_dropout = 0});
  for (const real y : all(random_array({2, 3, 4}, 1)).to_vector()) CHECK(y == 0);
  scramble(none);
  const Tensor y = none(random_array({2, 3, 4}, 1));  // every weight dropped: the output's bias
  for (Index row = 0; row < 6; ++row)
    CHECK(same_bits(y.array().reshape({6, 4}).select(0, row), none.c_proj.bias.value()));
}

TEST_CASE("ALiBi's slopes are the paper's") {
  // Press et al. 2022 for 8 heads: 1/2^1, 1/2^2, ..., 1/2^8; for 12 heads then 2^-0.5, 2^-1.5, 2^-2.5, 2^-3.5
  for (const Index heads : {1, 2, 3, 8, 12, 16}) {
    Generator random(1);
    const MultiHeadAttention m(heads, heads, random, {.causal = true, .alibi = true});
    for (const Parameter& p : parameters(m)) p.set(Array::zeros(p.shape()));
    const Attended got = m.with_weights(Tensor(Array::zeros({1, 2, heads})));
    Row slopes;  // scores are 0 and -slope: the weights' ratio is e^-slope
    for (Index h = 0; h < heads; ++h)
      slopes.push_back(-std::log(static_cast<double>(got.weights.at({0, h, 1, 0}) / got.weights.at({0, h, 1, 1}))));
    Row expected = paper_slopes(heads);
    if (heads == 8) expected = {0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625};
    if (heads == 12)
      expected = {0.5,
                  0.25,
                  0.125,
                  0.0625,
                  0.03125,
                  0.015625,
                  0.0078125,
                  0.00390625,
                  0.70710678118654752,
                  0.35355339059327376,
                  0.17677669529663688,
                  0.08838834764831844};
    for (std::size_t h = 0; h < slopes.size(); ++h) CHECK(std::abs(slopes[h] - expected[h]) < (f64 ? 1e-14 : 3e-7));
  }
}

TEST_CASE("MultiHeadAttention: torch_init draws separate projections of one width as PyTorch's packed one") {
  for (const bool bias : {true, false}) {
    const Generator one(5), two(5);
    const MultiHeadAttention fused(6, 2, one, {.bias = bias, .torch_init = true});
    const MultiHeadAttention separate(6, 2, two, {.bias = bias, .torch_init = true, .fused = false});
    const Array& packed = fused.c_attn->weight.value();
    CHECK(same_bits(separate.q_proj->weight.value(), packed.slice(0, 0, 6)));
    CHECK(same_bits(separate.k_proj->weight.value(), packed.slice(0, 6, 12)));
    CHECK(same_bits(separate.v_proj->weight.value(), packed.slice(0, 12, 18)));
    CHECK(same_bits(separate.c_proj.weight.value(), fused.c_proj.weight.value()));
    CHECK(one.get_state() == two.get_state());
  }
  // Other widths of keys or values: PyTorch has three matrices, each with a bound of its own.
  const Generator random(5);
  const MultiHeadAttention across(60, 2, random, {.torch_init = true, .fused = false, .key_width = 20});
  const auto largest = [](const Array& w) {
    double most = 0;
    for (const real x : w.to_vector()) most = std::max(most, std::abs(static_cast<double>(x)));
    return most;
  };
  const auto near_bound = [&](const Array& w, double in, double out) {
    const double bound = std::sqrt(6 / (in + out));
    return largest(w) <= bound && largest(w) > 0.99 * bound;
  };
  CHECK(near_bound(across.q_proj->weight.value(), 60, 60));
  CHECK(near_bound(across.k_proj->weight.value(), 20, 60));
  CHECK(near_bound(across.v_proj->weight.value(), 60, 60));
}

TEST_CASE("MultiHeadAttention: what a constructor refuses") {
  const auto says = [](Index width, Index heads, const MultiHeadAttentionOptions& o) {
    Generator random(1);
    return error_of([&] { MultiHeadAttention(width, heads, random, o); });
  };
  CHECK(says(10, 3, {}) == "MultiHeadAttention: width 10 is not divisible by 3 heads");
  CHECK(says(8, 4, {.n_kv_head = 3}) == "MultiHeadAttention: 4 heads cannot share n_kv_head = 3 evenly");
  CHECK(says(8, 4, {.n_kv_head = 8}) == "MultiHeadAttention: 4 heads cannot share n_kv_head = 8 evenly");
  CHECK(says(8, 4, {.n_kv_head = -1}) == "MultiHeadAttention: 4 heads cannot share n_kv_head = -1 evenly");
  CHECK(says(8, 4, {.key_width = 3}) ==
        "MultiHeadAttention: key_width and value_width need fused = false: one projection has one input");
  CHECK(says(8, 4, {.window = 3}) == "MultiHeadAttention: window 3 needs causal and must not be negative");
  CHECK(says(8, 4, {.causal = true, .window = -3}) ==
        "MultiHeadAttention: window -3 needs causal and must not be negative");
  CHECK(says(8, 4, {.block_size = -1}) == "MultiHeadAttention: block_size -1 must be 0 (any length) or above");
  CHECK(says(8, 4, {.d_in = -2}) == "MultiHeadAttention: a width of -2 is not possible");
  CHECK(says(8, 4, {.value_head = -1}) == "MultiHeadAttention: a width of -1 is not possible");
  CHECK(says(6, 2, {.rotary = RotaryOptions{}}) ==
        "Rotary: a head of width 3 is odd, but its columns are turned in pairs");
  CHECK(says(8, 4, {.resid_dropout = 2}) == "Dropout: p = 2 is not a probability");
}

TEST_CASE("MultiHeadAttention: a wrong call is a sentence with the layer's path") {
  Generator random(1);
  const MultiHeadAttention fused(4, 2, random, {.causal = true, .block_size = 3});
  const MultiHeadAttention across(4, 2, random, {.block_size = 3, .fused = false, .key_width = 3, .value_width = 5});
  const auto says = [](const MultiHeadAttention& m, const std::function<void(const MultiHeadAttention&)>& call) {
    const Inside<MultiHeadAttention> outer(m.clone());
    const std::string text = error_of([&] { outer(call); }), end = " (in inner)";
    CHECK(text.ends_with(end));
    return text.substr(0, text.size() - end.size());
  };
  const Tensor x = Array::zeros({1, 2, 4}), other = Array::zeros({1, 2, 4}), k = Array::zeros({1, 3, 3}),
               v = Array::zeros({1, 3, 5});
  using M = MultiHeadAttention;
  CHECK(says(fused, [&](const M& m) {
          m(Tensor(Array::zeros({1, 4, 4})));
        }) == "MultiHeadAttention: T = 4 is above block_size 3");
  CHECK(says(across, [&](const M& m) {
          m(x, Tensor(Array::zeros({1, 4, 3})), v);
        }) == "MultiHeadAttention: T = 4 is above block_size 3");
  CHECK(says(across, [&](const M& m) { m(x, x, v); }) == "MultiHeadAttention: key [1, 2, 4] must be [B, T, 3]");
  CHECK(says(across, [&](const M& m) { m(x, k, k); }) == "MultiHeadAttention: value [1, 3, 3] must be [B, T, 5]");
  CHECK(says(across, [&](const M& m) {
          m(Tensor(Array::zeros({2, 4})), k, v);
        }) == "MultiHeadAttention: query [2, 4] must be [B, T, 4]");
  CHECK(says(across, [&](const M& m) {
          m(x, k, Tensor(Array::zeros({1, 2, 5})));
        }).rfind("attention: k [1, 2, 3, 2] and v [1, 2, 2, 2] differ in their length", 0) == 0);
  const std::string three =
      "MultiHeadAttention: query, key and value are three inputs; construct it with fused = false";
  CHECK(says(fused, [&](const M& m) { m(x, other, x); }) == three);
  CHECK(says(fused, [&](const M& m) { m(x, x, other); }) == three);
  const Tensor tracked = Tensor(random_array({1, 2, 4}, 7)).requires_grad_(), apart = tracked.detach();
  CHECK(says(fused, [&](const M& m) { m(tracked, apart, apart); }) == three);  // equal numbers, but no gradient wanted
  CHECK(says(fused, [&](const M& m) { m(apart, tracked, tracked); }) == three);
  const Tensor shorter = slice(x, 1, 0, 1);  // begins where x does
  CHECK(says(fused, [&](const M& m) { m(x, shorter, shorter); }) == three);
  CHECK(says(fused, [&](const M& m) {
          m(x, Mask({3, 3}));
        }) == "attention: mask [3, 3] does not broadcast to [1, 2, 2, 2]");
  CHECK(says(fused, [&](const M& m) {
          m.with_weights(x, Mask({2, 1, 1, 2}));
        }) == "attention: mask [2, 1, 1, 2] does not broadcast to [1, 2, 2, 2]");
  const std::string numbers =
      " is made of numbers; a Mask says true = may attend: compare (m > 0), or from_blocked(m) if 1 means blocked; "
      "cross-attention takes query, key and value";
  const Tensor added = Array::zeros({2, 2});
  CHECK(says(fused, [&](const M& m) { m(x, added); }) == "MultiHeadAttention: the mask [2, 2]" + numbers);
  CHECK(says(across, [&](const M& m) { m(x, k, v, added); }) == "MultiHeadAttention: the mask [2, 2]" + numbers);
  CHECK(says(fused, [&](const M& m) { m.with_weights(x, added); }) == "MultiHeadAttention: the mask [2, 2]" + numbers);
  CHECK(says(across, [&](const M& m) { m.with_weights(x, k, v, added); }) ==
        "MultiHeadAttention: the mask [2, 2]" + numbers);
  CHECK(same_bits(fused(x, x, x).array(), fused(x).array()));
}

}  // namespace
}  // namespace mote::test::attention_options_test
