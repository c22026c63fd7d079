// Dropout: check_module in both modes, what it draws, shares and scales, edge probabilities.
#include "nn/dropout.h"

#include "engine/ops/arithmetic.h"
#include "tests/nn/oracles.h"

namespace mote::test::dropout_test {
namespace {

TEST_CASE("Dropout") {
  for (const double p : {0.0, 0.4})
    check_module(
        "Dropout", [=](Generator& random) { return Dropout(p, random); },
        [](const Dropout& m, In x) { return m(x[0]); }, {.inputs = {random_array({4, 6}, 1)}});
  Generator random(1);
  for (const double p : {-0.1, 1.1, static_cast<double>(nan), static_cast<double>(inf)})
    CHECK(error_of([&] { Dropout(p, random); }).find("is not a probability") != std::string::npos);
  CHECK(error_of([&] { Dropout(1.5, random); }) == "Dropout: p = 1.5 is not a probability");
}

TEST_CASE("Dropout in evaluation, and with p = 0: the input's bits, and nothing drawn") {
  Generator random(1);
  Dropout half(0.5, random);
  const Dropout none(0, random);
  const Array x = random_array({50}, 1);
  half.eval();
  const GeneratorState before = random.get_state();
  CHECK(same_bits(half(x).array(), x));
  CHECK(same_bits(none(x).array(), x));
  CHECK(random.get_state() == before);
  half.train();
  CHECK(!same_bits(half(x).array(), x));
  CHECK(!(random.get_state() == before));
}

TEST_CASE("Dropout with p = 1: zeros and a zero gradient") {
  Generator random(1);
  const Dropout m(1, random);
  Tensor x = Tensor(random_array({9}, 1)).requires_grad_();
  const Tensor y = m(x);
  y.backward(Array::full({9}, 1));
  for (const real v : y.to_vector()) CHECK(v == 0);
  for (const real v : x.grad().to_vector()) CHECK(v == 0);
}

TEST_CASE("Dropout keeps its share, its mean and x / (1 - p) exactly; backward has the mask of forward") {
  Generator random(9);
  const double p = 0.3;
  const Dropout m(p, random);
  const Index n = 1000000;
  Tensor x = Tensor(Array::full({n}, 1)).requires_grad_();
  const Tensor y = m(x);
  y.backward(Array::full({n}, 1));
  const std::vector<real> values = y.to_vector(), gradients = x.grad().to_vector();
  const real scale = real(1) / static_cast<real>(1 - p);
  CHECK(values == gradients);
  const double kept = static_cast<double>(std::count(values.begin(), values.end(), scale));
  CHECK(n - std::count(values.begin(), values.end(), real(0)) == static_cast<Index>(kept));
  const double share = kept / static_cast<double>(n), sigma = std::sqrt(p * (1 - p) / static_cast<double>(n));
  CHECK(std::abs(share - (1 - p)) < 5 * sigma);
  CHECK(std::abs(share * static_cast<double>(scale) - 1) < 5 * sigma / (1 - p));
}

TEST_CASE("Dropout twice in one graph: two masks, each its own gradient; a stream shared, a mask per draw") {
  Generator random(4);
  const Dropout a(0.5, random), b(0.5, random);
  Tensor x = Tensor(Array::full({40}, 1)).requires_grad_();
  const Tensor first = a(x);
  const Tensor second = b(x);
  CHECK(!same_bits(first.array(), second.array()));
  (first + second).backward(Array::full({40}, 1));
  CHECK(same_bits(x.grad(), first.array() + second.array()));
  for (const int n : {1, 8}) {  // the same seed: the same masks, for every number of threads, whichever layer asks
    set_threads(n);
    random.manual_seed(4);
    CHECK(same_bits(b(x).array(), first.array()));
    CHECK(same_bits(a(x).array(), second.array()));
  }
  set_threads(1);
}

}  // namespace
}  // namespace mote::test::dropout_test
