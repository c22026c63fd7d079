// TokenChooser against the formula that sorts all of V, on logits with equals, gaps and edges.
#include "models/choose_token.h"

#include "tests/models/gpt_tools.h"

namespace mote::test::choose_token_test {
namespace {

/// The formula: top_k by a mask, softmax, top_p by a stable sort, min_p, multinomial.
Index by_sorting(const Array& logits, const GenerateOptions& o, const Generator& random) {
  const Index V = logits.shape()[1];
  if (static_cast<real>(o.temperature) == 0) return argmax(logits).item();
  Tensor allowed = logits;
  if (o.top_k > 0 && o.top_k < V) {
    std::vector<real> sorted = logits.to_vector();
    std::stable_sort(sorted.begin(), sorted.end(), std::greater<real>());
    allowed =
        masked_fill(logits, Tensor(logits) < Tensor(sorted[at(o.top_k - 1)]), -std::numeric_limits<double>::infinity());
  }
  const double temperature = std::min(o.temperature, static_cast<double>(std::numeric_limits<real>::max()));
  std::vector<real> p = softmax((allowed - max(Tensor(logits), {1}, true)) / temperature).to_vector();
  if (o.top_p < 1) {
    std::vector<std::size_t> order(p.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return p[i] > p[j]; });
    double reached = 0;
    for (const std::size_t i : order) reached >= o.top_p ? p[i] = 0 : reached += static_cast<double>(p[i]);
  }
  if (o.min_p > 0) {
    const real least = static_cast<real>(o.min_p) * *std::max_element(p.begin(), p.end());
    for (real& x : p) x = x < least ? real(0) : x;
  }
  return multinomial(Array({1, V}, p), 1, random).item();
}

Array logits_of(Index V, std::uint64_t seed) {
  Array x = random_array({1, V}, seed, -4, 4);
  real* const row = x.mutate();
  for (Index i = 0; i < V; ++i) {
    if (seed % 4 == 1) row[i] = std::round(row[i]);                               // many equals, and -0 beside 0
    if (seed % 4 == 2) row[i] *= 8;                                               // a few likely ones
    if (seed % 4 == 3 && i % 3) row[i] = -std::numeric_limits<real>::infinity();  // impossible ones
    if (seed % 7 == 0) row[i] = real(0.25);                                       // all equal
  }
  return x;
}

TEST_CASE("TokenChooser draws the token that the formula draws which sorts all of V") {
  std::vector<GenerateOptions> all{
      {}, {.temperature = 0}, {.temperature = 1e-50}, {.temperature = 1e300}, {.min_p = 0.1}, {.min_p = 1}};
  for (const double temperature : {0.3, 1.0, 2.0}) {
    for (const Index top_k : {1, 2, 5, 26, 40, 1999}) all.push_back({.temperature = temperature, .top_k = top_k});
    for (const double top_p : {5e-324, 0.1, 0.25, 0.5, 0.9, 0.99, 1 - 1e-7, 1 - 1e-16})
      all.push_back({.temperature = temperature, .top_p = top_p});
    all.push_back({.temperature = temperature, .top_k = 30, .top_p = 0.7, .min_p = 0.05});
  }
  for (const Index V : {1, 2, 27, 300, 2000})
    for (const GenerateOptions& o : all) {
      const Generator random(5), same(5);
      TokenChooser choose(o, random, V);
      for (std::uint64_t seed = 1; seed <= 14; ++seed) {
        const Array logits = logits_of(V, seed);
        const Index expected = by_sorting(logits, o, same);
        CAPTURE(V);
        CAPTURE(seed);
        CAPTURE(fields_text(o));
        REQUIRE(choose(logits.data(), choose.largest(logits.data(), 0)) == expected);
        REQUIRE(random.get_state() == same.get_state());
      }
    }
}

TEST_CASE("generate draws each row's token from that row's logits, in the order of the rows") {
  GPT m = lively_gpt(toy(Position::none), 0.3);
  const IntArray ids = random_tokens({6, 2}, 11, 5);
  const Array logits = m(ids).array().select(1, -1);
  for (const GenerateOptions& o : {GenerateOptions{.temperature = 0.8, .top_p = 0.6}, {.top_k = 3, .min_p = 0.2}}) {
    const Generator random(3), same(3);
    const IntArray text = m.generate(ids, 1, o, random);
    for (Index b = 0; b < 6; ++b) CHECK(text.at({b, 2}) == by_sorting(logits.slice(0, b, b + 1), o, same));
    CHECK(random.get_state() == same.get_state());
  }
}

TEST_CASE("TokenChooser: builds of PyTorch that draw one word for all times are followed, too") {
  const Generator random(5), same(5);
  random.set_build({.mkl = true, .version = 206});
  same.set_build({.mkl = true, .version = 206});
  TokenChooser choose({}, random, 300);
  for (std::uint64_t seed = 1; seed <= 14; ++seed) {
    const Array logits = logits_of(300, seed);
    REQUIRE(choose(logits.data(), choose.largest(logits.data(), 0)) == by_sorting(logits, {}, same));
  }
}

}  // namespace
}  // namespace mote::test::choose_token_test
