// The cache of keys and values: its logits are the whole pass's, bit for bit, for every option, chunk and hardware;
// sessions, resets, refusals.
#include "engine/kernels/kernels.h"
#include "tests/models/gpt_tools.h"
#include "tests/sentences.h"

namespace mote::test::gpt_cache_test {
namespace {

/// Longer than the 16 keys that one sum runs over at a time.
GPTConfig longer(Position position) {
  GPTConfig c = toy(position);
  c.block_size = 21;
  return c;
}

/// Reads `ids` in chunks of `step` tokens; after each, the logits so far are the first rows of `whole`.
void check_chunks(const GPT& m, const IntArray& ids, const Array& whole, Index step) {
  const NoGrad no_grad;
  GPTCache cache = m.cache();
  const Index T = ids.shape()[1];
  for (Index t = 0; t < T; t += step) {
    const Index end = std::min(T, t + step);
    const Array part = m(ids.slice(1, t, end), Mask(), &cache).array();
    if (!same_bits(part, whole.slice(1, t, end)))
      FAIL_CHECK(fields_text(m.config) << ": chunks of " << step << ", tokens " << t << " to " << end);
    CHECK(cache.length() == end);
  }
}

/// all_kinds(), each with these windows.
std::vector<GPTConfig> variants(const std::vector<Index>& windows) {
  std::vector<GPTConfig> all;
  for (GPTConfig c : all_kinds())
    for (const Index window : windows) {
      c.block_size = 21;
      c.block.attention.window = window;
      all.push_back(c);
    }
  return all;
}

TEST_CASE("GPT's cache: logits equal the whole pass bit for bit, for every option and every chunk") {
  const IntArray ids = random_tokens({2, 21}, 11, 3);
  for (const GPTConfig& c : variants({0, 1, 5, 18})) {
    const GPT m = lively_gpt(c);
    const NoGrad no_grad;
    const Array whole = m(ids).array();
    for (const Index step : {1, 2, 5, 21}) check_chunks(m, ids, whole, step);
    for (Index t = 1; t < 21; ++t) {  // every prefix at once, and then the rest
      GPTCache cache = m.cache();
      const Array first = m(ids.slice(1, 0, t), Mask(), &cache).array();
      const Array second = m(ids.slice(1, t, 21), Mask(), &cache).array();
      if (!same_bits(first, whole.slice(1, 0, t)) || !same_bits(second, whole.slice(1, t, 21)))
        FAIL_CHECK(fields_text(c) << ": cut at " << t);
    }
  }
}

TEST_CASE("GPT's cache: with a window it goes on for five times block_size, in the bits of the whole pass") {
  const IntArray ids = random_tokens({2, 105}, 11, 4);
  for (const GPTConfig& c : variants({1, 5, 18, 40})) {
    if (!c.unbounded()) continue;
    const GPT m = lively_gpt(c);
    const NoGrad no_grad;
    const Array whole = m(ids).array();
    for (const Index step : {1, 2, 5, 37, 105}) check_chunks(m, ids, whole, step);
  }
}

TEST_CASE("GPT's cache: nothing read changes nothing") {
  const GPT m = lively_gpt(longer(Position::alibi));
  const NoGrad no_grad;
  GPTCache cache = m.cache();
  CHECK(m(IntArray({2, 0}), Mask(), &cache).shape() == Shape{2, 0, 11});
  CHECK(cache.length() == 0);
  const IntArray ids = random_tokens({4, 9}, 11, 3);  // other rows than those of the empty text
  const Array whole = m(ids).array();
  CHECK(same_bits(m(ids.slice(1, 0, 5), Mask(), &cache).array(), whole.slice(1, 0, 5)));
  CHECK(m(IntArray({4, 0}), Mask(), &cache).shape() == Shape{4, 0, 11});
  CHECK(same_bits(m(ids.slice(1, 5, 9), Mask(), &cache).array(), whole.slice(1, 5, 9)));
  cache.clear();  // what was read before, and how many rows it had, is forgotten
  CHECK(same_bits(m(ids.slice(0, 0, 2), Mask(), &cache).array(), whole.slice(0, 0, 2)));
  GPTCache none = m.cache();
  CHECK(m(IntArray({0, 3}), Mask(), &none).shape() == Shape{0, 3, 11});
}

TEST_CASE("GPT's cache: what it refuses, and that it is as it was afterwards") {
  GPTConfig c = toy(Position::learned);
  GPT m = lively_gpt(c);
  const IntArray ids = random_tokens({2, 9}, 11, 3);
  const Array whole = m(ids).array();
  GPTCache cache = m.cache();
  {
    const NoGrad no_grad;
    m(ids.slice(1, 0, 6), Mask(), &cache);
    REFUSES(m(ids.slice(1, 0, 4), Mask(), &cache));
    REFUSES(m(ints({{1}, {11}}), Mask(), &cache));
    c.n_layer = 1;
    const GPT shallow = lively_gpt(c);
    const std::string other =
        "GPT: the cache belongs to another model; take it from this one's cache() (in transformer)";
    CHECK(error_of([&] { shallow(ints({{1}, {2}}), Mask(), &cache); }) == other);
    const GPT twin = m.clone();  // equal weights, but they may be trained apart
    CHECK(error_of([&] { twin(ints({{1}, {2}}), Mask(), &cache); }) == other);
    GPTCache nobodys;
    CHECK(error_of([&] { m(ints({{1}, {2}}), Mask(), &nobodys); }) == other);
    REFUSES(m.transformer(ints({{1}, {2}}), Mask(), &nobodys));
  }
  const NoGrad no_grad;
  CHECK(cache.length() == 6);
  CHECK(same_bits(m(ids.slice(1, 6, 9), Mask(), &cache).array(), whole.slice(1, 6, 9)));
}

TEST_CASE("GPT's cache is for evaluation when there is dropout, and says so before it draws") {
  GPTConfig c = toy(Position::none);
  GPT without = lively_gpt(c);
  c.dropout = 0.5;
  GPT m = lively_gpt(c);
  const NoGrad no_grad;
  const IntArray ids = random_tokens({2, 9}, 11, 3);
  GPTCache cache = m.cache(), other = without.cache();
  m.train();
  without.train();  // nothing to drop: training is no different
  const GeneratorState before = m.transformer.drop.random.get_state();
  REFUSES(m(ids, Mask(), &cache));
  CHECK(m.transformer.drop.random.get_state() == before);
  CHECK(cache.length() == 0);
  const Array y = without(ids, Mask(), &other).array();
  m.eval();
  CHECK(same_bits(m(ids, Mask(), &cache).array(), y));
}

TEST_CASE("GPT's cache: an error in a later layer leaves every layer as it was, with a window and without") {
  for (const Index window : {0, 2}) {
    GPTConfig c = toy(Position::rotary);
    c.block.attention.window = window;
    c.dropout = 0.5;
    GPT m = lively_gpt(c);
    m.eval();
    const NoGrad no_grad;
    const IntArray ids = random_tokens({2, 9}, 11, 3);
    const Array whole = m(ids).array();
    for (const Index before : {0, 1, 7}) {
      GPTCache cache = m.cache();
      if (before > 0) m(ids.slice(1, 0, before), Mask(), &cache);
      m.transformer.h[1].train();  // the second layer would drop, and refuses; the first has taken the tokens by then
      REFUSES(m(ids.slice(1, before, 9), Mask(), &cache));
      m.eval();
      for (const KeyValueCache& layer : cache.layers) CHECK(layer.length() == before);
      CHECK(same_bits(m(ids.slice(1, before, 9), Mask(), &cache).array(), whole.slice(1, before, 9)));
    }
    GPTCache cache = m.cache();
    m(ids.slice(1, 0, 4), Mask(), &cache);
    cache.layers[1].truncate(3);
    REFUSES(m(ids.slice(1, 4, 9), Mask(), &cache));
  }
}

}  // namespace
}  // namespace mote::test::gpt_cache_test
