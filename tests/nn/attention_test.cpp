// MultiHeadAttention: check_module, PyTorch's numbers, weights, masks, lengths, permuted tokens.
#include "nn/attention.h"

#include "engine/ops/reduce.h"
#include "tests/nn/oracles.h"

namespace mote::test::attention_test {
namespace {

const std::vector<std::string> all_names{"c_attn.weight", "c_attn.bias", "c_proj.weight", "c_proj.bias"};
const std::vector<std::string> weights_only{"c_attn.weight", "c_proj.weight"};

TEST_CASE("MultiHeadAttention") {
  const Shape shape{2, 3, 4};
  for (const bool is_causal : {false, true})
    for (const bool bias : {true, false})
      check_module(
          "MultiHeadAttention",
          [=](Generator& random) {
            return MultiHeadAttention(4, 2, random, {.causal = is_causal, .bias = bias, .block_size = 3});
          },
          [](const MultiHeadAttention& m, In x) { return m(x[0]); },
          {.names = bias ? all_names : weights_only,
           .inputs = {random_array(shape, 1)},
           .oracle =
               [=](const Weights& w, const std::vector<Value>& x) {
                 return multi_head_oracle(w, "", x[0].x, shape, 2, is_causal ? causal() : May());
               },
           .error =
               [](const MultiHeadAttention& m) {
                 m(Tensor(Array::zeros({1, 4, 4})));
               },
           .error_text = "MultiHeadAttention: T = 4 is above block_size 3 (in MultiHeadAttention)"});
}

TEST_CASE("MultiHeadAttention with dropout on weights and output") {
  check_module(
      "MultiHeadAttention",
      [](Generator& random) { return MultiHeadAttention(6, 3, random, {.causal = true, .dropout = 0.3}); },
      [](const MultiHeadAttention& m, In x) { return m(x[0]); },
      {.names = all_names,
       .inputs = {random_array({2, 4, 6}, 1)},
       .error =
           [](const MultiHeadAttention& m) {
             m(Tensor(Array::zeros({2, 4, 5})));
           },
       .error_text = "MultiHeadAttention: x [2, 4, 5] must be [B, T, 6] (in MultiHeadAttention)"});
}

TEST_CASE("MultiHeadAttention: what a constructor refuses") {
  Generator random(1);
  CHECK(error_of([&] { MultiHeadAttention(6, 4, random); }) ==
        "MultiHeadAttention: width 6 is not divisible by 4 heads");
  CHECK(error_of([&] { MultiHeadAttention(0, 1, random); }) ==
        "MultiHeadAttention: width 0 and heads 1 must be at least 1");
  CHECK(error_of([&] { MultiHeadAttention(4, 0, random); }) ==
        "MultiHeadAttention: width 4 and heads 0 must be at least 1");
  CHECK(error_of([&] { MultiHeadAttention(4, 2, random, {.dropout = 1.5}); }) ==
        "Dropout: p = 1.5 is not a probability");
}

/// Weights as waves: equal to those given to PyTorch below.
void set_waves(const MultiHeadAttention& m) {
  m.c_attn->weight.set(wave({12, 4}, 0.7, 0.1));
  m.c_attn->bias.set(wave({12}, 0.3, 0.2));
  m.c_proj.weight.set(wave({4, 4}, 1.3, 0.4));
  m.c_proj.bias.set(wave({4}, 0.9, 0.6));
}

TEST_CASE("MultiHeadAttention gives PyTorch's output and weights") {
  // s(n, a, b) = torch.tensor([math.sin(a * i + b) for i in range(n)]); x = s(12, 1, .5).view(3, 1, 4)
  // F.multi_head_attention_forward(x, x, x, 4, 2, s(48, .7, .1).view(12, 4), s(12, .3, .2), None, None, False, 0.,
  //     s(16, 1.3, .4).view(4, 4), s(4, .9, .6), True, None, True, mask, average_attn_weights=False)   [float64]
  // mask = None, then torch.triu(torch.ones(3, 3), 1).bool()
  const std::vector<double> outputs[2] = {
      {1.64801906206305, 0.345285559405491, -1.01905538776045, -1.09335666510875, 0.256144772999569, -0.231210085832433,
       -0.167376740149048, 0.28119027012218, 1.17896816193294, 0.778609489668209, -0.143965516827377,
       -0.706692208534986},
      {1.72594914929227, 1.82149566476995, 0.286272614420991, -1.34643090939876, 0.274425969215707, -0.20143777764607,
       -0.157760290908378, 0.260428895511752, 1.17896816193294, 0.778609489668209, -0.143965516827377,
       -0.706692208534986}};
  const std::vector<double> weights[2] = {
      {0.0441707257100873, 0.921735522192538, 0.0340937520973751, 0.0633619062644486, 0.866870371991832,
       0.0697677217437196, 0.660932637731298, 9.2239070253367e-05, 0.338975123198448, 0.710063970562201,
       0.149488431152361, 0.140447598285438, 0.000579333342968259, 0.974649997771372, 0.02477066888566,
       0.994594383245899, 0.000212201458532588, 0.0051934152955682},
      {1, 0, 0, 0.0681140697280688, 0.931885930271931, 0, 0.660932637731298, 9.2239070253367e-05, 0.338975123198448, 1,
       0, 0, 0.00059404831713407, 0.999405951682866, 0, 0.994594383245899, 0.000212201458532588, 0.0051934152955682}};
  for (const std::size_t is_causal : {0u, 1u}) {
    Generator random(1);
    const MultiHeadAttention m(4, 2, random, {.causal = is_causal == 1});
    set_waves(m);
    const Attended got = m.with_weights(wave({1, 3, 4}, 1, 0.5));
    CHECK(got.weights.shape() == Shape{1, 2, 3, 3});
    CHECK(distance(got.output.to_vector(), outputs[is_causal]) < (f64 ? 1e-13 : 1e-5));
    CHECK(distance(got.weights.to_vector(), weights[is_causal]) < (f64 ? 1e-13 : 1e-5));
  }
}

TEST_CASE("MultiHeadAttention: asking for the weights changes no bit, and a row of them sums to 1") {
  Generator random(1);
  for (const double p : {0.0, 0.5}) {
    const MultiHeadAttention m(6, 2, random, {.causal = true, .dropout = p});
    scramble(m);
    const Array x = random_array({2, 7, 6}, 3);
    const GeneratorState start = random.get_state();
    const Array y = m(x).array();
    random.set_state(start);
    const Attended with = m.with_weights(x);
    CHECK(same_bits(with.output.array(), y));
    REQUIRE(with.weights.shape() == Shape{2, 2, 7, 7});
    for (Index row = 0; row < 2 * 2 * 7; ++row) {  // before dropout: the sums stay 1 in training
      double total = 0;
      for (Index key = 0; key < 7; ++key) {
        const real weight = with.weights.reshape({28, 7}).at({row, key});
        if (key > row % 7) CHECK(weight == 0);
        total += static_cast<double>(weight);
      }
      CHECK(std::abs(total - 1) < (f64 ? 1e-14 : 1e-6));
    }
  }
}

TEST_CASE("MultiHeadAttention of one token: its projected value, with weight exactly 1") {
  Generator random(1);
  const MultiHeadAttention m(4, 2, random, {.causal = true});
  const Tensor x = random_array({3, 1, 4}, 1);
  const Attended got = m.with_weights(x);
  CHECK(got.weights.to_vector() == std::vector<real>(6, 1));
  CHECK(same_bits(got.output.array(), m.c_proj(slice((*m.c_attn)(x), 2, 8, 12)).array()));
}

TEST_CASE("MultiHeadAttention of no tokens, and of no rows: empty results") {
  Generator random(1);
  const MultiHeadAttention m(4, 2, random, {.causal = true});
  for (const Shape& shape : {Shape{2, 0, 4}, Shape{0, 3, 4}}) {
    Tensor x = Tensor(Array::zeros(shape)).requires_grad_();
    const Tensor y = m(x);
    CHECK(y.shape() == shape);
    sum(y).backward();
    CHECK(x.grad().shape() == shape);
  }
}

/// [B, H, T, T] from a formula.
Mask mask_of(const Shape& shape, const May& may) {
  Mask m(shape);
  const Index H = shape.rank() > 2 ? shape[-3] : 1, T = shape[-1];
  for (Index i = 0; i < m.numel(); ++i) m.mutate()[i] = may(i / (H * T * T), i / (T * T) % H, i / T % T, i % T);
  return m;
}

TEST_CASE("MultiHeadAttention: masks for all, per row of the batch, per head") {
  const Shape shape{2, 4, 6};
  const May window = [](Index, Index, Index i, Index j) { return std::abs(i - j) <= 1; };
  const May padded = [](Index b, Index, Index, Index j) { return j < 4 - b; };
  const May heads = [](Index, Index h, Index i, Index j) { return h == 0 ? j <= i : (i + j + h) % 2 == 0; };
  const std::vector<std::pair<Shape, May>> masks{
      {{4, 4}, window}, {{2, 1, 4, 4}, padded}, {{3, 4, 4}, heads}, {{1, 3, 4, 4}, heads}};
  for (const auto& given : masks)
    for (const bool is_causal : {false, true}) {
      const Mask mask = mask_of(given.first, given.second);
      const May both = [&, is_causal](Index b, Index h, Index i, Index j) {
        return given.second(b, h, i, j) && (!is_causal || j <= i);
      };
      check_module(
          "MultiHeadAttention",
          [&](Generator& random) { return MultiHeadAttention(6, 3, random, {.causal = is_causal}); },
          [&](const MultiHeadAttention& m, In x) { return m(x[0], mask); },
          {.names = all_names,
           .inputs = {random_array(shape, 1)},
           .oracle = [&](const Weights& w, const std::vector<Value>& x) {
             return multi_head_oracle(w, "", x[0].x, shape, 3, both);
           }});
    }
  Generator random(1);
  const MultiHeadAttention m(6, 3, random);
  const std::string text = error_of([&] { m(random_array(shape, 1), Mask({3, 3})); });
  CHECK(text.find("[3, 3]") != std::string::npos);
  CHECK(text.find("[2, 3, 4, 4]") != std::string::npos);
  CHECK(text.ends_with(" (in MultiHeadAttention)"));
}

TEST_CASE("MultiHeadAttention: the causal flag and a causal mask are the same, bit for bit, backwards too") {
  Generator random(1);
  const MultiHeadAttention open(6, 2, random);
  MultiHeadAttention flag(6, 2, random, {.causal = true});
  copy_weights(open, flag);
  const Array dy = random_array({2, 9, 6}, 8);
  Tensor x = Tensor(random_array({2, 9, 6}, 3)).requires_grad_(), z = Tensor(x.array()).requires_grad_();
  const Tensor by_flag = flag(x);
  const Tensor by_mask = open(z, causal_mask(9));
  CHECK(same_bits(by_flag.array(), by_mask.array()));
  by_flag.backward(dy);
  by_mask.backward(dy);
  CHECK(same_bits(x.grad(), z.grad()));
  CHECK(same_bits(flag.c_attn->weight.grad(), open.c_attn->weight.grad()));
}

TEST_CASE("MultiHeadAttention: without masks and positions, permuted tokens give permuted outputs") {
  Generator random(1);
  const MultiHeadAttention m(6, 2, random);
  scramble(m);
  const Array x = random_array({1, 5, 6}, 3), y = m(x).array();
  const Index order[5] = {3, 0, 4, 2, 1};
  Array permuted = Array::empty({1, 5, 6});
  for (Index t = 0; t < 5; ++t)
    for (Index c = 0; c < 6; ++c) permuted.mutate()[t * 6 + c] = x.at({0, order[t], c});
  const Array z = m(permuted).array();
  for (Index t = 0; t < 5; ++t)
    for (Index c = 0; c < 6; ++c)
      CHECK(std::abs(z.at({0, t, c}) - y.at({0, order[t], c})) < real(f64 ? 1e-14 : 1e-6) * 4);
}

}  // namespace
}  // namespace mote::test::attention_test
