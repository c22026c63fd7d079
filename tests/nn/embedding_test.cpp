// Embedding: check_module, PyTorch's initial numbers with and without padding_idx.
#include "nn/embedding.h"

#include "engine/ops/arithmetic.h"
#include "tests/nn/oracles.h"

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

TEST_CASE("Embedding draws PyTorch's numbers, fewer than 16 and more") {
  // torch.manual_seed(123); m = nn.Embedding(5, 3); m.weight; torch.rand(1)
  Generator random(123);
  const Embedding few(5, 3, random);
  const std::vector<float> weight{-0.111467116f, 0.120362945f,  -0.369634509f, -0.240417972f, -1.19692433f,
                                  0.20926936f,   -0.972355008f, -0.755045474f, 0.323902756f,  -0.108522631f,
                                  0.210331157f,  -0.390842825f, 0.234973416f,  0.665260434f,  0.352820754f};
  check_float32(few.weight.value(), weight);
  CHECK(random.uniform_float() == 0.717883527f);
  // torch.manual_seed(123); m = nn.Embedding(6, 4); m.weight; torch.rand(1)
  random.manual_seed(123);
  const Embedding many(6, 4, random);
  check_float32(many.weight.value(),
                {0.337370187f,  -0.177777216f, -0.303527594f, -0.588011861f, 0.348605186f,  0.660340965f,
                 -0.219637617f, -0.379169822f, -0.160563782f, -0.401488006f, 0.69572413f,   -1.80605268f,
                 1.89596736f,   -0.175040901f, 1.36890817f,   -1.60327017f,  -0.784853339f, -1.40957248f,
                 -0.407626867f, 0.795326114f,  0.998542488f,  0.221249357f,  1.8318938f,    -0.337838799f});
  CHECK(random.uniform_float() == 0.406646252f);
}

TEST_CASE("Embedding with padding_idx: that row is drawn, then zero, and never gets a gradient") {
  // torch.manual_seed(123); m = nn.Embedding(5, 3, padding_idx=1); m.weight; torch.rand(1)
  Generator random(123);
  const Embedding m(5, 3, random, 1);
  check_float32(m.weight.value(),
                {-0.111467116f, 0.120362945f, -0.369634509f, 0, 0, 0, -0.972355008f, -0.755045474f, 0.323902756f,
                 -0.108522631f, 0.210331157f, -0.390842825f, 0.234973416f, 0.665260434f, 0.352820754f});
  CHECK(random.uniform_float() == 0.717883527f);  // as many draws as without padding
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
  CHECK(error_of([&] { Embedding(5, 3, random, -6); }) == "Embedding: padding_idx -6 is out of range for V = 5");
  CHECK(error_of([&] { Embedding(5, 3, random, 5); }) == "Embedding: padding_idx 5 is out of range for V = 5");
}

}  // namespace
}  // namespace mote::test::embedding_test
