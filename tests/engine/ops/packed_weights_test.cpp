// PackedWeights: linear() in the bits it has without, weights that change, scopes, memory.
#include "engine/ops/packed_weights.h"

#include <thread>

#include "engine/ops/create.h"
#include "engine/ops/matmul.h"
#include "engine/ops/view.h"
#include "tests/tools.h"

namespace mote::test::packed_weights_test {
namespace {

Array numbers(const Shape& shape, std::uint64_t seed) { return random_array(shape, seed, -1, 1); }

/// x W^T + b: the bits that gemm_test.cpp states.
Array plain(const Array& x, const Array& w, const Array& bias) {
  return matmul(x, w.transpose(0, 1), bias.defined() ? &bias : nullptr);
}

TEST_CASE("PackedWeights: a linear of a few rows gives the bits of the plain formula, for every table") {
  const NoGrad no_grad;
  for (const Shape& nk : {Shape{1, 1}, {27, 16}, {64, 5}, {65, 64}, {130, 511}, {200, 513}, {33, 1100}, {700, 300}})
    for (const Index m : {1, 2, 3, 4, 5, 7, 8, 9}) {
      const Index n = nk[0], k = nk[1];
      const Array x = numbers({m, k}, 1), w = numbers({n, k}, 2), bias = numbers({n}, 3);
      const Array with = plain(x, w, bias), without = plain(x, w, {});
      on_all_hardware({1, 3}, [&] {
        INFO(m << " x " << n << " x " << k);
        CHECK(same_bits(linear(x, w, bias).array(), with));
        const PackedWeights packed;
        for (int again = 0; again < 2; ++again) {
          CHECK(same_bits(linear(x, w, bias).array(), with));
          CHECK(same_bits(linear(x, w).array(), without));
        }
      });
    }
}

TEST_CASE("PackedWeights: inputs of any rank and strides, weights that are views") {
  const NoGrad no_grad;
  const Array table = numbers({40, 24}, 1), x = numbers({2, 3, 24}, 3);
  const Array turned = numbers({24, 6}, 4).transpose(0, 1), narrow = table.slice(1, 3, 17),
              some = table.slice(0, 5, 25);
  const Array five = numbers({5, 14}, 5), none = Array::zeros({0, 24});
  const std::vector<std::pair<Array, Array>> inputs{
      {x, table}, {turned, table}, {five, narrow}, {x, some}, {none, table}};
  std::vector<Array> expected;
  for (const auto& [in, weight] : inputs) expected.push_back(linear(in, weight).array());
  const PackedWeights packed;
  for (std::size_t i = 0; i < 2 * inputs.size(); ++i) {  // each twice
    const auto& [in, weight] = inputs[i / 2];
    CHECK(same_bits(linear(in, weight).array(), expected[i / 2]));
  }
  CHECK(error_of([&] {
          linear(x, numbers({4, 23}, 6));
        }).rfind("linear: x [2, 3, 24] needs a last extent of 23", 0) == 0);
}

TEST_CASE("PackedWeights: a weight that changed is packed anew, and the copy of the old one goes") {
  const NoGrad no_grad;
  const Array x = numbers({2, 32}, 1);
  const Parameter w(numbers({96, 32}, 2)), other(numbers({96, 32}, 3));
  const auto expected = [&](const Parameter& p) { return plain(x, p.value(), {}); };
  const PackedWeights packed;
  for (int i = 0; i < 3; ++i) {
    CHECK(same_bits(linear(x, w).array(), expected(w)));
    CHECK(same_bits(linear(x, other).array(), expected(other)));
  }
  const Index live = memory_stats().live_bytes;
  for (int i = 0; i < 20; ++i) {
    if (i % 2)
      w.mutate()[i] = real(i);
    else
      w.set(numbers({96, 32}, static_cast<std::uint64_t>(10 + i)));
    CHECK(same_bits(linear(x, w).array(), expected(w)));
    CHECK(same_bits(linear(x, other).array(), expected(other)));
  }
  CHECK(memory_stats().live_bytes <= live + 2 * 96 * 32 * static_cast<Index>(sizeof(real)));
}

TEST_CASE("PackedWeights: only under NoGrad, only on its thread, once however deep; its end frees the copies") {
  const Array x = numbers({1, 64}, 1), w = numbers({64, 64}, 2);
  const Index before = memory_stats().live_bytes;
  {
    const PackedWeights packed;
    linear(x, w);
    CHECK(memory_stats().live_bytes == before);  // not under NoGrad
    const NoGrad no_grad;
    {
      const PackedWeights inner;
      CHECK(PackedWeights::open() == &packed);
      linear(x, w);
    }
    CHECK(PackedWeights::open() == &packed);
    const Index kept = memory_stats().live_bytes;
    CHECK(kept > before);
    linear(x, w);
    CHECK(memory_stats().live_bytes == kept);
    std::thread([&] { CHECK(PackedWeights::open() == nullptr); }).join();
  }
  CHECK(PackedWeights::open() == nullptr);
  CHECK(memory_stats().live_bytes == before);
}

TEST_CASE("PackedWeights: slices of one weight that changes leave no old copies behind") {
  const Parameter w(random_array({64, 32}, 1));
  const Tensor x(random_array({1, 32}, 2));
  const PackedWeights packed;
  const NoGrad values_only;
  Index after_two = 0;
  for (int i = 0; i < 20; ++i) {
    w.set(w.value() * real(0.5));
    const Tensor all = w;
    for (const Index from : {0, 32}) {
      const Tensor part = slice(all, 0, from, from + 32);
      CHECK(linear(x, part).to_vector() == matmul(x, transpose(part, 0, 1)).to_vector());
    }
    if (i == 1) after_two = memory_stats().live_bytes;
  }
  CHECK(memory_stats().live_bytes <= after_two);
}

}  // namespace
}  // namespace mote::test::packed_weights_test
