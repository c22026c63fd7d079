// Dropout: check_module in both modes, what it draws, edge probabilities.
#include "nn/dropout.h"

#include "tests/nn/oracles.h"
#include "tests/sentences.h"

namespace mote::test::dropout_test {
namespace {

TEST_CASE("Dropout") {
  for (const double p : {0.0, 0.4})
    check_module(
        "Dropout", [=](Generator& random) { return Dropout(p, random); },
        [](const Dropout& m, In x) { return m(x[0]); }, {.inputs = {random_array({4, 6}, 1)}});
  Generator random(1);
  for (const double p : {-0.1, 1.1, static_cast<double>(nan), static_cast<double>(inf)}) REFUSES(Dropout(p, random));
  REFUSES(Dropout(1.5, random));
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

}  // namespace
}  // namespace mote::test::dropout_test
