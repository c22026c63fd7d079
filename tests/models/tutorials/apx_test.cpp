// The class of ApX Machine Learning's page: check_module, mote's layer with the same weights, the mean of a blocked
// row, the page's example.
#include "models/tutorials/apx.h"

#include "engine/ops/masks.h"
#include "nn/init.h"
#include "nn/multi_head_attention.h"
#include "tests/models/tutorials/cases.h"
#include "tests/sentences.h"

namespace mote::test::apx_test {
namespace {

using tutorials::apx::MultiHeadAttention;

TEST_CASE("apx: MultiHeadAttention") {
  // Without biases in front of the scores a key's bias has no gradient to check: the keys' bias is frozen.
  check_attention_of_three(
      [](Generator& random) {
        MultiHeadAttention m(8, 2, random);
        m.W_k.bias = {};
        return m;
      },
      [](const MultiHeadAttention& m, In x) { return m(x[0], x[1], x[2]); },
      {"W_q.weight", "W_q.bias", "W_k.weight", "W_v.weight", "W_v.bias", "W_o.weight", "W_o.bias"});
}

TEST_CASE("apx: with equal draws mote's MultiHeadAttention computes the same, for any mask that leaves a key") {
  const Generator random(3), again(3);
  const MultiHeadAttention tutorial(8, 2, random);
  const mote::MultiHeadAttention own(8, 2, again);
  CHECK(random.get_state() == again.get_state());
  const Array query = random_array({2, 3, 8}, 1), memory = random_array({2, 5, 8}, 2);
  const Mask padded = padding_mask({5, 2}, 5);
  const Array numbers = array({2, 1, 1, 5}, {1, 1, 1, 1, 1, 1, 1, 0, 0, 0});  // the same: 0 blocks
  for (const Mask& mask : {Mask(), padded, causal_mask(3, 5)}) {
    const Value expected(own(query, memory, memory, mask).array());
    CHECK(distance(tutorial(query, memory, memory, mask).to_vector(), expected.x) < (f64 ? 1e-14 : 1e-6));
  }
  CHECK(same_bits(tutorial(query, memory, memory, Tensor(numbers)).array(),
                  tutorial(query, memory, memory, padded).array()));
}

TEST_CASE("apx: a query that may attend to nothing gets the mean of all values, where mote's layer has zeros") {
  const MultiHeadAttention m(8, 2, Generator(3));
  const Array q = random_array({1, 2, 3, 4}, 1), k = random_array({1, 2, 5, 4}, 2), v = random_array({1, 2, 5, 4}, 3);
  const Tensor nowhere = m.scaled_dot_product_attention(q, k, v, Mask({3, 5}));
  const Array average = expand(mean(Tensor(v), {2}, true), {1, 2, 3, 4}).array();
  CHECK(distance(nowhere.to_vector(), Value(average).x) < (f64 ? 1e-15 : 1e-6));
  const Tensor own = attention(q, k, v, {.mask = Mask({3, 5})});
  CHECK(max(own).item() == 0);
  CHECK(min(own).item() == 0);
}

TEST_CASE("apx: the page's example, 8 heads of width 512 on [32, 100, 512], 1,050,624 parameters") {
  const Generator random(0);
  const MultiHeadAttention multihead_attn(512, 8, random);
  const Tensor input_tensor = Init(random).normal({32, 100, 512}, 0, 1);
  const NoGrad no_grad;
  CHECK(multihead_attn(input_tensor, input_tensor, input_tensor).shape() == Shape{32, 100, 512});
  CHECK(parameter_count(multihead_attn) == 1'050'624);
  CHECK(multihead_attn.d_k == 64);
}

TEST_CASE("apx: what the constructor refuses") { REFUSES(MultiHeadAttention(512, 7, Generator(1))); }

}  // namespace
}  // namespace mote::test::apx_test
