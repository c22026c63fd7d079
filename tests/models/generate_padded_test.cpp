// Prompts of different lengths in one batch: every row as if it were alone, for all positions; a mask for GPT; scores.
#include "tests/models/gpt_tools.h"
#include "tests/sentences.h"

namespace mote::test::generate_padded_test {
namespace {

/// The logits of every pass, in order, a row per text.
struct Logits : Observer {
  std::vector<Array> rows;
  Index vocab;
  explicit Logits(Index V) : vocab(V) { watch(); }
  void event(const Event& e) override {
    if (e.kind != Event::op_recorded || e.name != "linear") return;
    if (e.result->shape()[-1] != vocab || e.result->rank() != 3) return;
    const Array last = e.result->select(1, -1);
    for (Index b = 0; b < last.shape()[0]; ++b) rows.push_back(copy_of(last.select(0, b)));
  }
};

const std::vector<std::vector<Index>> prompts{{3, 1, 4}, {1}, {5, 9, 2, 6, 5}, {3, 5, 8}, {7, 9}};

TEST_CASE("generate: a prompt padded on the left gives the tokens and the logits that it gives alone, bit for bit") {
  constexpr Index pad = 10, count = 12;  // far beyond block_size 9
  const IntArray ids = pad_left(prompts, pad);
  CHECK(equal(ids.slice(0, 0, 2), ints({{10, 10, 3, 1, 4}, {10, 10, 10, 10, 1}})));
  for (const GPTConfig& c : all_kinds()) {
    GPT m = lively_gpt(c);
    for (const bool use_cache : {true, false}) {
      const GenerateOptions o{.temperature = 0, .pad_token = pad, .use_cache = use_cache};
      const Logits together(c.vocab_size);
      const IntArray all = m.generate(ids, count, o, Generator(1));
      CHECK(equal(all.slice(1, 0, 5), ids));
      // Groups run from the least padding on: rows 2; 0, 3; 4; 1. The logits of row b after each of its tokens:
      const std::vector<Index> place{1, 4, 0, 2, 3};
      const std::vector<Array> seen = together.rows;
      REQUIRE(seen.size() == 5 * count);
      for (std::size_t b = 0; b < 5; ++b) {
        const Index length = static_cast<Index>(prompts[b].size()), row = static_cast<Index>(b);
        const IntArray prompt({1, length}, prompts[b]);
        const Logits alone(c.vocab_size);
        const IntArray one = m.generate(prompt, count, {.temperature = 0, .use_cache = use_cache}, Generator(1));
        CHECK_MESSAGE(equal(all.slice(0, row, row + 1).slice(1, 5 - length, 5 + count), one), fields_text(c));
        for (std::size_t step = 0; step < count; ++step)
          CHECK(same_bits(alone.rows[step], seen[step * 5 + static_cast<std::size_t>(place[b])]));
      }
    }
  }
}

TEST_CASE("generate: padded rows sample in the order of the rows, 2 B V words for each token; stop and callback") {
  GPT m = lively_gpt(toy());
  const Generator random(3), same(3);
  const IntArray ids = pad_left(prompts, 10);
  const GenerateOptions o{.temperature = 0.9, .top_k = 8, .pad_token = 10};
  const IntArray all = m.generate(ids, 3, o, random);
  for (int i = 0; i < 3 * 2 * 5 * 11; ++i) same.next_u32();
  CHECK(random.get_state() == same.get_state());
  CHECK(equal(m.generate(ids, 3, o, Generator(3)), all));
  for (const Index pad : {10, 100}) {  // a row that has ended repeats pad_token, in the vocabulary or not
    GenerateOptions stops = o;
    stops.stop_token = all.at({0, 5});
    stops.pad_token = pad;
    std::vector<IntArray> told;
    stops.on_token = [&](const IntArray& newest) {
      told.push_back(newest);
      return true;
    };
    const IntArray some = m.generate(pad_left(prompts, pad), 3, stops, Generator(3));
    Index filled = 0;
    for (Index b = 0; b < some.shape()[0]; ++b) {
      bool ended = false;
      for (Index t = 5; t < some.shape()[1]; ++t) {
        CHECK(some.at({b, t}) == (ended ? pad : all.at({b, t})));
        CHECK(told.at(at(t - 5)).at({b}) == some.at({b, t}));
        filled += ended;
        ended = ended || all.at({b, t}) == stops.stop_token;
      }
    }
    CHECK(filled > 0);
  }
  REFUSES(m.generate(ids, std::numeric_limits<Index>::max(), o, Generator(1)));
  CHECK(equal(m.generate(ints({{1, 2}}), 2, {.temperature = 0, .pad_token = 100}, Generator(1)),
              m.generate(ints({{1, 2}}), 2)));  // an id that no row begins with, nor in the vocabulary
  for (const Index stop : {-1, 0})              // inside a prompt it is an id like any other, and here none
    REFUSES(m.generate(ints({{5, 100, 3}}), 2, {.temperature = 0, .stop_token = stop, .pad_token = 100}, Generator(1)));
  CHECK(m.generate(IntArray({0, 3}), 2, {.pad_token = 10}, Generator(1)).shape() == Shape{0, 5});
}

TEST_CASE("pad_left: shapes and refusals") {
  CHECK(equal(pad_left({{1, 2, 3}, {4}}, 0), ints({{1, 2, 3}, {0, 0, 4}})));
  CHECK(equal(pad_left({{7}}, -5), ints({{7}})));
  CHECK(pad_left({}, 0).shape() == Shape{0, 0});
  REFUSES(pad_left({{1}, {}}, 0));
}

TEST_CASE("GPT with a mask: masked keys do not matter, all true changes nothing, the loss takes it too") {
  for (const GPTConfig& c : all_kinds()) {
    const GPT m = lively_gpt(c);
    const IntArray ids = random_tokens({3, 6}, 10, 3), targets = random_tokens({3, 6}, 10, 4);
    const Array whole = m(ids).array();
    CHECK(same_bits(m(ids, Mask({6, 6}, true)).array(), whole));
    const Mask keys = padding_mask({6, 4, 5}, 6);
    IntArray other = ids;
    other.mutate()[6 + 4] = 10;
    other.mutate()[6 + 5] = 10;
    other.mutate()[2 * 6 + 5] = 10;
    const Array y = m(ids, keys).array(), z = m(other, keys).array();
    CHECK(same_bits(copy_of(y.slice(1, 0, 4)), copy_of(z.slice(1, 0, 4))));
    Mask inner({3, 4, 6, 6}, true);  // one key hidden from all later queries
    for (Index row = 0; row < 3 * 4 * 6; ++row)
      if (row % 6 > 2) inner.mutate()[row * 6 + 2] = 0;
    const Array hidden = m(ids, inner).array();
    CHECK(same_bits(copy_of(hidden.slice(1, 0, 3)), copy_of(whole.slice(1, 0, 3))));
    CHECK(!same_bits(copy_of(hidden.slice(1, 5, 6)), copy_of(whole.slice(1, 5, 6))));
    const Tensor loss = m.loss(ids, targets, inner), by_hand = cross_entropy(Tensor(hidden), targets);
    CHECK(loss.item() == by_hand.item());
    REFUSES(m(ids, Mask({3, 6}, true)));
  }
}

TEST_CASE("GPT: log_probabilities score each token; minus their mean is the loss, to the last bit") {
  const GPT m = lively_gpt(toy());
  const IntArray ids = random_tokens({3, 8}, 11, 5);
  const Tensor scores = m.log_probabilities(ids);
  CHECK(scores.shape() == Shape{3, 7});
  const Tensor loss = m.loss(ids.slice(1, 0, 7), ids.slice(1, 1, 8));
  CHECK(-mean(scores).item() == loss.item());
  CHECK(perplexity(std::log(65.0)) == doctest::Approx(65.0));
  const Array logp = log_softmax(m(ids)).array();
  for (Index b = 0; b < 3; ++b)
    for (Index t = 0; t < 7; ++t) CHECK(scores.array().at({b, t}) == logp.at({b, t, ids.at({b, t + 1})}));
  zero_grad(m);
  loss.backward();
  const Array wanted = m.lm_head.weight.grad();
  zero_grad(m);
  (-mean(scores)).backward();
  CHECK(distance(m.lm_head.weight.grad().to_vector(), Value(wanted).x) < (f64 ? 1e-14 : 1e-6));
  CHECK(m.log_probabilities(random_tokens({2, 10}, 11, 5)).shape() == Shape{2, 9});  // reads the first block_size 9
  CHECK(m.log_probabilities(ints({{3}})).shape() == Shape{1, 0});
  REFUSES(m.log_probabilities(ints({3})));
  REFUSES(m.log_probabilities(random_tokens({2, 11}, 11, 5)));
}

}  // namespace
}  // namespace mote::test::generate_padded_test
