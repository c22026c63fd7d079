// GPT::generate: extremes (what it draws, choose_token_test says), stop token, callback, modes, refusals.
#include "tests/models/gpt_tools.h"
#include "tests/sentences.h"

namespace mote::test::generate_test {
namespace {

constexpr Index V = 7;

/// After token i comes token i + 1 mod 7: rows of a batch reach a stop token at different times.
GPT counting_model() {
  GPTConfig c{.block_size = 6, .vocab_size = V, .n_layer = 1, .n_head = 2, .n_embd = 8, .tie_weights = false};
  c.position = Position::none;
  Generator random(1);
  GPT m(c, random);
  for (const NamedParameter& p : named_parameters(m))
    if (p.name.find(".h.") != std::string::npos) p.parameter.set(Array::zeros(p.parameter.shape()));
  Array in = Array::zeros({V, 8}), out = Array::zeros({V, 8});
  for (Index v = 0; v < V; ++v) {
    in.mutate()[v * 8 + v] = 5;
    out.mutate()[(v + 1) % V * 8 + v] = 5;
  }
  m.transformer.wte.weight.set(in);
  m.lm_head.weight.set(out);
  return m;
}

/// How often each token comes.
std::vector<Index> counts(GPT& m, const GenerateOptions& options, Index rows, std::uint64_t seed = 3) {
  const IntArray all = m.generate(IntArray({rows, 1}), 1, options, Generator(seed));
  std::vector<Index> n(at(V), 0);
  for (Index b = 0; b < rows; ++b) ++n[at(all.data()[b * 2 + 1])];
  return n;
}

const std::vector<double> some{0.5, -1, 2, 0, 1.5, -3, 1};

TEST_CASE("generate: among equals greedy takes the lowest id") {
  GPT equal = constant_model({0, 1, 3, 2, 3, 3, 0});
  CHECK(mote::equal(equal.generate(ints({{0}}), 2), ints({{0, 2, 2}})));
}

TEST_CASE("generate: where equals meet the edge of top_k and top_p") {
  GPT four = constant_model({-1e30, 1, 1, -1e30, 1, 1, -1e30});  // a quarter each, exactly
  const auto possible = [&](const GenerateOptions& o) {
    std::vector<Index> ids;
    const std::vector<Index> n = counts(four, o, 400);
    for (std::size_t v = 0; v < n.size(); ++v)
      if (n[v] > 0) ids.push_back(static_cast<Index>(v));
    return ids;
  };
  using Ids = std::vector<Index>;
  CHECK(possible({.top_k = 2}) == Ids{1, 2, 4, 5});  // what equals the last of the k may be chosen, too
  CHECK(possible({.top_p = 0.25}) == Ids{1});        // of equals the lower ids, and no more than reach p
  CHECK(possible({.top_p = 0.26}) == Ids{1, 2});
  CHECK(possible({.top_p = 0.5}) == Ids{1, 2});
  CHECK(possible({.top_p = 0.75}) == Ids{1, 2, 4});
  CHECK(possible({.top_p = 1}) == Ids{1, 2, 4, 5});
  CHECK(possible({.top_p = 5e-324}) == Ids{1});
  CHECK(possible({.top_p = 1 - 1e-16}) == Ids{1, 2, 4, 5});
}

TEST_CASE("generate: extreme temperatures are greedy and uniform, in any number type") {
  GPT m = constant_model(some);
  for (const double temperature : {0.0, 1e-6, 1e-30, 1e-44, 1e-50, 1e-300, 5e-324}) {
    const std::vector<Index> n = counts(m, {.temperature = temperature}, 50);
    CHECK_MESSAGE(n[2] == 50, temperature);
  }
  for (const double temperature : {1e6, 1e38, 1e300})
    for (const Index n : counts(m, {.temperature = temperature}, 14000)) CHECK(std::abs(n - 2000) < 5 * 42);
}

TEST_CASE("generate: a stop token: finished rows repeat it, and the text ends with the last of them") {
  GPT m = counting_model();
  const IntArray prompt = ints({{1}, {4}, {2}, {4}});
  CHECK(equal(m.generate(prompt, 3), ints({{1, 2, 3, 4}, {4, 5, 6, 0}, {2, 3, 4, 5}, {4, 5, 6, 0}})));
  for (const bool cached : {true, false}) {
    const GenerateOptions stop5{.temperature = 0, .stop_token = 5, .use_cache = cached};
    CHECK(equal(m.generate(prompt, 20, stop5, Generator(1)),
                ints({{1, 2, 3, 4, 5}, {4, 5, 5, 5, 5}, {2, 3, 4, 5, 5}, {4, 5, 5, 5, 5}})));
    CHECK(equal(m.generate(prompt, 2, stop5, Generator(1)), ints({{1, 2, 3}, {4, 5, 5}, {2, 3, 4}, {4, 5, 5}})));
    // a prompt that ends with the stop token has not written it
    CHECK(equal(m.generate(ints({{5}}), 9, stop5, Generator(1)), ints({{5, 6, 0, 1, 2, 3, 4, 5}})));
    CHECK(equal(m.generate(ints({{4}}), 9, stop5, Generator(1)), ints({{4, 5}})));  // the first token stops
  }
  const GenerateOptions never{.temperature = 0, .stop_token = 0};
  CHECK(equal(m.generate(ints({{1}}), 3, never, Generator(1)), ints({{1, 2, 3, 4}})));
  const GenerateOptions none{.temperature = 0, .stop_token = -1};
  CHECK(equal(m.generate(ints({{1}}), 0, none, Generator(1)), ints({{1}})));
  CHECK(m.generate(IntArray({0, 3}), 2, {.temperature = 0}, Generator(1)).shape() == Shape{0, 5});
}

TEST_CASE("generate: the callback gets every token in order, and can end the text") {
  GPT m = counting_model();
  const IntArray prompt = ints({{1}, {4}});
  std::vector<IntArray> seen;
  GenerateOptions o{.temperature = 0, .stop_token = 5};
  o.on_token = [&](const IntArray& newest) {
    CHECK(NoGrad::active());
    seen.push_back(newest);
    return seen.size() < 3;
  };
  CHECK(equal(m.generate(prompt, 9, o, Generator(1)), ints({{1, 2, 3, 4}, {4, 5, 5, 5}})));
  CHECK(mote::equal(stack(seen), ints({{2, 5}, {3, 5}, {4, 5}})));
  seen.clear();
  CHECK(equal(m.generate(prompt, 0, o, Generator(1)), prompt));
  CHECK(seen.empty());
  o.on_token = [&](const IntArray& newest) {
    seen.push_back(newest);
    return true;
  };
  CHECK(equal(m.generate(prompt, 9, o, Generator(1)), ints({{1, 2, 3, 4, 5}, {4, 5, 5, 5, 5}})));
  CHECK(seen.size() == 4);  // the last one, too, and none after all rows have finished
  o.on_token = [](const IntArray&) -> bool { throw Error("enough"); };
  m.train();
  REFUSES(m.generate(prompt, 9, o, Generator(1)));
  CHECK((m.training() && !NoGrad::active()));
}

TEST_CASE("generate refuses what it cannot mean, and logits without a largest element") {
  GPT m = constant_model(some);
  const auto refused = [&](const GenerateOptions& o) {
    return error_of([&] { m.generate(ints({{1}}), 1, o, Generator(1)); });
  };
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (const auto& [bad, text] : {std::pair{-1.0, "-1"}, {std::nan(""), "nan"}, {infinite, "inf"}})
    CHECK(refused({.temperature = bad}) ==
          "generate: temperature " + std::string(text) + " must be at least 0 and finite");
  for (const auto& [bad, text] : {std::pair{0.0, "0"}, {-0.5, "-0.5"}, {1.5, "1.5"}, {std::nan(""), "nan"}})
    CHECK(refused({.top_p = bad}) == "generate: top_p " + std::string(text) + " must be in (0, 1]");
  for (const auto& [bad, text] : {std::pair{-0.1, "-0.1"}, {1.1, "1.1"}, {std::nan(""), "nan"}})
    CHECK(refused({.min_p = bad}) == "generate: min_p " + std::string(text) + " must be in [0, 1]");
  CHECK_SENTENCE(refused({.pad_token = -2}));
  CHECK_SENTENCE(refused({.pad_token = 1}));
  REFUSES(m.generate(ints({{2, 1}, {2, 0}}), 1, {.pad_token = 0}, Generator(1)));
  REFUSES(pad_left({{1}, {0, 2}}, 0));
  CHECK_SENTENCE(refused({.top_k = -1}));
  CHECK_SENTENCE(refused({.stop_token = 7}));
  CHECK_SENTENCE(refused({.stop_token = -2}));
  GPT uneven = counting_model();  // of which token 3 alone has logits that are none
  uneven.transformer.wte.weight.mutate()[3 * 8] = std::numeric_limits<real>::infinity();
  const std::string not_finite =
      "generate: the logits after position 0 contain NaN or infinity: weights that are not finite, or a learning rate "
      "too high; MOTE_CHECK=finite shows where it starts";
  const auto after = [&](const IntArray& ids) { return error_of([&] { uneven.generate(ids, 1); }); };
  CHECK(after(ints({{1}, {4}})) == "(no error)");
  for (const IntArray& ids : {ints({{1}, {3}}), ints({{3}, {1}})}) CHECK(after(ids) == not_finite);
  REFUSES(m.generate(IntArray({1, 0}), 1));
  REFUSES(m.generate(ints({1, 2}), 1));
  REFUSES(m.generate(ints({{1}}), -1));
  for (const double temperature : {0.0, 1.0})
    for (const double bad : {std::nan(""), infinite, -infinite}) {
      std::vector<double> logits(V, bad == -infinite ? bad : 0);
      logits[3] = bad;
      GPT broken = constant_model(logits);
      for (const double top_p : {0.5, 1.0})
        CHECK(error_of([&] {
                broken.generate(ints({{1}}), 1, {.temperature = temperature, .top_p = top_p}, Generator(1));
              }) == (bad == -infinite
                         ? "generate: the logits after position 0 are all -infinity: no token is left to choose"
                         : not_finite));
    }
}

TEST_CASE("generate runs in evaluation mode, without gradients, leaves nothing behind and restores every mode") {
  GPTConfig c = toy(Position::rotary);
  c.dropout = 0.4;
  c.block.attention.window = 4;
  GPT m = lively_gpt(c);
  const IntArray prompt = random_tokens({2, 3}, 11, 2), expected = m.generate(prompt, 15);
  m.train();
  m.transformer.h[0].attn.eval();  // a part that stays in evaluation while the rest trains
  const auto modes = [&m] {
    std::vector<bool> on;
    for (const Module* part : Fields(m).modules) on.push_back(part->training());
    return on;
  };
  const std::vector<bool> before = modes();
  const GeneratorState state = m.transformer.drop.random.get_state();
  const Leaks leaks;
  {
    const IntArray text = m.generate(prompt, 15);
    CHECK(equal(text, expected));
  }
  CHECK((leaks.nodes() == 0 && leaks.bytes() == 0));
  CHECK(m.transformer.drop.random.get_state() == state);
  CHECK(!NoGrad::active());
  CHECK(modes() == before);
  CHECK(error_of([&] { m.generate(ints({{11}}), 1); }).rfind("embedding: id 11 is out of range for V = 11", 0) == 0);
  CHECK(modes() == before);
}

}  // namespace
}  // namespace mote::test::generate_test
