// The classes of "AI engineering from scratch", lesson 33: check_module, mote's layer and model with the same weights,
// the lesson's own tests, what it prints.
#include "models/tutorials/ai_engineering.h"

#include "engine/ops/ops.h"
#include "models/tutorials/attention_lm.h"
#include "tests/check_module.h"
#include "tests/sentences.h"
#include "train/optim/adamw.h"

namespace mote::test::ai_engineering_test {
namespace {

using tutorials::ai_engineering::causality, tutorials::ai_engineering::causality_text,
    tutorials::ai_engineering::heatmap, tutorials::ai_engineering::return_weights;
using tutorials::ai_engineering::MultiHeadSelfAttention, tutorials::ai_engineering::TinyAttentionLM;
constexpr double rounding = f64 ? 1e-14 : 1e-6;

/// A bias of keys adds the same to all scores of a row, so its true gradient is 0: the biases stay out of the check.
MultiHeadSelfAttention without_qkv_bias(Generator& random) {
  MultiHeadSelfAttention m(8, 2, 5, random, 0.2, 0.3);
  m.qkv_proj.bias = {};
  return m;
}

TEST_CASE("ai_engineering: MultiHeadSelfAttention, with and without its weights") {
  ModuleOptions<MultiHeadSelfAttention> options{
      .names = {"qkv_proj.weight", "out_proj.weight", "out_proj.bias"},
      .inputs = {random_array({2, 4, 8}, 1)},
      .error = [](const MultiHeadSelfAttention& m) { m(Tensor(zeros_of(1, 6, 8))); },
      .error_text =
          "MultiHeadSelfAttention: the length T = 6 is above max_context_length 5 (in MultiHeadSelfAttention)"};
  check_module(
      "MultiHeadSelfAttention", without_qkv_bias, [](const MultiHeadSelfAttention& m, In x) { return m(x[0]); },
      options);
  check_module(
      "MultiHeadSelfAttention", without_qkv_bias,
      [](const MultiHeadSelfAttention& m, In x) {
        const auto [out, weights] = m(x[0], return_weights);
        return concat({reshape(out, {-1}), reshape(weights, {-1})});
      },
      options);
}

TEST_CASE("ai_engineering: TinyAttentionLM") {
  const IntArray ids = ints({{1, 4, 0}, {2, 2, 3}});
  check_module(
      "TinyAttentionLM",
      [](Generator& random) {
        TinyAttentionLM m(5, 4, 2, 3, random);
        m.attn.qkv_proj.bias = {};
        return m;
      },
      [&](const TinyAttentionLM& m, In) { return m(ids); },
      {.names = {"token_emb.weight", "attn.qkv_proj.weight", "attn.out_proj.weight", "attn.out_proj.bias",
                 "lm_head.weight", "lm_head.bias"},
       .error =
           [](const TinyAttentionLM& m) {
             m(ints({1, 2}));
           },
       .error_text = "TinyAttentionLM: ids [2] must be [B, T] (in TinyAttentionLM)"});
}

TEST_CASE("ai_engineering: with equal draws mote's SelfAttention computes the same, both dropouts included") {
  const Generator random(3), again(3);
  const MultiHeadSelfAttention tutorial(8, 2, 7, random, 0.2, 0.4);
  const SelfAttention own(8, 2, again, {.dropout = 0.2}, {.resid_dropout = 0.4, .block_size = 7});
  const Array x = random_array({3, 5, 8}, 1);
  const AttentionWeights seen;
  const Tensor expected = own(x);
  const auto [out, weights] = tutorial(x, return_weights);
  CHECK(distance(out.to_vector(), Value(expected.array()).x) < rounding);
  CHECK(distance(weights.to_vector(), Value(seen.maps().back().dropped).x) < rounding);
  CHECK(random.get_state() == again.get_state());
}

TEST_CASE("ai_engineering: AttentionLM is the demo's model, draw for draw") {
  const Generator random(3), again(3);
  const TinyAttentionLM tutorial(7, 12, 3, 6, random);
  const AttentionLM own({.vocab_size = 7, .n_embd = 12, .n_head = 3, .block_size = 6}, again);
  CHECK(random.get_state() == again.get_state());
  const IntArray ids = ints({{1, 6, 0, 3, 2}});
  CHECK(distance(tutorial(ids).to_vector(), Value(own(ids).array()).x) < rounding);

  using tutorials::ai_engineering::DemoConfig;
  const DemoConfig demo;
  CHECK((demo.batch_size == 16 && demo.n_epochs == 3 && demo.steps_per_epoch == 120));
  CHECK((demo.learning_rate == 5e-3 && demo.seed == 42));
  const TinyAttentionLM lesson(demo, random);
  CHECK(lesson.token_emb.weight.shape() == Shape{64, 32});
  CHECK((lesson.attn.n_heads == 4 && lesson.attn.max_context_length == 12));
  const std::vector<NamedConstBuffer> buffers = named_buffers(lesson.attn);
  REQUIRE(buffers.size() == 1);
  CHECK(buffers[0].name == "causal_mask");
  CHECK(same_bits(buffers[0].array->slice(0, 0, 2).slice(1, 0, 2).contiguous(), array({2, 2}, {1, 0, 1, 1})));
}

TEST_CASE("ai_engineering: what is refused") {
  const Generator random(1);
  REFUSES(MultiHeadSelfAttention(10, 3, 8, random));
  REFUSES(MultiHeadSelfAttention(8, 0, 8, random));
  REFUSES(MultiHeadSelfAttention(8, 2, 0, random));
  REFUSES(MultiHeadSelfAttention(0, 2, 8, random));
  const MultiHeadSelfAttention attn(16, 4, 8, random);
  REFUSES(attn(Tensor(zeros_of(5, 16))));
  REFUSES(attn(Tensor(zeros_of(2, 5, 32))));
}

TEST_CASE("ai_engineering: the training test, 152 steps on the repeat task") {
  const TinyAttentionLM model(32, 16, 4, 10, Generator(123));
  Adam optimizer(all_parameters(model), {.lr = 5e-3});
  const Generator data(7);
  double first = 0, last = 0;
  for (int step = 0; step < 152; ++step) {
    const IntArray ids = randint(0, 32, {16, 1}, data).expand({16, 11}).contiguous();
    optimizer.zero_grad();
    const Tensor loss = cross_entropy(model(ids.slice(1, 0, 10)), ids.slice(1, 1, 11));
    loss.backward();
    optimizer.step();
    last = static_cast<double>(loss.item());
    if (step == 0) first = last;
  }
  CHECK(std::abs(first - 3.4778) < 5e-5);
  CHECK(std::abs(last - 0.0718) < 1e-4);
  CHECK(last < first / 2);
}

TEST_CASE("ai_engineering: heads split and joined again are the input; 8 heads look elsewhere than 4") {
  const Tensor x = random_array({2, 5, 32}, 1);
  const auto weights = [&](Index heads) {
    CHECK(same_bits(join_heads(split_heads(x, heads)).array(), x.array()));
    return MultiHeadSelfAttention(32, heads, 5, Generator(42))(x, return_weights).second.array();
  };
  const Array four = weights(4), eight = weights(8);
  CHECK(heatmap(four.select(0, 0).select(0, 0)) != heatmap(eight.select(0, 0).select(0, 0)));
}

TEST_CASE("ai_engineering: causality and heatmap, by hand") {
  const Array square = array({1, 2, 2}, {0.75, 0.25, 0.5, 0.375});
  CHECK(causality_text(square) ==
        "weights shape          : [1, 2, 2]\n"
        "sum over future cells  : 0.250000\n"
        "row sums               : min=0.8750, max=1.0000\n");
  REFUSES(causality(zeros_of(2, 3).array()));
  CHECK(heatmap(array({2, 11}, {0,   0.05, 0.1, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 1,  //
                                nan, 0,    0,   0,    0,    0,    0,    0,    0,    0.95, 2})) ==
        "  q= 0: |  .:-=+*#%@|\n"
        "  q= 1: |         @@|\n");
  REFUSES(heatmap(Array::zeros({2, 2, 2})));
}

}  // namespace
}  // namespace mote::test::ai_engineering_test
