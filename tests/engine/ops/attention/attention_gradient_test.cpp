// The attention op through check_op, its gradients with dropout and through rotary, the zeros of what is not seen.
#include "engine/ops/rotary.h"
#include "tests/engine/ops/attention/naive_attention.h"
#include "tests/support.h"

namespace mote::test::attention_gradient_test {
namespace {

std::vector<Array> inputs_of(const Shape& q, const Shape& k, const Shape& v) {
  return {random_array(q, 1, -1, 1), random_array(k, 2, -1, 1), random_array(v, 3)};
}

void check(const std::vector<Array>& inputs, const AttentionOptions& o, const std::vector<Array>& empty = {}) {
  check_op(
      "attention", [&](In x) { return attention(x[0], x[1], x[2], o); },
      [&](const std::vector<Value>& x) { return naive_attention(x, o); }, inputs,
      {.empty = empty,
       .error = [] { attention(zeros_of(2, 3), zeros_of(2, 4), zeros_of(2, 4)); },
       .error_text = "attention: q [2, 3] and k [2, 4] differ in their last extent"});
}

TEST_CASE("attention against a formula in double") {
  const std::vector<Array> square = inputs_of({2, 2, 4, 3}, {2, 2, 4, 3}, {2, 2, 4, 3}),
                           grouped = inputs_of({1, 6, 3, 2}, {1, 2, 5, 2}, {1, 2, 5, 3}),
                           multi_query = inputs_of({2, 3, 2, 3}, {2, 1, 4, 3}, {2, 1, 4, 1}),
                           no_queries = inputs_of({2, 2, 0, 3}, {2, 2, 4, 3}, {2, 2, 4, 3});
  check(square, {});
  check(square, {.causal = true}, no_queries);
  check(square, {.causal = true,
                 .mask = mask({{true, true, true, true},
                               {false, true, true, true},
                               {false, false, false, true},
                               {true, false, true, false}})});
  check(square, {.scale = -0.7, .alibi = some_slopes(2)}, no_queries);
  check(grouped, {.causal = true, .window = 2, .alibi = some_slopes(6)});
  check(grouped, {.mask = random_mask({6, 3, 5}, 2)});
  check(multi_query, {.causal = true, .mask = random_mask({2, 4}, 3)});
}

/// Angles for positions start, start + 1, ...: any will do for a gradient.
Tensor turned(const Tensor& x, Index start) {
  const Index length = x.size(-2), half = x.size(-1) / 2;
  Array cosines = Array::empty({length, half}), sines = Array::empty({length, half});
  for (Index i = 0; i < length * half; ++i) {
    const double angle = static_cast<double>(start + i / half) / static_cast<double>(1 + i % half);
    cosines.mutate()[i] = static_cast<real>(std::cos(angle)), sines.mutate()[i] = static_cast<real>(std::sin(angle));
  }
  return rotary(x, cosines, sines);
}

TEST_CASE("attention: gradients with dropout, alone and with what else decides who sees whom, and through rotary") {
  const Mask some = mask({{true, true, false, true}, {false, false, false, false}, {true, false, true, true}});
  const auto check_gradient = [](const AttentionOptions& o, Index groups, bool turn) {
    const OpFunction f = [&](In x) {
      const Generator random(6);  // made anew, so that every call drops the same weights
      const Tensor q = turn ? turned(x[0], 1) : x[0], k = turn ? turned(x[1], 0) : x[1];
      return attention(q, k, x[2], o, random);
    };
    const GradcheckResult right = gradcheck(f, inputs_of({1, 2, 3, 4}, {1, groups, 4, 4}, {1, groups, 4, 3}));
    CHECK_MESSAGE(right.ok, right.text);
    CHECK(right.without_gradient.empty());
  };
  check_gradient({.dropout = 0.5}, 2, false);
  check_gradient({.causal = true, .dropout = 0.5}, 1, false);
  check_gradient({.causal = true, .window = 2, .alibi = some_slopes(2), .dropout = 0.5}, 2, false);
  check_gradient({.mask = some, .dropout = 0.5}, 1, false);
  check_gradient({.causal = true, .mask = some, .window = 2, .alibi = some_slopes(2), .dropout = 0.5}, 1, false);
  check_gradient({}, 2, true);
  check_gradient({.causal = true, .mask = some, .dropout = 0.5}, 1, true);
}

}  // namespace
}  // namespace mote::test::attention_gradient_test
