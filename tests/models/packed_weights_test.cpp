// PackedWeights: the bits of a model without them, weights that change, scopes, memory.
#include "models/packed_weights.h"

#include <thread>

#include "tests/models/gpt_tools.h"

namespace mote::test::packed_weights_test {
namespace {

TEST_CASE("PackedWeights: a Linear of a few rows gives the bits that it gives without, for every table") {
  const NoGrad no_grad;
  for (const Shape& nk : {Shape{1, 1}, {27, 16}, {64, 5}, {65, 64}, {130, 511}, {200, 513}, {33, 1100}, {700, 300}})
    for (const Index m : {1, 2, 3, 4, 5, 7, 8, 9})
      for (const bool bias : {true, false}) {
        const Linear layer(nk[1], nk[0], Generator(2), bias);
        const Tensor x(random_array({m, nk[1]}, 1));
        const Array expected = layer(x).array();
        on_all_hardware({1, 3}, [&] {
          INFO(m << " x " << nk);
          const PackedWeights packed(layer, m);
          for (int again = 0; again < 2; ++again) CHECK(same_bits(layer(x).array(), expected));
        });
      }
}

TEST_CASE("PackedWeights: inputs of any rank and strides, and other products beside them") {
  const NoGrad no_grad;
  const Linear layer(24, 40, Generator(1));
  const Array turned = random_array({24, 6}, 4).transpose(0, 1), wide = random_array({5, 48}, 5);
  const std::vector<Array> inputs{random_array({2, 3, 24}, 3), turned, wide.slice(1, 3, 27), Array::zeros({0, 24})};
  const Tensor part = slice(layer.weight, 0, 5, 25);
  std::vector<Array> expected;
  for (const Array& x : inputs) {
    expected.push_back(layer(Tensor(x)).array());
    expected.push_back(linear(Tensor(x), part).array());
    expected.push_back(matmul(Tensor(x), transpose(layer.weight, 0, 1)).array());
  }
  const PackedWeights packed(layer);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor x(inputs[i]);
    CHECK(same_bits(layer(x).array(), expected[3 * i]));
    CHECK(same_bits(linear(x, part).array(), expected[3 * i + 1]));
    CHECK(same_bits(matmul(x, transpose(layer.weight, 0, 1)).array(), expected[3 * i + 2]));
  }
}

TEST_CASE("PackedWeights: a weight that changed is never read, and refresh() packs it anew in the same memory") {
  const NoGrad no_grad;
  const Linear layer(32, 96, Generator(1)), same(32, 96, Generator(1));
  const Tensor x(random_array({2, 32}, 1));
  PackedWeights packed(layer);
  CHECK(!packed.refresh());
  const Index live = memory_stats().live_bytes;
  for (int i = 0; i < 20; ++i) {
    for (const Linear* l : {&layer, &same})
      i % 2 ? void(l->weight.mutate()[i] = real(i)) : l->weight.set(random_array({96, 32}, 10 + std::uint64_t(i)));
    CHECK(same_bits(layer(x).array(), matmul(x, transpose(same.weight, 0, 1)).array() + same.bias.value()));
    packed.compared = 5;
    CHECK(packed.refresh());
    CHECK(packed.compared == 0);
    CHECK(same_bits(layer(x).array(), matmul(x, transpose(same.weight, 0, 1)).array() + same.bias.value()));
  }
  CHECK(memory_stats().live_bytes <= live + 2 * 96 * 32 * static_cast<Index>(sizeof(real)));
}

TEST_CASE("PackedWeights: of its model and on its thread; many rows need no copies, and its end frees them") {
  const Linear layer(64, 64, Generator(1)), other(64, 64, Generator(2));
  const Index before = memory_stats().live_bytes;
  {
    const PackedWeights packed(layer);
    CHECK(memory_stats().live_bytes > before);
    CHECK(PackedWeights::open(layer) == &packed);
    CHECK(PackedWeights::open(other) == nullptr);
    {
      const PackedWeights inner(other);
      CHECK(PackedWeights::open(other) == &inner);
    }
    CHECK(PackedWeights::open(layer) == &packed);
    std::thread([&] { CHECK(PackedWeights::open(layer) == nullptr); }).join();
  }
  CHECK(PackedWeights::open(layer) == nullptr);
  CHECK(memory_stats().live_bytes == before);
  const PackedWeights many(layer, 100);
  CHECK(memory_stats().live_bytes == before);
}

}  // namespace
}  // namespace mote::test::packed_weights_test
