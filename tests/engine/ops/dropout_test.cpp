// Dropout: the mask, its edges, its share, its backward.
#include "engine/ops/dropout.h"

#include "engine/ops/arithmetic.h"
#include "engine/ops/create.h"
#include "tests/sentences.h"
#include "tests/support.h"

namespace mote::test::dropout_test {
namespace {

Tensor dropped(const Tensor& x, double p) {
  Generator random(7);
  return dropout(x, p, random);
}

TEST_CASE("dropout") {
  const Oracle oracle = [](const std::vector<Value>& in) {
    const Generator random(7);
    std::vector<double> y;
    for (const double x : in[0].x) y.push_back(random.uniform_double() < 0.7 ? x / 0.7 : 0);
    return y;
  };
  check_op("dropout", [](In x) { return dropped(x[0], 0.3); }, oracle, {random_array({5, 13}, 1)},
           {.error = [] { dropped(zeros({2}), 1.5); }, .error_text = "dropout: p = 1.5 is not a probability"});
  check_op("dropout", [](In x) { return dropped(x[0], 1); }, each([](double) { return 0.0; }),
           {random_array({5, 13}, 1)},
           {.constant = true,
            .error = [] { dropped(zeros({2}), nan); },
            .error_text = "dropout: p = nan is not a probability"});
  REFUSES(dropped(zeros({2}), -0.1));
}

TEST_CASE("dropout: p = 0 is the identity and p = 1 gives zeros; neither draws") {
  Generator random(7);
  const GeneratorState before = random.get_state();
  const Tensor x = Tensor(array({4}, {1, nan, inf, -3})).requires_grad_();
  CHECK(dropout(x, 0, random).node() == x.node());
  CHECK(same_bits(dropout(x, 0, random).array(), x.array()));
  CHECK(random.get_state() == before);
  const Run none([&](In t) { return dropout(t[0], 1, random); }, {array({4}, {1, 2, 5, -3})});
  CHECK(none.y.to_vector() == std::vector<real>(4, real(0)));
  CHECK(none.dx[0].to_vector() == std::vector<real>(4, real(0)));
  CHECK(random.get_state() == before);
}

TEST_CASE("dropout: of a million numbers each is kept by its own draw, and the gradient has the mask of the value") {
  constexpr Index n = 1000000;
  const Array x = random_array({n}, 1, 0.5, 1);
  const Run r([](In t) { return dropped(t[0], 0.3); }, {x}, Array::full({n}, 1));
  const Generator random(7);
  Index wrong = 0;
  for (Index i = 0; i < n; ++i) {
    const real scale = random.uniform_double() < 0.7 ? real(1) / static_cast<real>(0.7) : real(0);
    wrong += r.y.data()[i] != x.data()[i] * scale || r.dx[0].data()[i] != scale;
  }
  CHECK(wrong == 0);
}

TEST_CASE("dropout: draws follow one another, and used twice in one graph each use has its own mask") {
  Generator random(7);
  const Tensor x = Tensor(Array::full({64}, 1)).requires_grad_();
  const Tensor a = dropout(x, 0.5, random);
  const Tensor b = dropout(x, 0.5, random);
  CHECK_FALSE(same_bits(a.array(), b.array()));
  CHECK(same_bits(a.array(), dropped(x, 0.5).array()));
  (a + b).backward(Array::full({64}, 1));
  CHECK(same_bits(x.grad(), a.array() + b.array()));  // x is 1 everywhere
}

}  // namespace
}  // namespace mote::test::dropout_test
