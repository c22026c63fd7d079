// GPT::generate: what it draws against a formula of its own, extremes, stop token, callback, modes, refusals.
#include "tests/models/gpt_tools.h"

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
  for (Index v = 0; v < V; ++v) in.mutate()[v * 8 + v] = 5, out.mutate()[(v + 1) % V * 8 + v] = 5;
  m.transformer.wte.weight.set(in);
  m.lm_head.weight.set(out);
  return m;
}

/// Probabilities after temperature, then top_k, then top_p, then min_p: what multinomial() has to draw from.
std::vector<double> chances(const std::vector<double>& logits, const GenerateOptions& o) {
  std::vector<std::pair<double, std::size_t>> p;  // the likeliest first, of equals the lower id
  for (std::size_t v = 0; v < logits.size(); ++v) p.emplace_back(-std::exp(logits[v] / o.temperature), v);
  std::sort(p.begin(), p.end());
  std::size_t kept = p.size();
  if (o.top_k > 0 && at(o.top_k) < kept) {
    kept = at(o.top_k);
    while (kept < p.size() && p[kept].first == p[kept - 1].first) ++kept;
  }
  const auto sum = [&] {
    double total = 0;
    for (std::size_t i = 0; i < kept; ++i) total -= p[i].first;
    return total;
  };
  double total = sum(), reached = 0;
  for (std::size_t i = 0; i < kept && o.top_p < 1; ++i) {
    reached -= p[i].first / total;
    if (reached >= o.top_p) kept = i + 1;
  }
  while (-p[kept - 1].first < o.min_p * -p[0].first) --kept;
  total = sum();
  std::vector<double> chance(logits.size(), 0);
  for (std::size_t i = 0; i < kept; ++i) chance[p[i].second] = -p[i].first / total;
  return chance;
}

/// How often each token comes.
std::vector<Index> counts(GPT& m, const GenerateOptions& options, Index rows, std::uint64_t seed = 3) {
  const IntArray all = m.generate(IntArray({rows, 1}), 1, options, Generator(seed));
  std::vector<Index> n(at(V), 0);
  for (Index b = 0; b < rows; ++b) ++n[at(all.data()[b * 2 + 1])];
  return n;
}

const std::vector<double> some{0.5, -1, 2, 0, 1.5, -3, 1};

TEST_CASE("generate: temperature, top_k, top_p and min_p, alone and together, draw what a formula of its own says") {
  GPT m = constant_model(some);
  const double limit[7] = {0, 15.2, 18.5, 21.2, 23.6, 25.8, 27.9};  // chi-square exceeded once in 10,000
  std::vector<GenerateOptions> all{{.temperature = 0.7, .top_k = 3, .top_p = 0.8},
                                   {.temperature = 2.5, .top_k = 3, .top_p = 0.8},
                                   {.temperature = 2.5, .top_k = 12, .top_p = 0.55},
                                   {.temperature = 2.5, .top_p = 0.97, .min_p = 0.2}};
  for (const double temperature : {0.5, 1.0, 3.0}) all.push_back({.temperature = temperature});
  for (const Index top_k : {1, 2, 3, 7, 12}) all.push_back({.top_k = top_k});
  for (const double top_p : {1e-9, 0.3, 0.55, 0.8, 0.97}) all.push_back({.top_p = top_p});
  for (const double min_p : {0.03, 0.2, 1.0}) all.push_back({.min_p = min_p});
  for (const GenerateOptions& o : all) {
    const std::vector<double> chance = chances(some, o);
    const Index rows = 20000;
    const std::vector<Index> n = counts(m, o, rows);
    double chi_square = 0;
    int possible = 0;
    for (std::size_t v = 0; v < at(V); ++v) {
      if (chance[v] == 0) {
        CHECK_MESSAGE(n[v] == 0, "token ", v, ": ", fields_text(o));
        continue;
      }
      const double expected = static_cast<double>(rows) * chance[v], off = static_cast<double>(n[v]) - expected;
      chi_square += off * off / expected;
      ++possible;
    }
    CHECK_MESSAGE(chi_square <= limit[possible - 1] + 1e-9, fields_text(o));
  }
}

TEST_CASE("generate: among equals greedy takes the lowest id") {
  GPT equal = constant_model({0, 1, 3, 2, 3, 3, 0});
  CHECK(equal.generate(ints({{0}}), 2) == ints({{0, 2, 2}}));
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

TEST_CASE("generate: min_p keeps the likeliest, what equals it, and what is exactly at the limit") {
  GPT half = constant_model({2, 2, 1, 2, 1, -1e30, 1});
  const auto possible = [&](double min_p) {
    std::vector<Index> ids;
    const std::vector<Index> n = counts(half, {.temperature = 1 / std::log(2.0), .min_p = min_p}, 400);
    for (std::size_t v = 0; v < n.size(); ++v)
      if (n[v] > 0) ids.push_back(static_cast<Index>(v));
    return ids;
  };
  using Ids = std::vector<Index>;
  CHECK(possible(1) == Ids{0, 1, 3});
  CHECK(possible(0.51) == Ids{0, 1, 3});
  CHECK(possible(0.49) == Ids{0, 1, 2, 3, 4, 6});  // half as likely
  CHECK(possible(0) == Ids{0, 1, 2, 3, 4, 6});
  const GenerateOptions greedy{.temperature = 0, .min_p = 1};
  CHECK(half.generate(ints({{1}}), 1, greedy, Generator(1)) == ints({{1, 0}}));
}

TEST_CASE("generate: a token at -infinity is never chosen; when only one is not, it always is") {
  constexpr double never = -std::numeric_limits<double>::infinity();
  GPT one = constant_model({never, never, never, -7, never, never, never});
  GPT two = constant_model({never, 3, never, never, never, 3, never});
  GPT none = constant_model(std::vector<double>(at(V), never));
  for (const GenerateOptions& o : {GenerateOptions{}, GenerateOptions{.temperature = 0}, GenerateOptions{.top_k = 3},
                                   GenerateOptions{.top_p = 0.9}, GenerateOptions{.temperature = 1e6, .top_k = 5},
                                   GenerateOptions{.temperature = 1e39},  // above the largest float
                                   GenerateOptions{.temperature = std::numeric_limits<double>::max()}}) {
    CHECK(counts(one, o, 100)[3] == 100);
    const std::vector<Index> n = counts(two, o, 100);
    CHECK(n[1] + n[5] == 100);
    CHECK((n[5] > 0) == (o.temperature > 0));
    if (o.temperature > 0) CHECK(error_of([&] { counts(none, o, 1); }) != "(no error)");  // nothing to draw from
  }
}

TEST_CASE("generate: top_k tells logits apart that differ in their last bit") {
  const real low = real(0.1), high = std::nextafter(low, real(1));
  GPT m = constant_model({3, static_cast<double>(high), static_cast<double>(low), -1, -1, -1, -1});
  const Generator random(3);
  for (int i = 0; i < 300; ++i) {
    const IntArray y = m.generate(ints({{1}}), 1, {.top_k = 2}, random);
    CHECK(y.data()[1] <= 1);
  }
}

TEST_CASE("generate: each row of a batch has a nucleus of its own") {
  GPTConfig c = toy(Position::none);
  GPT m = lively_gpt(c, 0.3);
  const IntArray ids = random_tokens({6, 2}, 11, 5);
  const Array logits = m(ids).array().select(1, -1);
  std::vector<std::vector<bool>> drawn(6, std::vector<bool>(11, false));
  const GenerateOptions o{.temperature = 0.8, .top_p = 0.6};
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const IntArray text = m.generate(ids, 1, o, Generator(seed));
    for (Index b = 0; b < 6; ++b) drawn[at(b)][at(text.data()[b * 3 + 2])] = true;
  }
  for (Index b = 0; b < 6; ++b) {
    const std::vector<double> chance = chances(Value(logits.select(0, b)).x, o);
    for (std::size_t v = 0; v < 11; ++v) CHECK(drawn[at(b)][v] == (chance[v] > 0));
  }
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
  CHECK(m.generate(prompt, 3) == ints({{1, 2, 3, 4}, {4, 5, 6, 0}, {2, 3, 4, 5}, {4, 5, 6, 0}}));
  for (const bool cached : {true, false}) {
    const GenerateOptions stop5{.temperature = 0, .stop_token = 5, .use_cache = cached};
    CHECK(m.generate(prompt, 20, stop5, Generator(1)) ==
          ints({{1, 2, 3, 4, 5}, {4, 5, 5, 5, 5}, {2, 3, 4, 5, 5}, {4, 5, 5, 5, 5}}));
    CHECK(m.generate(prompt, 2, stop5, Generator(1)) == ints({{1, 2, 3}, {4, 5, 5}, {2, 3, 4}, {4, 5, 5}}));
    // a prompt that ends with the stop token has not written it
    CHECK(m.generate(ints({{5}}), 9, stop5, Generator(1)) == ints({{5, 6, 0, 1, 2, 3, 4, 5}}));
    CHECK(m.generate(ints({{4}}), 9, stop5, Generator(1)) == ints({{4, 5}}));  // the first token stops
  }
  const GenerateOptions never{.temperature = 0, .stop_token = 0};
  CHECK(m.generate(ints({{1}}), 3, never, Generator(1)) == ints({{1, 2, 3, 4}}));
  const GenerateOptions none{.temperature = 0, .stop_token = -1};
  CHECK(m.generate(ints({{1}}), 0, none, Generator(1)) == ints({{1}}));
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
  CHECK(m.generate(prompt, 9, o, Generator(1)) == ints({{1, 2, 3, 4}, {4, 5, 5, 5}}));
  CHECK(seen == std::vector<IntArray>{ints({2, 5}), ints({3, 5}), ints({4, 5})});
  seen.clear();
  CHECK(m.generate(prompt, 0, o, Generator(1)) == prompt);
  CHECK(seen.empty());
  o.on_token = [&](const IntArray& newest) {
    seen.push_back(newest);
    return true;
  };
  CHECK(m.generate(prompt, 9, o, Generator(1)) == ints({{1, 2, 3, 4, 5}, {4, 5, 5, 5, 5}}));
  CHECK(seen.size() == 4);  // the last one, too, and none after all rows have finished
  o.on_token = [](const IntArray&) -> bool { throw Error("enough"); };
  m.train();
  CHECK(error_of([&] { m.generate(prompt, 9, o, Generator(1)); }) == "enough");
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
  CHECK(refused({.pad_token = -2}) == "generate: pad_token -2 must be an id, or -1 for none");
  CHECK(refused({.pad_token = 1}) == "generate: row 0 of ids is nothing but pad_token 1");
  CHECK(error_of([&] {
          m.generate(ints({{2, 1}, {2, 0}}), 1, {.pad_token = 0}, Generator(1));
        }) == "generate: row 1 of ids ends with pad_token 0: prompts are padded on the left, by pad_left()");
  CHECK(error_of([] { pad_left({{1}, {0, 2}}, 0); }) == "pad_left: prompt 1 begins with 0, which would become padding");
  CHECK(refused({.top_k = -1}) == "generate: top_k -1 must be at least 0");
  CHECK(refused({.stop_token = 7}) == "generate: stop_token 7 is out of range for V = 7");
  CHECK(refused({.stop_token = -2}) == "generate: stop_token -2 is out of range for V = 7");
  GPT uneven = m.clone();
  const auto after = [&](const IntArray& ids) { return error_of([&] { uneven.generate(ids, 1); }); };
  const std::string none = "(no error)", overflow = "generate: the logits after position 0 contain NaN or infinity";
  Index fine = V, bad = V, column = 0;
  for (; column < 8 && (fine == V || bad == V); ++column) {  // until the last logit is -inf for one, inf for another
    uneven =
        lively_gpt({.block_size = 6, .vocab_size = V, .n_layer = 1, .n_head = 2, .n_embd = 8, .tie_weights = false});
    uneven.lm_head.weight.mutate()[(V - 1) * 8 + column] = std::numeric_limits<real>::infinity();
    fine = bad = V;
    for (Index id = 0; id < V; ++id) (after(IntArray::full({1, 1}, id)) == none ? fine : bad) = id;
  }
  REQUIRE((fine < V && bad < V));
  CHECK(after(IntArray({2, 1}, std::vector<Index>{fine, bad})) == overflow);
  CHECK(after(IntArray({2, 1}, std::vector<Index>{bad, fine})) == overflow);
  CHECK(error_of([&] { m.generate(IntArray({1, 0}), 1); }) == "generate: ids [1, 0] must be [B, T] with T at least 1");
  CHECK(error_of([&] { m.generate(ints({1, 2}), 1); }) == "generate: ids [2] must be [B, T] with T at least 1");
  CHECK(error_of([&] { m.generate(ints({{1}}), -1); }) == "generate: count -1 must be at least 0");
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
                         : "generate: the logits after position 0 contain NaN or infinity"));
    }
}

TEST_CASE("generate runs in evaluation mode, without gradients, leaves nothing behind and restores every mode") {
  GPTConfig c = toy(Position::rotary);
  c.dropout = 0.4, c.block.attention.window = 4;
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
    CHECK(text == expected);
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
