// The attention op for many lengths, numbers of heads and head sizes; large scores.
#include "tests/engine/ops/plain_attention.h"

namespace mote::test::attention_sizes_test {
namespace {

/// Against loops in double and, gradients too, against the plain formula in ops, whose every bit it must have.
void check(const std::vector<Array>& inputs, const AttentionOptions& o, double tolerance) {
  const Run blocks([&](In x) { return attention(x[0], x[1], x[2], o); }, inputs);
  const Run plain([&](In x) { return plain_attention(x[0], x[1], x[2], o); }, inputs);
  const double error = distance(blocks.y.to_vector(), naive_attention({inputs.begin(), inputs.end()}, o));
  CHECK_MESSAGE(error < tolerance, Shape::text(inputs[0].shape()), ", causal ", o.causal.value_or(false), ": ", error);
  CHECK_MESSAGE(blocks == plain, Shape::text(inputs[0].shape()), ", causal ", o.causal.value_or(false));
}

TEST_CASE("attention equals plain loops for every length, number of heads and head size") {
  for (const Index T : {1, 2, 3, 16, 17, 64, 65})
    for (const Index H : {1, 2, 3})
      for (const Index D : {1, 8, 33})
        for (const bool causal : {false, true}) {
          const Shape shape{2, H, T, D};
          check({random_array(shape, 1), random_array(shape, 2), random_array(shape, 3)}, {.causal = causal},
                f64 ? 1e-14 : 1e-5);
        }
}

TEST_CASE("attention: scores of hundreds do not overflow") {
  const Shape alike{1, 1, 5, 64}, apart{1, 2, 9, 64};
  // scores 64 * 100 / 8 = 800, all alike: the mean of the values
  check({Array::full(alike, 10), Array::full(alike, 10), random_array(alike, 3)}, {}, f64 ? 1e-14 : 1e-6);
  check({random_array(apart, 1, -10, 10), random_array(apart, 2, -10, 10), random_array(apart, 3)}, {},
        f64 ? 1e-13 : 1e-5);
}

}  // namespace
}  // namespace mote::test::attention_sizes_test
