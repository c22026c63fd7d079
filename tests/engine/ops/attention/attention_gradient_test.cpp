// The attention op through check_op, and its gradients with dropout.
#include "tests/engine/ops/attention/masks_and_slopes.h"
#include "tests/support.h"

namespace mote::test::attention_gradient_test {
namespace {

std::vector<Array> inputs_of(const Shape& q, const Shape& k, const Shape& v) {
  return {random_array(q, 1, -1, 1), random_array(k, 2, -1, 1), random_array(v, 3)};
}

/// The formula, whose ops are tested on their own.
std::vector<double> plain(const std::vector<Value>& in, const AttentionOptions& o) {
  std::vector<Tensor> x;
  for (const Value& v : in) x.push_back(array(v.shape, v.x));
  return Value(plain_attention(x[0], x[1], x[2], o).array()).x;
}

void check(const std::vector<Array>& inputs, const AttentionOptions& o, const std::vector<Array>& empty = {}) {
  check_op(
      "attention", [&](In x) { return attention(x[0], x[1], x[2], o); },
      [&](const std::vector<Value>& x) { return plain(x, o); }, inputs,
      {.empty = empty,
       .error = [] { attention(zeros_of(2, 3), zeros_of(2, 4), zeros_of(2, 4)); },
       .error_text = "attention: q [2, 3] and k [2, 4] must have the same width, the last extent"});
}

TEST_CASE("attention against its formula") {
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

TEST_CASE("attention: gradients with dropout, alone and with what else decides who sees whom") {
  const Mask some = mask({{true, true, false, true}, {false, false, false, false}, {true, false, true, true}});
  const auto check_dropped = [](const AttentionOptions& o, Index groups) {
    const OpFunction f = [&](In x) {
      return attention(x[0], x[1], x[2], o, Generator(6));  // made anew, so that every call drops the same weights
    };
    const GradcheckResult right = gradcheck(f, inputs_of({1, 2, 3, 4}, {1, groups, 4, 4}, {1, groups, 4, 3}));
    CHECK_MESSAGE(right.ok, right.text);
    CHECK(right.without_gradient.empty());
  };
  check_dropped({.dropout = 0.5}, 2);
  check_dropped({.causal = true, .dropout = 0.5}, 1);
  check_dropped({.causal = true, .window = 2, .alibi = some_slopes(2), .dropout = 0.5}, 2);
  check_dropped({.mask = some, .dropout = 0.5}, 1);
  check_dropped({.causal = true, .mask = some, .window = 2, .alibi = some_slopes(2), .dropout = 0.5}, 1);
}

}  // namespace
}  // namespace mote::test::attention_gradient_test
