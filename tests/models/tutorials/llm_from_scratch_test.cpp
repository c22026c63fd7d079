// The class of "LLM from scratch 1.3": check_module, mote's layer with the same weights, what it prints, the gradient
// through its weights.
#include "models/tutorials/llm_from_scratch.h"

#include <iostream>
#include <sstream>

#include "engine/ops/masks.h"
#include "nn/self_attention.h"
#include "tests/models/tutorials/cases.h"
#include "tests/sentences.h"

namespace mote::test::llm_from_scratch_test {
namespace {

using tutorials::llm_from_scratch::MultiHeadSelfAttention;

TEST_CASE("llm_from_scratch: MultiHeadSelfAttention") {
  for (const double p : {0.0, 0.4})
    check_module(
        "MultiHeadSelfAttention", [p](Generator& random) { return MultiHeadSelfAttention(3, 12, random, p, false); },
        [](const MultiHeadSelfAttention& m, In x) { return both(m(x[0])); },
        {.names = {"qkv.weight", "proj.weight"},
         .inputs = {random_array({2, 4, 12}, 1)},
         .error = [](const MultiHeadSelfAttention& m) { m(Tensor(zeros_of(2, 4, 8))); },
         .error_text = "MultiHeadSelfAttention: x [2, 4, 8] must be [B, T, 12] (in MultiHeadSelfAttention)"});
}

TEST_CASE("llm_from_scratch: with equal weights SelfAttention computes the same, with and without a mask") {
  const MultiHeadSelfAttention tutorial(3, 12, Generator(1), 0.0, false);
  const Array x = random_array({2, 5, 12}, 2);
  for (const bool causal : {false, true}) {
    const SelfAttention own(12, 3, Generator(2), {.causal = causal}, {.bias = false});
    for (std::size_t i = 0; i < 2; ++i) parameters(own)[i].set(parameters(tutorial)[i].value());
    const AttentionWeights seen;
    const Tensor y = own(x);
    const auto [out, weights] = causal ? tutorial(x, tutorials::llm_from_scratch::causal_mask(5)) : tutorial(x);
    CHECK(distance(out.to_vector(), Value(y.array()).x) < (f64 ? 1e-14 : 1e-6));
    CHECK(distance(weights.to_vector(), Value(seen.maps().back().weights).x) < (f64 ? 1e-14 : 1e-6));
  }
}

TEST_CASE("llm_from_scratch: only a mask that says that it blocks is one; a row all blocked is NaN, as in PyTorch") {
  static_assert(!detail::Takes<MultiHeadSelfAttention, const Tensor&, Mask>);  // mote's causal_mask: the opposite
  const MultiHeadSelfAttention tutorial(2, 4, Generator(1), 0.0, false);
  const Mask blocked = mask({{false, true}, {true, true}});
  const auto [out, weights] = tutorial(random_array({1, 2, 4}, 2), tutorials::llm_from_scratch::Blocked{blocked});
  CHECK(same_bits(weights.array().select(2, 0).contiguous(), array({1, 2, 2}, {1, 0, 1, 0})));
  CHECK((!std::isnan(out.array().at({0, 0, 0})) && std::isnan(out.array().at({0, 1, 0}))));
  CHECK(std::isnan(weights.array().at({0, 1, 1, 0})));
}

TEST_CASE("llm_from_scratch: dropout acts on the weights, which are returned as they were used") {
  const Generator random(5), again(5);
  const MultiHeadSelfAttention tutorial(2, 8, random, 0.5, false);
  const SelfAttention own(8, 2, again, {.causal = false, .dropout = 0.5}, {.bias = false, .resid_dropout = 0});
  const Array x = random_array({2, 6, 8}, 3);
  const AttentionWeights seen;
  const Tensor y = own(x);
  const auto [out, weights] = tutorial(x);
  CHECK(distance(out.to_vector(), Value(y.array()).x) < (f64 ? 1e-14 : 1e-6));
  CHECK(distance(weights.to_vector(), Value(seen.maps().back().dropped).x) < (f64 ? 1e-14 : 1e-6));
  CHECK(min(weights).item() == 0);
  CHECK(random.get_state() == again.get_state());
}

TEST_CASE("llm_from_scratch: prints the shapes of each pass, on std::cout unless told otherwise") {
  const char* const lines =
      "qkv view: torch.Size([1, 5, 3, 3, 4])\n"
      "q: torch.Size([1, 3, 5, 4]) k: torch.Size([1, 3, 5, 4]) v: torch.Size([1, 3, 5, 4])\n"
      "weights: torch.Size([1, 3, 5, 5]) ctx: torch.Size([1, 3, 5, 4])\n"
      "out: torch.Size([1, 5, 12])\n";
  MultiHeadSelfAttention m(3, 12, Generator(1));  // on by default
  std::ostringstream screen, elsewhere;
  const Array x = random_array({1, 5, 12}, 2);
  std::streambuf* const before = std::cout.rdbuf(screen.rdbuf());
  m(x);
  m.trace_to = &elsewhere;
  m(x);
  m.trace_shapes = false;
  m(x);
  std::cout.rdbuf(before);
  CHECK(screen.str() == lines);
  CHECK(elsewhere.str() == lines);
}

TEST_CASE("llm_from_scratch: what the constructor refuses") {
  REFUSES(MultiHeadSelfAttention(5, 12, Generator(1)));
  REFUSES(MultiHeadSelfAttention(0, 12, Generator(1)));
}

}  // namespace
}  // namespace mote::test::llm_from_scratch_test
