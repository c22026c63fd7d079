// KeyValueCache: what a window drops, what it refuses; attention over one, in the bits of the whole pass.
#include "engine/ops/kv_cache.h"

#include "engine/autograd/observer.h"
#include "tests/engine/ops/attention/masks_and_slopes.h"
#include "tests/sentences.h"

namespace mote::test::kv_cache_test {
namespace {

TEST_CASE(
    "KeyValueCache with a window keeps what the next query may see, from a multiple of 16 on, and no more memory") {
  const Array k = random_array({1, 2, 1000, 2}, 1), v = random_array({1, 2, 1000, 1}, 2);
  for (const Index window : {1, 2, 16, 17, 40})
    for (const Index step : {1, 3, 50}) {
      KeyValueCache cache(window);
      for (Index t = 0; t + step <= 1000; t += step) {
        const Index before = cache.length();
        cache = cache.appended(k.slice(2, t, t + step), v.slice(2, t, t + step));
        REQUIRE(cache.first() % 16 == 0);
        REQUIRE(cache.first() <= std::max<Index>(0, before - (window - 1)));
        REQUIRE(cache.length() - cache.first() <= 2 * (window + 16 + step) + 64);
        REQUIRE(same_bits(cache.keys(), k.slice(2, cache.first(), cache.length())));
        REQUIRE(same_bits(cache.values(), v.slice(2, cache.first(), cache.length())));
      }
    }
}

TEST_CASE("KeyValueCache: neither an empty text nor a cleared one sets sizes; a copy goes its own way") {
  KeyValueCache cache;
  cache = cache.appended(Array::zeros({1, 1, 0, 2}), Array::zeros({1, 1, 0, 2}));
  CHECK(cache.length() == 0);
  cache = cache.appended(Array::zeros({4, 6, 60, 8}), Array::zeros({4, 6, 60, 9}));
  cache.clear();
  const Array k = random_array({3, 2, 72, 4}, 1), v = random_array({3, 2, 72, 5}, 2);
  cache = cache.appended(k.slice(2, 0, 70), v.slice(2, 0, 70));
  CHECK((cache.length() == 70 && cache.first() == 0));
  const KeyValueCache fork = cache.appended(Array::full({3, 2, 2, 4}, 7), Array::full({3, 2, 2, 5}, 7));
  cache = cache.appended(k.slice(2, 70, 72), v.slice(2, 70, 72));
  CHECK((same_bits(cache.keys(), k) && same_bits(cache.values(), v)));
  CHECK((fork.keys().at({0, 0, 71, 0}) == 7 && fork.values().at({0, 0, 70, 0}) == 7));
}

TEST_CASE("KeyValueCache: rows that do not fit are a sentence and change nothing") {
  KeyValueCache cache;
  const auto says = [&](const Array& k, const Array& v) { return error_of([&] { cache = cache.appended(k, v); }); };
  CHECK_SENTENCE(says(Array::zeros({2, 3, 4}), Array::zeros({2, 3, 4})));
  CHECK_SENTENCE(says(Array::zeros({2, 3, 4, 5}), Array::zeros({2, 3, 3, 5})));
  const Array four = random_array({2, 3, 4, 5}, 1);
  cache = cache.appended(four, Array::zeros({2, 3, 4, 6}));
  const std::string end = " do not fit the cache: it has 2 sequences, 3 heads, keys of width 5 and values of width 6";
  CHECK(says(Array::zeros({1, 3, 1, 5}), Array::zeros({1, 3, 1, 6})) ==
        "KeyValueCache: k [1, 3, 1, 5] and v [1, 3, 1, 6]" + end);
  CHECK(says(Array::zeros({2, 1, 1, 5}), Array::zeros({2, 1, 1, 6})).ends_with(end));
  CHECK(says(Array::zeros({2, 3, 1, 4}), Array::zeros({2, 3, 1, 6})).ends_with(end));
  CHECK(says(Array::zeros({2, 3, 1, 5}), Array::zeros({2, 3, 1, 5})).ends_with(end));
  CHECK(same_bits(cache.keys(), four));
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
          CHECK(error_of([&] { cache.truncate(back); }).starts_with("KeyValueCache: cannot truncate to"));
          CHECK(cache.length() == 80);
          continue;
        }
        cache.truncate(back);
        a.check(back, 90, cache);
      }
      REFUSES(one.truncate(81));
    }
}

struct RefuseAttention : Observer {
  RefuseAttention() { watch(); }
  void event(const Event& e) override { mote::check(e.kind != Event::op_recorded || e.name != "attention", "refused"); }
};

TEST_CASE("attention over a cache: an error after all is computed leaves the cache as it was") {
  const NoGrad no_grad;
  for (const Text& text : texts(150)) {
    KeyValueCache cache(text.options.window);
    for (Index t = 0; t < 120; ++t) {  // rows beyond the first 64 move, and with a window some are dropped
      const Index first = cache.first(), length = cache.length();
      {
        const RefuseAttention refuse;
        REFUSES(attention(text.q.slice(2, t, t + 5), text.k.slice(2, t, t + 5), text.v.slice(2, t, t + 5), text.options,
                          Generator(1), &cache));
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
  CHECK_SENTENCE(says(q, k, text.options));
  const NoGrad no_grad;
  text.check(0, 4, cache);
  CHECK_SENTENCE(says(q, k, {}));
  CHECK_SENTENCE(says(q, k, {.causal = true, .mask = Mask({2, 2})}));
  CHECK_SENTENCE(says(q, k, {.causal = true, .dropout = 0.1}));
  CHECK_SENTENCE(says(q, k, {.causal = true, .window = 3}));
  CHECK_SENTENCE(says(Tensor(text.q.slice(2, 4, 5)), k, text.options));
  CHECK_SENTENCE(says(Tensor(q.array().select(0, 0)), Tensor(k.array().select(0, 0)), text.options));
  REFUSES(attention(slice(q, 0, 0, 1), slice(k, 0, 0, 1), slice(v, 0, 0, 1), text.options, Generator(1), &cache));
  text.check(4, 10, cache);
  REFUSES(KeyValueCache().keys());
  REFUSES(KeyValueCache(-3));
}

}  // namespace
}  // namespace mote::test::kv_cache_test
