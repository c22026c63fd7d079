// KeyValueCache: what a window drops, what it refuses; attention over one, in the bits of the whole pass.
#include "engine/ops/kv_cache.h"

#include "engine/watch/observer.h"
#include "tests/engine/ops/attention/masks_and_slopes.h"

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

void check_rows(const Array& at, Index B, Index H, Index first, Index count, Index width) {
  for (Index b = 0; b < B; ++b)
    for (Index h = 0; h < H; ++h)
      for (Index t = 0; t < count; ++t)
        for (Index c = 0; c < width; ++c)
          REQUIRE(at.at({b, h, t, c}) == static_cast<real>(((b * 10 + h) * 10 + c) * 10000 + first + t));
}

TEST_CASE(
    "KeyValueCache with a window keeps what the next query may see, from a multiple of 16 on, and no more memory") {
  for (const Index window : {1, 2, 16, 17, 40})
    for (const Index step : {1, 3, 50}) {
      KeyValueCache cache(window);
      for (Index t = 0; t < 1000; t += step) {
        const Index before = cache.length();
        cache = cache.appended(rows(1, 2, t, step, 2), rows(1, 2, t, step, 1));
        REQUIRE(cache.first() % 16 == 0);
        REQUIRE(cache.first() <= std::max<Index>(0, before - (window - 1)));
        const Index count = cache.length() - cache.first();
        REQUIRE(count <= 2 * (window + 16 + step) + 64);
        check_rows(cache.keys(), 1, 2, cache.first(), count, 2);
        check_rows(cache.values(), 1, 2, cache.first(), count, 1);
      }
    }
}

TEST_CASE("KeyValueCache: neither an empty text nor a cleared one sets sizes; a copy goes its own way") {
  KeyValueCache cache;
  cache = cache.appended(rows(1, 1, 0, 0, 2), rows(1, 1, 0, 0, 2));
  CHECK(cache.length() == 0);
  cache = cache.appended(rows(4, 6, 0, 60, 8), rows(4, 6, 0, 60, 9));
  cache.clear();
  cache = cache.appended(rows(3, 2, 0, 70, 4), rows(3, 2, 0, 70, 5));
  CHECK((cache.length() == 70 && cache.first() == 0));
  CHECK((cache.keys().shape() == Shape{3, 2, 70, 4} && cache.values().shape() == Shape{3, 2, 70, 5}));
  KeyValueCache fork = cache;
  fork = fork.appended(rows(3, 2, 500, 2, 4), rows(3, 2, 500, 2, 5));
  cache = cache.appended(rows(3, 2, 70, 2, 4), rows(3, 2, 70, 2, 5));
  check_rows(cache.keys(), 3, 2, 0, 72, 4);
  check_rows(cache.values(), 3, 2, 0, 72, 5);
  CHECK((fork.keys().at({0, 0, 71, 0}) == 501 && fork.values().at({0, 0, 70, 0}) == 500));
}

TEST_CASE("KeyValueCache: rows that do not fit are a sentence and change nothing") {
  KeyValueCache cache;
  const auto says = [&](const Array& k, const Array& v) { return error_of([&] { cache = cache.appended(k, v); }); };
  CHECK(says(Array::zeros({2, 3, 4}), Array::zeros({2, 3, 4})) ==
        "KeyValueCache: k [2, 3, 4] and v [2, 3, 4] must be [B, H, t, d] and [B, H, t, dv]");
  CHECK(says(Array::zeros({2, 3, 4, 5}), Array::zeros({2, 3, 3, 5})) ==
        "KeyValueCache: k [2, 3, 4, 5] and v [2, 3, 3, 5] must be [B, H, t, d] and [B, H, t, dv]");
  cache = cache.appended(rows(2, 3, 0, 4, 5), rows(2, 3, 0, 4, 6));
  const std::string end = " do not continue 4 rows of 2 sequences, 3 heads, widths 5 and 6";
  CHECK(says(Array::zeros({1, 3, 1, 5}), Array::zeros({1, 3, 1, 6})) ==
        "KeyValueCache: k [1, 3, 1, 5] and v [1, 3, 1, 6]" + end);
  CHECK(says(Array::zeros({2, 1, 1, 5}), Array::zeros({2, 1, 1, 6})).ends_with(end));
  CHECK(says(Array::zeros({2, 3, 1, 4}), Array::zeros({2, 3, 1, 6})).ends_with(end));
  CHECK(says(Array::zeros({2, 3, 1, 5}), Array::zeros({2, 3, 1, 5})).ends_with(end));
  CHECK(cache.length() == 4);
  check_rows(cache.keys(), 2, 3, 0, 4, 5);
}

struct Text {  // queries, keys and values of a text, and all that attention makes of them at once
  Array q, k, v, whole;
  AttentionOptions options;
  Text(Index B, Index H, Index G, Index T, const AttentionOptions& o)
      : q(random_array({B, H, T, 5}, 1)),
        k(random_array({B, G, T, 5}, 2)),
        v(random_array({B, G, T, 3}, 3)),
        options(o) {
    whole = attention(q, k, v, o).array();
  }
  /// Positions [begin, end), read after those in the cache.
  void check(Index begin, Index end, KeyValueCache& cache) const {
    const Tensor y = attention(q.slice(2, begin, end), k.slice(2, begin, end), v.slice(2, begin, end), options,
                               Generator(1), &cache);
    CHECK_MESSAGE(same_bits(y.array(), whole.slice(2, begin, end)), "positions ", begin, " to ", end);
    CHECK(cache.length() == end);
  }
};

std::vector<Text> texts(Index T) {
  return {{2, 4, 2, T, {.causal = true}},
          {1, 6, 1, T, {.causal = true, .scale = 0.3, .alibi = some_slopes(6)}},
          {3, 2, 2, T, {.causal = true, .window = 5}},
          {1, 2, 1, T, {.causal = true, .window = 20, .alibi = some_slopes(2)}}};
}

TEST_CASE("attention over a cache, in chunks of any size = the whole pass, on any hardware") {
  const NoGrad no_grad;
  for (const Text& text : texts(150))  // beyond the 64 rows that a cache begins with
    on_all_hardware({3}, [&] {
      for (const Index step : {1, 3, 16, 67, 150}) {
        KeyValueCache cache(text.options.window);
        for (Index t = 0; t < 150; t += step) text.check(t, std::min<Index>(t + step, 150), cache);
      }
    });
}

TEST_CASE(
    "attention over a cache that has dropped rows, with a window of more than one block of sums = the whole pass") {
  const NoGrad no_grad;
  for (const bool guarded : {false, true}) {
    Text text(1, 2, 1, 2000, {.causal = true, .window = 700});
    if (guarded) {
      text.v.mutate()[3 * 1500] = std::numeric_limits<real>::infinity();
      text.whole = attention(text.q, text.k, text.v, text.options).array();
    }
    KeyValueCache cache(700);
    for (Index t = 0; t < 2000; t += 100) text.check(t, t + 100, cache);
    CHECK(cache.first() > 0);
  }
}

TEST_CASE("attention over caches in turn, one forked, one emptied for another batch, one gone back") {
  const NoGrad no_grad;
  for (const Text& a : texts(90))
    for (const Text& b : texts(90)) {
      if (a.options.window != b.options.window) continue;
      KeyValueCache one(a.options.window), two(a.options.window), fork(a.options.window);
      for (Index t = 0; t < 80; ++t) {
        a.check(t, t + 1, one);
        b.check(t, t + 1, two);
        if (t == 20) fork = two;
      }
      b.check(21, 90, fork);
      two.clear();
      a.check(0, 40, two);
      const Index least = one.first() > 0 ? one.first() + one.window() - 1 : 0;
      REQUIRE((one.first() > 0) == (one.window() > 0));
      for (Index back = 0; back <= 80; ++back) {
        KeyValueCache cache = one;
        if (back < least) {
          CHECK(error_of([&] { cache.truncate(back); }).find("KeyValueCache: cannot truncate to") == 0);
          CHECK(cache.length() == 80);
          continue;
        }
        cache.truncate(back);
        a.check(back, 90, cache);
      }
      CHECK(error_of([&] { one.truncate(81); }).find("cannot truncate to 81 tokens") != std::string::npos);
    }
}

struct RefuseAttention : Observer {
  RefuseAttention() { watch(); }
  void op_recorded(const OpReport& op) override { mote::check(std::string(op.op) != "attention", "refused"); }
};

TEST_CASE("attention over a cache: an error after all is computed leaves the cache as it was") {
  const NoGrad no_grad;
  for (const Text& text : texts(150)) {
    KeyValueCache cache(text.options.window);
    for (Index t = 0; t < 120; ++t) {  // rows beyond the first 64 move, and with a window some are dropped
      const Index first = cache.first(), length = cache.length();
      {
        const RefuseAttention refuse;
        CHECK(error_of([&] {
                attention(text.q.slice(2, t, t + 5), text.k.slice(2, t, t + 5), text.v.slice(2, t, t + 5), text.options,
                          Generator(1), &cache);
              }) == "attention: refused");
      }
      REQUIRE((cache.first() == first && cache.length() == length));
      text.check(t, t + 1, cache);
    }
  }
}

TEST_CASE("attention over a cache: what it refuses leaves the cache as it was") {
  const Text text(2, 4, 2, 10, {.causal = true});
  KeyValueCache cache;
  const Tensor q = text.q.slice(2, 4, 6), k = text.k.slice(2, 4, 6), v = text.v.slice(2, 4, 6);
  const auto says = [&](const Tensor& query, const Tensor& key, const AttentionOptions& o) {
    const Index before = cache.length();
    const std::string error = error_of([&] { attention(query, key, v, o, Generator(1), &cache); });
    CHECK(cache.length() == before);
    return error;
  };
  CHECK(says(q, k, text.options) == "attention: a cache keeps values, not gradients: use it under NoGrad");
  const NoGrad no_grad;
  text.check(0, 4, cache);
  CHECK(says(q, k, {}) == "attention: a cache needs causal: later tokens must not change earlier ones");
  CHECK(says(q, k, {.causal = true, .mask = Mask({2, 2})}) == "attention: a cache takes no mask");
  CHECK(says(q, k, {.causal = true, .dropout = 0.1}) == "attention: a cache is for evaluation: call eval() first");
  CHECK(says(q, k, {.causal = true, .window = 3}) == "attention: the cache is for a window of 0, not 3");
  CHECK(says(Tensor(text.q.slice(2, 4, 5)), k, text.options) ==
        "attention: with a cache q [2, 4, 1, 5] and k [2, 2, 2, 5] must have the same length");
  CHECK(
      says(Tensor(q.array().select(0, 0)), Tensor(k.array().select(0, 0)), text.options).find("must be [B, H, t, d]") !=
      std::string::npos);
  CHECK(error_of([&] {
          attention(slice(q, 0, 0, 1), slice(k, 0, 0, 1), slice(v, 0, 0, 1), text.options, Generator(1), &cache);
        }).ends_with("do not continue 4 rows of 2 sequences, 2 heads, widths 5 and 3"));
  text.check(4, 10, cache);
  CHECK(error_of([] { KeyValueCache().keys(); }) == "KeyValueCache: nothing was appended yet");
  CHECK(error_of([] { KeyValueCache(-3); }) == "KeyValueCache: window -3 must be at least 0");
}

}  // namespace
}  // namespace mote::test::kv_cache_test
