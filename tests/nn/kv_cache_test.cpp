// KeyValueCache: rows that come back, dropped ones, copies, sizes; its misuse through a layer.
#include "tests/nn/attention_oracle.h"

namespace mote::test::kv_cache_test {
namespace {

/// Rows first, first + 1, ...: the number in column c of head h of entry b of row t tells them all apart.
Array rows(Index B, Index H, Index first, Index count, Index width) {
  Array x = Array::empty({B, H, count, width});
  for (Index i = 0; i < x.numel(); ++i) {
    const Index c = i % width, t = i / width % count + first, h = i / width / count % H, b = i / width / count / H;
    x.mutate()[i] = static_cast<real>(((b * 10 + h) * 10 + c) * 10000 + t);
  }
  return x;
}

void check_rows(const detail::HeadRows& at, Index B, Index H, Index first, Index count, Index width) {
  for (Index b = 0; b < B; ++b)
    for (Index h = 0; h < H; ++h)
      for (Index t = 0; t < count; ++t)
        for (Index c = 0; c < width; ++c)
          REQUIRE(at.at(b, h, t)[c * at.column] == static_cast<real>(((b * 10 + h) * 10 + c) * 10000 + first + t));
}

TEST_CASE("KeyValueCache gives back what it was given, in chunks of any size") {
  for (const Index step : {1, 3, 64, 200}) {
    KeyValueCache cache;
    for (Index t = 0; t < 200; t += step) {
      const Index count = std::min(step, 200 - t);
      cache.append(rows(2, 3, t, count, 4), rows(2, 3, t, count, 5));
      CHECK(cache.length() == t + count);
      CHECK(cache.count() == t + count);
      CHECK(cache.first() == 0);
    }
    CHECK(cache.heads() == 3);
    CHECK(cache.value_width() == 5);
    check_rows(cache.keys(), 2, 3, 0, 200, 4);
    check_rows(cache.values(), 2, 3, 0, 200, 5);
  }
}

TEST_CASE(
    "KeyValueCache with a window keeps what the next query may see, from a multiple of 16 on, and no more memory") {
  for (const Index window : {1, 2, 16, 17, 40})
    for (const Index step : {1, 3, 50}) {
      KeyValueCache cache(window);
      for (Index t = 0; t < 1000; t += step) {
        const Index before = cache.length();
        cache.append(rows(1, 2, t, step, 2), rows(1, 2, t, step, 1));
        REQUIRE(cache.first() % 16 == 0);
        REQUIRE(cache.first() <= std::max<Index>(0, before - (window - 1)));
        REQUIRE(cache.first() + cache.count() == cache.length());
        REQUIRE(cache.count() <= 2 * (window + 16 + step) + 64);
        check_rows(cache.keys(), 1, 2, cache.first(), cache.count(), 2);
        check_rows(cache.values(), 1, 2, cache.first(), cache.count(), 1);
      }
    }
}

TEST_CASE("KeyValueCache emptied takes other sizes; a copy goes its own way") {
  KeyValueCache cache;
  cache.append(rows(1, 1, 0, 5, 2), rows(1, 1, 0, 5, 2));
  cache.clear();
  CHECK(cache.length() == 0);
  cache.append(rows(4, 6, 0, 60, 8), rows(4, 6, 0, 60, 9));  // 200 times what it held
  check_rows(cache.keys(), 4, 6, 0, 60, 8);
  check_rows(cache.values(), 4, 6, 0, 60, 9);

  KeyValueCache fork = cache;
  fork.append(rows(4, 6, 500, 2, 8), rows(4, 6, 500, 2, 9));
  cache.append(rows(4, 6, 60, 2, 8), rows(4, 6, 60, 2, 9));
  check_rows(cache.keys(), 4, 6, 0, 62, 8);
  check_rows(cache.values(), 4, 6, 0, 62, 9);
  CHECK(fork.keys().at(0, 0, 61)[0] == 501);
  CHECK(fork.values().at(3, 5, 60)[8] == static_cast<real>((35 * 10 + 8) * 10000 + 500));

  KeyValueCache empty;
  empty.append(rows(1, 1, 0, 0, 2), rows(1, 1, 0, 0, 2));
  CHECK(empty.length() == 0);
  empty.append(rows(3, 2, 0, 40, 4), rows(3, 2, 0, 40, 4));
  check_rows(empty.keys(), 3, 2, 0, 40, 4);
}

TEST_CASE("KeyValueCache: rows that do not fit are a sentence and change nothing") {
  KeyValueCache cache;
  const auto says = [&](const Array& k, const Array& v) { return error_of([&] { cache.append(k, v); }); };
  CHECK(says(Array::zeros({2, 3, 4}), Array::zeros({2, 3, 4})) ==
        "KeyValueCache: k [2, 3, 4] and v [2, 3, 4] must be [B, H, t, d] and [B, H, t, dv]");
  CHECK(says(Array::zeros({2, 3, 4, 5}), Array::zeros({2, 3, 3, 5})) ==
        "KeyValueCache: k [2, 3, 4, 5] and v [2, 3, 3, 5] must be [B, H, t, d] and [B, H, t, dv]");
  cache.append(rows(2, 3, 0, 4, 5), rows(2, 3, 0, 4, 6));
  const std::string end = " do not continue 4 rows of 2 sequences, 3 heads, widths 5 and 6";
  CHECK(says(Array::zeros({1, 3, 1, 5}), Array::zeros({1, 3, 1, 6})) ==
        "KeyValueCache: k [1, 3, 1, 5] and v [1, 3, 1, 6]" + end);
  CHECK(says(Array::zeros({2, 1, 1, 5}), Array::zeros({2, 1, 1, 6})).ends_with(end));
  CHECK(says(Array::zeros({2, 3, 1, 4}), Array::zeros({2, 3, 1, 6})).ends_with(end));
  CHECK(says(Array::zeros({2, 3, 1, 5}), Array::zeros({2, 3, 1, 5})).ends_with(end));
  CHECK(cache.length() == 4);
  check_rows(cache.keys(), 2, 3, 0, 4, 5);
}

TEST_CASE("A cache misused through a layer is a sentence with the layer's path, and the cache stays as it was") {
  Generator random(1);
  MultiHeadAttention m(4, 2, random, {.causal = true, .dropout = 0.5, .block_size = 3});
  const MultiHeadAttention open(4, 2, random);
  const Tensor x = random_array({1, 2, 4}, 1), wide = Array::zeros({1, 2, 5});
  KeyValueCache cache = m.cache();
  const auto says = [&](const MultiHeadAttention& layer, const Tensor& input) {
    const Index before = cache.length();
    const std::string text = error_of([&] { layer(input, cache); });
    CHECK(cache.length() == before);
    return text;
  };
  CHECK(says(m, x) ==
        "MultiHeadAttention: a cache keeps numbers, not gradients: use it under NoGrad (in MultiHeadAttention)");
  const NoGrad no_grad;
  CHECK(says(open, x) ==
        "MultiHeadAttention: a cache needs causal: later tokens must not change earlier ones (in "
        "MultiHeadAttention)");
  CHECK(says(m, x) == "MultiHeadAttention: a cache is for evaluation: call eval() first (in MultiHeadAttention)");
  const MultiHeadAttention drops_output(4, 2, random, {.causal = true, .resid_dropout = 0.5});
  CHECK(says(drops_output, x).find("call eval() first") != std::string::npos);
  m.eval();
  CHECK(says(m, wide) == "MultiHeadAttention: x [1, 2, 5] must be [B, T, 4] (in MultiHeadAttention)");
  m(x, cache);
  CHECK(cache.length() == 2);
  CHECK(says(m, x) == "MultiHeadAttention: T = 4 is above block_size 3 (in MultiHeadAttention)");
  CHECK(says(m, Tensor(random_array({2, 1, 4}, 1)))
            .ends_with("sequences, 2 heads, widths 2 and 2 (in MultiHeadAttention)"));
  m(Tensor(random_array({1, 1, 4}, 2)), cache);
  CHECK(cache.length() == 3);
  const MultiHeadAttention windowed(4, 2, random, {.causal = true, .block_size = 3, .window = 2});
  KeyValueCache recent = windowed.cache();
  const Tensor four = random_array({1, 4, 4}, 1);
  const std::string above = "MultiHeadAttention: T = 4 is above block_size 3 (in MultiHeadAttention)";
  CHECK(error_of([&] { windowed(four, recent); }) == above);  // as without a cache
  CHECK(error_of([&] { windowed(four); }) == above);
  KeyValueCache narrow(2);
  CHECK(error_of([&] { m(x, narrow); }) ==
        "MultiHeadAttention: the cache is for a window of 2, this layer's is 0; take it from cache() (in "
        "MultiHeadAttention)");
}

TEST_CASE("KeyValueCache: going back gives the same bits, or is refused where the window is gone") {
  CHECK(error_of([] { KeyValueCache().keys(); }) == "KeyValueCache: nothing was appended yet");
  CHECK(error_of([] { KeyValueCache(-3); }) == "KeyValueCache: window -3 must be 0 or above");
  Generator random(1);
  const Tensor x = random_array({1, 90, 8}, 3);
  for (const Index window : {0, 5, 20}) {
    const MultiHeadAttention m(8, 2, random,
                               {.causal = true, .n_kv_head = 1, .window = window, .rotary = RotaryOptions{}});
    const NoGrad no_grad;
    const Array whole = m(x).array();
    KeyValueCache full = m.cache();
    for (Index t = 0; t < 80; ++t) m(slice(x, 1, t, t + 1), full);
    REQUIRE((full.first() > 0) == (window > 0));
    const Index least = window > 0 ? full.first() + window - 1 : 0;
    for (Index back = 0; back <= 80; ++back) {
      KeyValueCache cache = full;
      if (back < least) {
        CHECK(error_of([&] { cache.truncate(back); }).find("KeyValueCache: cannot go to") == 0);
        CHECK(cache.length() == 80);
        continue;
      }
      cache.truncate(back);
      CHECK(same_bits(m(slice(x, 1, back, 90), cache).array(), whole.slice(1, back, 90)));
    }
    CHECK(error_of([&] { full.truncate(81); }).find("cannot go to 81 tokens") != std::string::npos);
  }
}

}  // namespace
}  // namespace mote::test::kv_cache_test
