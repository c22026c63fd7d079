// What is here: the attention op as layers use it: against plain loops for many sizes, empty rows, large scores.
// What is not: MultiHeadAttention around it (attention_test.cpp).
// Read next: transformer_block_test.cpp.
#include "engine/ops/attention.h"
#include "engine/ops/ops.h"

#include "tests/nn/oracles.h"

namespace mote::test {
namespace {

/// q, k, v [2, H, T, D] as leaves.
struct Inputs {
  Tensor q, k, v;
  explicit Inputs(const Shape& s, double reach = 2)
      : q(random_array(s, 1, -reach, reach)), k(random_array(s, 2, -reach, reach)), v(random_array(s, 3)) {
    for (Tensor* t : {&q, &k, &v}) t->requires_grad_();
  }
};

/// The formula in ops that are tested on their own.
Tensor plain_attention(const Inputs& in, bool is_causal) {
  const Index T = in.q.size(-2);
  const Tensor scores = matmul(in.q, transpose(in.k, -2, -1)) * (real(1) / std::sqrt(static_cast<real>(in.q.size(-1))));
  return matmul(is_causal ? masked_softmax(scores, causal_mask(T)) : softmax(scores, -1), in.v);
}

double gradient_distance(const Tensor& a, const Tensor& b) {
  const Value expected(b.grad());
  return distance(a.grad().to_vector(), expected.x);
}

TEST_CASE("attention equals plain loops for every length, number of heads and head size") {
  const double tolerance = f64 ? 1e-6 : 1e-5;
  for (const Index T : {1, 2, 3, 16, 17, 64, 65})
    for (const Index H : {1, 2, 3})
      for (const Index D : {1, 8, 33})
        for (const bool is_causal : {false, true}) {
          const Shape shape{2, H, T, D};
          const Inputs in(shape), again(shape);
          const Tensor y = attention(in.q, in.k, in.v, {.causal = is_causal});
          const Row expected = attention_oracle(Value(in.q.array()).x, Value(in.k.array()).x, Value(in.v.array()).x, 2,
                                                H, T, D, is_causal ? causal() : May());
          CHECK_MESSAGE(distance(y.to_vector(), expected) < tolerance, Shape::text(shape));
          const Array dy = random_array(shape, 9);
          y.backward(dy);
          plain_attention(again, is_causal).backward(dy);
          CHECK_MESSAGE(gradient_distance(in.q, again.q) < tolerance, Shape::text(shape));
          CHECK_MESSAGE(gradient_distance(in.k, again.k) < tolerance, Shape::text(shape));
          CHECK_MESSAGE(gradient_distance(in.v, again.v) < tolerance, Shape::text(shape));
        }
}

TEST_CASE("attention: a query that may attend to nothing gives zeros and zero gradients, and no NaN anywhere") {
  const Shape shape{2, 1, 4, 3};
  const Inputs in(shape);
  Mask some({4, 4}, std::vector<std::uint8_t>(16, 1));
  for (Index j = 0; j < 4; ++j) some.mutate()[2 * 4 + j] = 0;
  for (const bool none : {false, true}) {
    const Mask keep = none ? Mask({4, 4}) & ~Mask({4, 4}, std::vector<std::uint8_t>(16, 1)) : some;
    Array weights;
    for (const Tensor* t : {&in.q, &in.k, &in.v}) Tensor(*t).zero_grad();
    const Tensor y = attention(in.q, in.k, in.v, {.mask = keep, .weights = &weights});
    y.backward(random_array(shape, 9));
    for (Index b = 0; b < 2; ++b)
      for (Index i = 0; i < 4; ++i)
        for (Index d = 0; d < 3; ++d) {
          if (!none && i != 2) continue;
          CHECK(y.array().at({b, 0, i, d}) == 0);
          CHECK(in.q.grad().at({b, 0, i, d}) == 0);
          CHECK(weights.at({b, 0, i, d}) == 0);
          if (none) CHECK(in.k.grad().at({b, 0, i, d}) == 0);
          if (none) CHECK(in.v.grad().at({b, 0, i, d}) == 0);
        }
    for (const Tensor* t : {&in.q, &in.k, &in.v})
      for (const real g : t->grad().to_vector()) CHECK(std::isfinite(g));
  }
}

TEST_CASE("attention: scores of hundreds do not overflow") {
  const Shape shape{1, 1, 5, 64};
  Tensor q = Tensor(Array::full(shape, 10)), k = Tensor(Array::full(shape, 10)), v = random_array(shape, 3);
  const Array y = attention(q, k, v).array();  // scores 64 * 100 / 8 = 800, all alike: the mean of v
  const Row expected = attention_oracle(Value(q.array()).x, Value(k.array()).x, Value(v.array()).x, 1, 1, 5, 64, May());
  CHECK(distance(y.to_vector(), expected) < (f64 ? 1e-14 : 1e-6));
  const Inputs in({1, 2, 9, 64}, 10);
  const Row apart =
      attention_oracle(Value(in.q.array()).x, Value(in.k.array()).x, Value(in.v.array()).x, 1, 2, 9, 64, May());
  CHECK(distance(attention(in.q, in.k, in.v).to_vector(), apart) < (f64 ? 1e-12 : 1e-4));
}

}  // namespace
}  // namespace mote::test
