// The classes of "Multi-Head from Scratch": check_module, mote's layers with the same weights, and PyTorch's training
// step of the block, dropout included.
#include "models/tutorials/multi_head_from_scratch.h"

#include "engine/ops/loss.h"
#include "engine/ops/masks.h"
#include "nn/multi_head_attention.h"
#include "nn/transformer_block.h"
#include "tests/models/tutorials/cases.h"
#include "tests/sentences.h"
#include "tests/vectors.h"
#include "train/optim/sgd.h"

namespace mote::test::multi_head_from_scratch_test {
namespace {

using tutorials::multi_head_from_scratch::MultiHeadAttention;
using PostNormBlock = tutorials::multi_head_from_scratch::TransformerBlock;
constexpr double rounding = f64 ? 1e-14 : 1e-6;

TEST_CASE("multi_head_from_scratch: MultiHeadAttention") {
  for (const bool out_bias : {false, true}) {
    std::vector<std::string> names{"W_q.weight", "W_k.weight", "W_v.weight", "W_o.weight"};
    if (out_bias) names.push_back("W_o.bias");
    check_attention_of_three([out_bias](Generator& random) { return MultiHeadAttention(8, 2, random, 0.3, out_bias); },
                             [](const MultiHeadAttention& m, In x) { return both(m(x[0], x[1], x[2])); }, names);
  }
}

TEST_CASE("multi_head_from_scratch: TransformerBlock") {
  check_module(
      "TransformerBlock", [](Generator& random) { return PostNormBlock(6, 2, 5, random, 0.3); },
      [](const PostNormBlock& m, In x) { return both(m(x[0])); },
      {.names = {"self_attn.W_q.weight", "self_attn.W_k.weight", "self_attn.W_v.weight", "self_attn.W_o.weight",
                 "norm1.weight", "norm1.bias", "ffn.0.weight", "ffn.0.bias", "ffn.2.weight", "ffn.2.bias",
                 "norm2.weight", "norm2.bias"},
       .inputs = {random_array({2, 4, 6}, 1)},
       .error = [](const PostNormBlock& m) { m(Tensor(zeros_of(2, 3, 4))); },
       .error_text = "linear: x [2, 3, 4] needs a last extent of 6 for weight [6, 6] (in self_attn.W_q)"});
}

TEST_CASE("multi_head_from_scratch: with equal draws mote's MultiHeadAttention computes the same, dropout included") {
  for (const bool out_bias : {false, true}) {
    const Generator random(3), again(3);
    const MultiHeadAttention tutorial(8, 2, random, 0.2, out_bias);
    const mote::MultiHeadAttention own(8, 2, again, {.dropout = 0.2}, {.bias = false, .out_bias = out_bias});
    const Array query = random_array({2, 3, 8}, 1), memory = random_array({2, 5, 8}, 2);
    const Array numbers = array({2, 1, 1, 5}, {1, 1, 1, 1, 1, 1, 1, 0, 0, 0});
    for (const Mask& mask : {Mask(), padding_mask({5, 2}, 5)}) {
      const GeneratorState start = random.get_state();
      const auto [output, weights] = tutorial(query, memory, memory, mask);
      const AttentionOutput expected = own.with_weights(query, memory, memory, mask);
      CHECK(distance(output.to_vector(), Value(expected.output.array()).x) < rounding);
      CHECK(distance(weights.to_vector(), Value(expected.dropped_weights).x) < rounding);
      CHECK(random.get_state() == again.get_state());
      if (!mask.defined()) continue;
      random.set_state(start);
      CHECK(same_bits(tutorial(query, memory, memory, Tensor(numbers)).first.array(), output.array()));
    }
  }
}

TEST_CASE("multi_head_from_scratch: its helpers and its sizes") {
  const Generator random(1);
  const MultiHeadAttention mha(512, 8, random);
  const PostNormBlock block(8, 2, 16, random);
  CHECK((mha.dropout.p == 0.1 && block.dropout.p == 0.1 && block.self_attn.dropout.p == 0.1));
  const Tensor x = Init(random).normal({2, 10, 512}, 0, 1);
  const Tensor heads = mha.split_heads(x);
  CHECK(heads.shape() == Shape{2, 8, 10, 64});
  CHECK(same_bits(mha.combine_heads(heads).array(), x.array()));
  const NoGrad no_grad;
  CHECK(mha(x, x, x).first.shape() == Shape{2, 10, 512});
  REFUSES(MultiHeadAttention(10, 4, random));
}

TEST_CASE("multi_head_from_scratch: in evaluation mote's post-norm block computes the same") {
  PostNormBlock m(12, 3, 20, Generator(4), 0.3);
  mote::TransformerBlock own(12, 3, Generator(1),
                             {.dropout = 0.3,
                              .attention = {.causal = false},
                              .projections = {.bias = false},
                              .norm_order = NormOrder::post,
                              .n_inner = 20});
  // W_q, W_k, W_v (rows of one matrix), W_o, norm1, ffn, norm2; and norm1, attention, norm2, ffn
  const std::vector<Parameter> from = parameters(m), to = parameters(own);
  to[2].set(concat({from[0], from[1], from[2]}).array());
  for (const auto& [there, here] : {std::pair{3, 3}, {4, 0}, {5, 1}, {6, 6}, {7, 7}, {8, 8}, {9, 9}, {10, 4}, {11, 5}})
    to.at(std::size_t(here)).set(from.at(std::size_t(there)).value());
  m.eval();
  own.eval();
  const Array x = random_array({2, 5, 12}, 6);
  for (const Mask& mask : {Mask(), causal_mask(5)})
    CHECK(distance(m(x, mask).first.to_vector(), Value(own(x, mask).array()).x) < 10 * rounding);
}

/// One training step from `seed`, under the names of tests/vectors/tutorial_block.txt.
struct Case {
  const char* name;
  int seed;
  Index d_model, heads, d_ff;
  double p;
  Index B, N;
  bool causal, mkl;
};
std::map<std::string, Array> step(const Case& c) {
  const Generator random(c.seed);
  random.set_build({.mkl = c.mkl, .version = 113});
  PostNormBlock block(c.d_model, c.heads, c.d_ff, random, c.p);
  const Tensor x = Tensor(Init(random).normal({c.B, c.N, c.d_model}, 0, 1)).requires_grad_();
  const Tensor target = Init(random).normal({c.B, c.N, c.d_model}, 0, 1);
  SGD optimizer(all_parameters(block), {.lr = 0.5});
  const auto [output, attention] = c.causal ? block(x, tril(ones({c.N, c.N}))) : block(x);
  const Tensor loss = mse_loss(output, target) + mean(attention * attention);
  loss.backward();
  optimizer.step();
  const std::string name = std::string(c.name) + ".";
  std::map<std::string, Array> got{{name + "output", output.array()},
                                   {name + "attention", attention.array()},
                                   {name + "loss", loss.array()},
                                   {name + "grad.input", x.grad()}};
  for (const NamedParameter& p : named_parameters(block)) got[name + "after." + p.name] = p.parameter.value();
  got[name + "next"] = Init(random).uniform({3}, 0, 1);
  return got;
}

TEST_CASE(
    "multi_head_from_scratch: a training step of the block is PyTorch's, also with the masks of builds with MKL") {
  std::map<std::string, Array> got;
  for (const Case& c :
       {Case{"plain", 2024, 8, 2, 12, 0.1, 2, 5, false, false}, Case{"causal", 31, 12, 3, 10, 0.3, 3, 4, true, false},
        Case{"mkl", 99, 8, 4, 6, 0.5, 2, 6, false, true}, Case{"mkl_causal", 5, 6, 1, 10, 0.2, 1, 7, true, true}})
    got.merge(step(c));
  compare_all(VectorFile("tutorial_block.txt"), got,
              [](const Vector& v, const Array& a) { check_near(v, a, v.name.ends_with("next") ? 1e-8 : 1e-6); });
}

}  // namespace
}  // namespace mote::test::multi_head_from_scratch_test
