// Embedding: check_module, padding_idx. Its initial numbers: init_vectors_test.
#include "nn/embedding.h"

#include "engine/ops/arithmetic.h"
#include "tests/nn/oracles.h"
#include "tests/sentences.h"

namespace mote::test::embedding_test {
namespace {

TEST_CASE("Embedding") {
  const IntArray ids = ints({{1, 0, 2}, {2, 2, 1}});
  check_module(
      "Embedding", [](Generator& random) { return Embedding(3, 4, random); },
      [&](const Embedding& m, In) { return m(ids); },
      {.names = {"weight"},
       .oracle =
           [&](const Weights& w, const std::vector<Value>&) {
             Row y;
             for (const Index id : ids.values())
               for (Index c = 0; c < 4; ++c) y.push_back(w.at("weight").x[at(id * 4 + c)]);
             return y;
           },
       .error = [](const Embedding& m) { m(ints({3})); },
       .error_text = "embedding: id 3 is out of range for V = 3 (in Embedding)"});
}

TEST_CASE("Embedding with padding_idx: that row is zero and never gets a gradient") {
  Generator random(123);
  const Embedding m(5, 3, random, 1);
  const Tensor y = m(ints({0, 1, 1, 4}));
  CHECK(same_bits(y.array().select(0, 1), Array::zeros({3})));
  y.backward(Array::full({4, 3}, 1));
  CHECK(m.weight.grad().to_vector() == std::vector<real>{1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1});
  const Embedding copy = m.clone();
  CHECK(copy.padding_idx == 1);
  const Embedding last(5, 3, Generator(123), -1);  // as in PyTorch, from the end
  CHECK(last.padding_idx == 4);
  CHECK(same_bits(last.weight.value().select(0, 4), Array::zeros({3})));
  CHECK(!Embedding(5, 3, random).padding_idx);
  REFUSES(Embedding(5, 3, random, -6));
  REFUSES(Embedding(5, 3, random, 5));
}

}  // namespace
}  // namespace mote::test::embedding_test
