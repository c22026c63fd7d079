// What is here: random tensors: rand, randn, randint, ... draw what their generator draws; multinomial's errors.
// What is not: PyTorch's numbers (random_vectors_test.cpp).
// Read next: ../gradcheck_test.cpp.
#include "engine/ops/sample.h"

#include <doctest/doctest.h>

#include "tests/tools.h"

namespace mote::test {
namespace {

TEST_CASE("rand, randn, randint draw from the generator they are given, in order") {
  Generator random(3), same(3);
  const Tensor a = rand({5, 7}, random);
  const Tensor b = randn({40}, random);
  const Tokens c = randint(-2, 9, {3, 4}, random);
  std::vector<real> u(35), n(40);
  std::vector<Index> k(12);
  same.uniform(std::span<real>(u));
  same.normal(std::span<real>(n));
  same.randint(k, -2, 9);
  CHECK(a.to_vector() == u);
  CHECK(b.to_vector() == n);
  CHECK(c.to_vector() == k);
  CHECK(random.get_state() == same.get_state());
  CHECK(rand({0}, random).shape() == Shape{0});
}

}  // namespace
}  // namespace mote::test
