// A GPT with GatedMlp in its block, and with Mix before attention in one block or in all, as nn/put_it_into_gpt.md puts
// them there: it trains, generates with a cache where each position stands alone, and refuses to where it does not.
// readme.cmake builds it with the edited block.
#include <cmath>
#include <cstdio>
#include <map>

#include "engine/engine.h"
#include "models/models.h"
#include "train/train.h"

using namespace mote;

namespace {

int failed = 0;

void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::printf("not so: %s\n", what.c_str());
  ++failed;
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

GPT fresh(Position position, Index block_size = 24) {
  GPTConfig c{.block_size = block_size, .vocab_size = 13, .n_layer = 2, .n_head = 2, .n_embd = 12};
  c.position = position;
  GPT model(c, Generator(1));
  const Generator random(2);
  for (const NamedParameter& p : named_parameters(model))
    p.parameter.set((Tensor(p.parameter.value()) + randn(p.parameter.shape(), random) * 0.3).array());
  model.eval();
  return model;
}

/// x at the positions t - by, 0 before the first.
Tensor shifted(const Tensor& x, Index by) {
  const Index T = x.size(1), kept = std::max<Index>(0, T - by);
  return concat({zeros({x.size(0), T - kept, x.size(2)}), slice(x, 1, 0, kept)}, 1);
}

Tensor convolution(const Tensor& x, const Tensor& w) {
  Tensor y = x;
  for (Index k = 0; k < 3; ++k) y = y + linear(shifted(x, k), select(w, 0, k));
  return y;
}

Tensor running_mean(const Tensor& x, const Tensor&) {
  const Index T = x.size(1);
  Array weights = Array::zeros({T, T});
  for (Index i = 0; i < T; ++i)
    for (Index j = 0; j <= i; ++j) weights.mutate()[i * T + j] = real(1) / static_cast<real>(i + 1);
  return matmul(Tensor(weights), x);
}

/// By the first position's own value instead of zeros, as many would write it.
Tensor clamped(const Tensor& x, Index by) {
  const Index T = x.size(1), kept = std::max<Index>(0, T - by);
  std::vector<Tensor> parts(static_cast<std::size_t>(T - kept), slice(x, 1, 0, 1));
  parts.push_back(slice(x, 1, 0, kept));
  return concat(parts, 1);
}

void mixing() {
  const std::map<std::string, Mix::Function> kinds{
      {"convolution", convolution},
      {"shift", [](const Tensor& x, const Tensor&) { return x + shifted(x, 1); }},
      {"shift by three", [](const Tensor& x, const Tensor&) { return x + shifted(x, 3); }},
      {"shift by three, clamped", [](const Tensor& x, const Tensor&) { return x + clamped(x, 3); }},
      {"shift by fifteen", [](const Tensor& x, const Tensor&) { return x + shifted(x, 15); }},
      {"running mean", running_mean},
      {"long texts alone", [](const Tensor& x, const Tensor& w) { return x.size(1) > 9 ? running_mean(x, w) : x; }},
      {"an attention", [](const Tensor& x, const Tensor&) { return attention(x, x, x, {.causal = true}); }},
      {"from three positions on", [](const Tensor& x, const Tensor&) { return x + slice(x, 1, 2, 3); }},
  };
  const GenerateOptions whole{.temperature = 0, .use_cache = false};
  for (const auto& [name, f] : kinds)
    for (const Position position : {Position::learned, Position::rotary, Position::none})
      for (const Index first : {0, 1}) {  // in all blocks, or in the second alone
        GPT model = fresh(position);
        for (std::size_t l = static_cast<std::size_t>(first); l < 2; ++l)
          model.transformer.h[l].mix.emplace(12, Generator(3), f);
        for (const IntArray& prompt : {ints({{4}}), ints({{1, 1, 1, 1}}), ints({{1, 2, 3, 4, 5}, {5, 4, 3, 2, 1}})}) {
          if (name == "from three positions on" && prompt.shape()[1] < 3) continue;  // without a cache it fails, too
          const std::string text = error_of([&] { model.generate(prompt, 19); });
          expect(contains(text, "generate: ") && contains(text, "{.use_cache = false}"), name + ": " + text);
          const std::string layer = "transformer.h." + std::to_string(first) + ".mix";
          expect(contains(text, layer) && !contains(text, layer + "."), name + " is named: " + text);
          expect(model.generate(prompt, 6, whole, Generator()).shape()[1] == prompt.shape()[1] + 6, name);
          expect(error_of([&] { model.generate(prompt, 1); }).empty(), name + ": one token needs no cache");
        }
        const IntArray padded = pad_left({{1, 2, 3}, {4, 5, 6, 7}}, 12);
        expect(contains(error_of([&] { model.generate(padded, 19, {.temperature = 0, .pad_token = 12}, Generator()); }),
                        "use_cache"),
               name + ", padded");
      }
}

/// What looks at one position alone is never refused, whatever it is.
void each_alone() {
  const Mix::Function alone = [](const Tensor& x, const Tensor& w) { return gelu(linear(x, select(w, 0, 0))) + x; };
  for (const Position position :
       {Position::learned, Position::sinusoidal, Position::rotary, Position::alibi, Position::none})
    for (const Index block : {1, 2, 5, 24, 80}) {
      GPT model = fresh(position, block);
      for (TransformerBlock& b : model.transformer.h) b.mix.emplace(12, Generator(3), alone);
      const GenerateOptions with{}, without{.use_cache = false};
      for (const Index P : {1, 3, 30}) {
        const IntArray prompt = argmax(randn({2, P, 13}, Generator(static_cast<std::uint64_t>(P))));
        for (const Index count : {1, 2, 90})
          expect(equal(model.generate(prompt, count, with, Generator(7)),
                       model.generate(prompt, count, without, Generator(7))),
                 "the same text with and without a cache");
      }
    }
}

/// A Run of the library's own kind: its answers are compared, too.
void in_a_run() {
  const auto task = make_task("copy", {{"symbols", "4"}, {"length", "3"}});
  const auto model_for = [&] {
    return GPT(
        gpt_config({{"n_layer", "2"}, {"n_head", "2"}, {"n_embd", "16"}}, task->vocab_size(), task->block_size()),
        Generator(1));
  };
  Recipe recipe = task->recipe();
  recipe.max_iters = 20;
  GPT gated = model_for();
  Run run(*task, subject_of(gated), recipe);
  run.train([](const RunEvent&) {});
  expect(run.evaluator().ending(0).answers.has_value(), "a run of GatedMlp");
  GPT mixed = model_for();
  mixed.transformer.h[1].mix.emplace(16, Generator(3), convolution);
  const std::string text = error_of([&] {
    Run refused(*task, subject_of(mixed), recipe);
    refused.train([](const RunEvent&) {});
    refused.evaluator().ending(0);
  });
  expect(contains(text, "use_cache"), "a run refuses: " + text);
  Run whole(*task, subject_of(mixed, GenerateOptions{.use_cache = false}), recipe);
  whole.train([](const RunEvent&) {});
  expect(whole.evaluator().ending(0).answers.has_value(), "a run without a cache");
}

void taken_apart() {
  const GPT model = fresh(Position::learned);
  const Decomposition in(model, ints({{1, 2, 3}}));
  Tensor sum = zeros({1, 3});
  for (const auto& share : in.shares(ints({3}))) sum = sum + share.value;
  expect(max(abs(sum - select(in.logits, 2, 3))).item() < real(1e-4), "shares of an own network");
  expect(contains(error_of([&] { in.neuron_shares(0, ints({3})); }), "must be a FeedForward"),
         "an own network has no neurons");
}

}  // namespace

int main() {
  mixing();
  each_alone();
  in_a_run();
  taken_apart();
  std::printf("%s\n", failed ? "FAILED" : "own block: as it should be");
  return failed != 0;
}
