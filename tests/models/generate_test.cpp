// GPT::generate: crops, greedy, temperature, top_k, errors, modes.
#include "tests/models/gpt_tools.h"

namespace mote::test::generate_test {
namespace {

const GPTConfig small{.block_size = 6, .vocab_size = 7, .n_layer = 1, .n_head = 2, .n_embd = 8};

GPT lively(double dropout = 0) {
  GPTConfig c = small;
  c.dropout = dropout;
  c.tie_weights = false;  // tied, such a model repeats its last token for ever
  Generator random(1);
  GPT m(c, random);
  scramble(m);
  for (const NamedParameter& p : named_parameters(m))  // and biases outshout what it has read
    if (p.name.ends_with("bias")) p.parameter.set(Array::zeros(p.parameter.shape()));
  return m;
}

/// How often each token comes in `rows` draws.
std::vector<double> frequencies(GPT& m, const GenerateOptions& options, Index rows, std::uint64_t seed = 3) {
  const IntArray all = m.generate(IntArray({rows, 1}), 1, options, Generator(seed));
  std::vector<double> share(7, 0);
  for (Index b = 0; b < rows; ++b)
    share[static_cast<std::size_t>(all.data()[b * 2 + 1])] += 1 / static_cast<double>(rows);
  return share;
}

const std::vector<double> some{0.5, -1, 2, 0, 1.5, -3, 1};

TEST_CASE("generate: greedy appends the likeliest token of each row, from the last block_size tokens") {
  GPT m = lively();
  IntArray prompt({16, 2});
  Generator(3).randint({prompt.mutate(), 32}, 0, 7);
  const IntArray all = m.generate(prompt, 10);
  REQUIRE(all.shape() == Shape{16, 12});
  CHECK(all.slice(1, 0, 2) == prompt);
  const auto next_after = [&](Index start, Index end) {
    return argmax(Tensor(m(all.slice(1, start, end)).array().select(1, -1)), -1).reshape({16, 1});
  };
  Index one_shorter_differs = 0;  // among full contexts
  for (Index T = 2; T < 12; ++T) {
    CHECK(next_after(std::max<Index>(0, T - 6), T) == all.slice(1, T, T + 1));
    one_shorter_differs += T >= 6 && !(next_after(T - 5, T) == all.slice(1, T, T + 1));
  }
  CHECK(one_shorter_differs > 1);              // or this would prove little
  const IntArray longer = all.slice(1, 0, 9);  // a prompt beyond block_size: only its last six tokens count
  CHECK(m.generate(longer, 3).slice(1, 9, 12) == m.generate(longer.slice(1, 3, 9), 3).slice(1, 6, 9));
  CHECK(m.generate(prompt, 0) == prompt);
  for (Index b = 0; b < 16; ++b)  // a row does not depend on the rest of its batch
    CHECK(m.generate(prompt.slice(0, b, b + 1), 10) == all.slice(0, b, b + 1));
}

TEST_CASE("generate: among equals greedy takes the lowest id") {
  GPT equal = constant_model({0, 1, 3, 2, 3, 3, 0}), flat = constant_model({1, 1, 1, 1, 1, 1, 1});
  CHECK(equal.generate(ints({{0}}), 2) == ints({{0, 2, 2}}));
  CHECK(flat.generate(ints({{5}}), 1) == ints({{5, 0}}));
}

TEST_CASE("generate: sampling follows the softmax, at every temperature") {
  GPT m = constant_model(some);
  for (const double temperature : {0.5, 1.0, 3.0}) {
    const std::vector<double> share = frequencies(m, {.temperature = temperature}, 20000);
    double total = 0;
    for (const double logit : some) total += std::exp(logit / temperature);
    double chi_square = 0;
    for (std::size_t v = 0; v < 7; ++v) {
      const double p = std::exp(some[v] / temperature) / total;
      chi_square += 20000 * (share[v] - p) * (share[v] - p) / p;
    }
    CHECK(chi_square < 27.9);  // six degrees of freedom: exceeded once in 10,000
  }
  CHECK(frequencies(m, {.temperature = 1e-6}, 500) == frequencies(m, {.temperature = 0}, 500));
  for (const double share : frequencies(m, {.temperature = 1e6}, 20000)) CHECK(std::abs(share - 1 / 7.0) < 5 * 0.0025);
}

TEST_CASE("generate: top_k keeps the k likeliest; 0 and more than V keep all") {
  GPT m = constant_model(some);
  const GenerateOptions all{}, none{.top_k = 0}, beyond{.top_k = 12};
  CHECK(frequencies(m, all, 500) == frequencies(m, beyond, 500));
  CHECK(frequencies(m, all, 500) == frequencies(m, none, 500));
  CHECK(frequencies(m, {.top_k = 1}, 200)[2] == doctest::Approx(1));
  const std::vector<double> two = frequencies(m, {.top_k = 2}, 20000);
  CHECK(two[2] + two[4] == doctest::Approx(1));
  CHECK(std::abs(two[2] - 1 / (1 + std::exp(-0.5))) < 5 * 0.0035);
}

TEST_CASE("generate: the same seed gives the same text, with any number of threads") {
  GPT m = lively();
  const IntArray prompt = ints({{1, 2}, {3, 4}, {5, 6}});
  const GenerateOptions options{.temperature = 1.5, .top_k = 5};
  const IntArray first = m.generate(prompt, 9, options, Generator(8));
  for (const int n : {1, 8}) {
    const Hardware use(kernels::table(), n);
    CHECK(m.generate(prompt, 9, options, Generator(8)) == first);
  }
  CHECK(!(m.generate(prompt, 9, options, Generator(9)) == first));
}

TEST_CASE("generate refuses what it cannot mean") {
  GPT m = lively();
  const auto refused = [&](const GenerateOptions& o) {
    return error_of([&] { m.generate(ints({{1}}), 1, o, Generator(1)); });
  };
  CHECK(refused({.temperature = -1}) == "generate: temperature -1 must be at least 0 and finite");
  CHECK(refused({.temperature = std::nan("")}) == "generate: temperature nan must be at least 0 and finite");
  CHECK(refused({.temperature = static_cast<double>(inf)}) ==
        "generate: temperature inf must be at least 0 and finite");
  CHECK(refused({.top_k = -1}) == "generate: top_k -1 must be at least 0");
  CHECK(error_of([&] { m.generate(IntArray({1, 0}), 1); }) == "generate: ids [1, 0] must be [B, T] with T at least 1");
  CHECK(error_of([&] { m.generate(ints({1, 2}), 1); }) == "generate: ids [2] must be [B, T] with T at least 1");
  CHECK(error_of([&] { m.generate(ints({{1}}), -1); }) == "generate: count -1 must be at least 0");
  CHECK(error_of([&] { m.generate(ints({{9}}), 1); }).rfind("embedding: id 9 is out of range for V = 7", 0) == 0);
}

TEST_CASE("generate refuses logits that are not numbers, and takes a certain one") {
  GPT broken = constant_model({0, 0, static_cast<double>(nan), 0, 0, 0, 0});
  for (const double temperature : {0.0, 1.0})
    CHECK(error_of([&] { broken.generate(ints({{1}}), 1, {.temperature = temperature}, Generator(1)); }) ==
          "generate: the logits after position 0 contain NaN or infinity");
  GPT certain = constant_model({-1e30, -1e30, -1e30, 5, -1e30, -1e30, -1e30});
  CHECK(frequencies(certain, {}, 100)[3] == doctest::Approx(1));
}

TEST_CASE("generate runs in evaluation mode, without gradients, and restores every mode") {
  GPT m = lively(0.5), without = lively(0);
  copy_weights(m, without);
  m.transformer.h[0].attn.eval();  // a part that stays in evaluation while the rest trains
  const IntArray prompt = ints({{1, 2}});
  const auto modes = [](GPT& model) {
    std::vector<bool> on;
    for (const Module* part : Fields(model).modules) on.push_back(part->training());
    return on;
  };
  const std::vector<bool> before = modes(m);
  const GeneratorState state = m.transformer.drop.random.get_state();
  const Leaks leaks;
  {
    const IntArray text = m.generate(prompt, 5);
    CHECK(text == without.generate(prompt, 5));
  }
  CHECK(m.transformer.drop.random.get_state() == state);
  CHECK(leaks.nodes() == 0);
  CHECK(!NoGrad::active());
  CHECK(modes(m) == before);
  error_of([&] { m.generate(ints({{9}}), 1); });
  CHECK(modes(m) == before);
  m.eval();
  m.generate(prompt, 1);
  CHECK(!m.training());
}

}  // namespace
}  // namespace mote::test::generate_test
