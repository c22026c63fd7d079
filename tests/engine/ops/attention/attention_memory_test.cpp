// That attention's memory grows with T and not with T squared, and that views of heads are not copied.
#include "engine/ops/attention.h"
#include "tests/support.h"

namespace mote::test::attention_memory_test {
namespace {

/// The most bytes that a pass forward and one back hold at once, beyond the inputs.
Index peak_of(const Array& q, const Array& k, const Array& v, const AttentionOptions& o, bool backward = true) {
  Tensor a = q, b = k, c = v;
  if (backward)
    for (Tensor* t : {&a, &b, &c}) t->requires_grad_();
  const Index before = memory_stats().live_bytes;
  reset_peak_memory();
  const Generator random(1);
  const Tensor y = attention(a, b, c, o, random);
  if (backward) y.backward(Array(real(0.5)).expand(y.shape()));
  return memory_stats().peak_bytes - before;
}

Index peak_of(Index T, const AttentionOptions& o) {
  const Array q = random_array({1, 2, T, 16}, 1), k = random_array({1, 2, T, 16}, 2),
              v = random_array({1, 2, T, 16}, 3);
  return peak_of(q, k, v, o);
}

TEST_CASE("attention: memory grows with T, not with T squared, up to T = 4096") {
  const Index square = 2 * 4096 * Index(4096) * static_cast<Index>(sizeof(real));  // what the weights would take
  for (const bool causal : {false, true}) {
    const Hardware one_thread(kernels::table(), 1);  // the numbers that each task keeps are then always the same
    Index shorter = peak_of(512, {.causal = causal}), longest = 0;
    for (const Index T : {1024, 2048, 4096}) {
      longest = peak_of(T, {.causal = causal});
      CHECK(longest <= shorter * 11 / 5);
      shorter = longest;
    }
    CHECK(longest < square / 32);
    const Hardware more(kernels::table(), 4);
    CHECK(peak_of(4096, {.causal = causal}) < square / 16);
  }
}

TEST_CASE("attention: what forward keeps takes no more than q and k") {
  const Hardware use(kernels::table(), 1);
  for (const Index T : {2, 12, 16, 32, 33, 64, 100, 512})
    for (const bool causal : {false, true}) {
      CAPTURE(T);
      Tensor q = random_array({2, 2, T, 16}, 1), k = random_array({2, 2, T, 16}, 2), v = random_array({2, 2, T, 16}, 3);
      for (Tensor* t : {&q, &k, &v}) t->requires_grad_();
      const Index before = memory_stats().live_bytes;
      const Tensor y = attention(q, k, v, {.causal = causal});
      const Index bytes = 2 * 2 * T * 16 * static_cast<Index>(sizeof(real));  // of each
      CHECK(memory_stats().live_bytes - before <=
            3 * bytes * 5 / 4 + 4096);  // y and what is kept; blocks are rounded up
    }
}

TEST_CASE("attention: dropout keeps one bit for each weight") {
  const Hardware use(kernels::table(), 1);
  for (const Index T : {1024, 4096}) {
    const Index with = peak_of(T, {.dropout = 0.1}), without = peak_of(T, {}), bits = 2 * T * T / 8;
    const Index block = 65536 * static_cast<Index>(sizeof(real)) * 5 / 4 + 4096;  // dropped weights of a block
    CHECK(with - without >= bits);
    CHECK(with - without <= bits * 5 / 4 + block);  // blocks of memory are rounded up by a quarter at most
  }
}

TEST_CASE("attention: a mask of one row is not written out, a window does not cost what lies before it") {
  const Hardware use(kernels::table(), 1);
  const Index T = 2048, plain = peak_of(T, {.causal = true});
  const Mask keys({1, T}, std::vector<std::uint8_t>(static_cast<std::size_t>(T), 1));
  CHECK(peak_of(T, {.causal = true, .mask = keys}) <= plain + 4 * T);
  CHECK(peak_of(T, {.causal = true, .window = 10}) <= plain + 4 * T);
}

TEST_CASE("attention: heads that are views of one projection are not copied") {
  const Hardware use(kernels::table(), 1);
  const Index B = 2, T = 256, H = 4, D = 16;
  const Array fused = random_array({B, T, 3 * H * D}, 1);
  std::vector<Array> views, copies;
  for (Index part = 0; part < 3; ++part) {
    views.push_back(fused.slice(2, part * H * D, (part + 1) * H * D).reshape({B, T, H, D}).transpose(1, 2));
    copies.push_back(copy_of(views.back()));
    REQUIRE(views.back().data() == fused.data() + part * H * D);
  }
  for (const bool causal : {false, true})
    for (const bool backward : {false, true}) {
      const AttentionOptions o{.causal = causal};
      const Index from_copies = peak_of(copies[0], copies[1], copies[2], o, backward);
      CHECK(peak_of(views[0], views[1], views[2], o, backward) == from_copies);
    }
  const Run strided([](In x) { return attention(x[0], x[1], x[2]); }, views);
  const Run plain([](In x) { return attention(x[0], x[1], x[2]); }, copies);
  CHECK(strided == plain);
  // the result lies as a layer joins its heads: that reshape copies nothing either
  const Array joined = strided.y.transpose(1, 2).reshape({B, T, H * D});
  CHECK(joined.data() == strided.y.data());
}

}  // namespace
}  // namespace mote::test::attention_memory_test
