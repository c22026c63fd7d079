// Lesson 13. Sampling: how a model writes, one token after the other; what temperature, top-k and top-p do; and why
// earlier tokens need not be computed again.
#include <cmath>

#include "engine/engine.h"
#include "examples/lessons/lesson.h"
#include "examples/lessons/names.h"
#include "models/gpt.h"
#include "nn/trace.h"
#include "train/optim/adamw.h"

using namespace mote;

namespace {
constexpr Index longest = 12;  // the largest number of tokens that the model reads

/// The chance of each token to be chosen next, from the scores s [V]. The chances need not sum to 1, because the draw
/// only needs their ratios.
Tensor chances(const Tensor& s, const GenerateOptions& o) {
  if (o.temperature == 0) return tensor(s == max(s));  // only the likeliest token: the limit of the formula below
  // top-k: a score stays if fewer than k scores are larger. The other scores become -infinity, and e^-infinity is 0.
  const Tensor larger = sum(tensor(s > unsqueeze(s, 1)), {1});
  const Tensor kept = o.top_k == 0 ? s : masked_fill(s, larger >= Tensor(o.top_k), -INFINITY);
  // Temperature t: p_i = e^(s_i / t) / (sum of all e^(s_j / t)). The largest score is subtracted first. This changes
  // no p, and without it the division by a low t might overflow.
  const Tensor p = softmax((kept - max(s)) / o.temperature);
  // top-p: a token stays if all likelier tokens together have a probability below top_p.
  const Tensor likelier = matmul(tensor(p > unsqueeze(p, 1)), p);
  return o.top_p == 1 ? p : masked_fill(p, likelier >= Tensor(o.top_p), 0);
}

/// Writes a name as ids [1, n]: a 0, the letters, and the 0 that ends the name. For each new letter the model reads
/// everything that was written so far.
IntArray write_name(const GPT& model, const GenerateOptions& options, const Generator& random) {
  IntArray ids({1, 1});
  for (Index t = 0; t < longest && (t == 0 || ids.at({0, t}) != 0); ++t) {
    const Tensor scores = select(select(model(ids), 0, 0), 0, t);  // after the last token, [V]
    const IntArray next = multinomial(chances(scores, options), 1, random);
    ids = concat({ids, next.unsqueeze(0)}, 1);
  }
  return ids;
}

void ways_to_choose(GPT& model) {
  const std::vector<GenerateOptions> ways = {{.temperature = 0}, {.temperature = 0.5}, {},
                                             {.temperature = 2}, {.top_k = 2},         {.top_p = 0.8}};
  std::printf(
      "1. Chances of five tokens whose scores are\n"
      "   temperature  top-k  top-p       2     1   0.5     0    -1   and names, drawn by such chances\n");
  std::vector<std::vector<real>> p;
  bool same = true;
  for (GenerateOptions o : ways) {
    const Tensor left = chances(tensor({2, 1, 0.5, 0, -1}), o);
    p.push_back((left / sum(left)).to_vector());
    std::printf("   %11g %6d %6g  ", o.temperature, static_cast<int>(o.top_k), o.top_p);
    for (const real chance : p.back()) std::printf(" %5.3f", static_cast<double>(chance));
    o.stop_token = 0;
    const Generator random(4), again(4);
    for (int i = 0; i < 4; ++i) {
      const IntArray name = write_name(model, o, random);
      for (const Index x : name.to_vector()) std::printf("%c", x == 0 ? ' ' : letter(x));
      same = same && equal(name, model.generate(IntArray({1, 1}), longest, o, again));
    }
    std::printf("\n");
  }
  const auto is = [&](std::size_t way, double ratio) {
    return std::abs(static_cast<double>(p[way][0] / p[way][1]) - ratio) < 1e-4;
  };
  claim(is(1, std::exp(2)) && is(2, std::exp(1)) && is(3, std::exp(0.5)),
        "temperature T makes of a ratio r of chances r^(1/T): if T is low one is sure, if high all are alike");
  claim(p[4][1] > 0 && p[4][2] == 0 && p[5][2] > 0 && p[5][3] == 0,
        "top-k 2 leaves two; top-p 0.8 leaves three, since two have 0.770 together");
  claim(same, "from the same random numbers, mote's generate() writes the same names");
}

std::pair<Tensor, double> counted(const std::function<Tensor()>& pass) {  // the result of pass(), and its multiply-adds
  const Trace trace;
  const Tensor y = pass();
  return {y, static_cast<double>(trace.total().flops / 2)};
}

/// Shows what a cache saves. In every layer a token sees only itself and the tokens before it (lesson 7). So a new
/// token changes nothing that was computed for the earlier tokens. The new token needs only the keys and values of
/// the earlier tokens, which are therefore kept in a cache.
void with_cache(const GPT& model) {
  std::printf("\n2. Multiply-adds to read a text\n   tokens   all of them   the last, with a cache\n");
  const IntArray text = ints({{0, 3, 8, 18, 9, 19, 20, 15, 16, 8, 5, 18}});  // christopher
  GPTCache cache = model.cache(), at_once = model.cache();
  bool same = true, cheap = false;
  for (Index t = 0; t < longest; ++t) {
    const auto [all, work] = counted([&] { return model(text.slice(1, 0, t + 1)); });
    const auto [last, last_work] = counted([&] { return model(text.slice(1, t, t + 1), Mask(), &cache); });
    same = same && select(all, 1, t).to_vector() == select(last, 1, 0).to_vector();
    cheap = last_work < work / 10;
    if (t % 4 == 3) std::printf("   %6d %13.0f %24.0f\n", static_cast<int>(t + 1), work, last_work);
  }
  model(text, Mask(), &at_once);
  const auto kept = [](const KeyValueCache& c) { return std::pair(c.keys().to_vector(), c.values().to_vector()); };
  claim(kept(cache.layers[1]) == kept(at_once.layers[1]), "the keys and values kept are those of the whole text");
  claim(same, "and with them the last token has the scores that the whole text gives it, to the last bit");
  claim(cheap, "the twelfth token costs less than a tenth of all twelve");
}

void train(const GPT& model) {
  const auto [ids, targets] = name_rows(longest);
  AdamW optimizer(all_parameters(model), {.lr = 5e-3});
  for (int step = 0; step < 150; ++step) {
    optimizer.zero_grad();
    model.loss(ids, targets).backward();
    optimizer.step();
  }
}

void lesson() {
  GPT model({.block_size = longest, .vocab_size = symbols, .n_layer = 2, .n_head = 4, .n_embd = 32}, Generator(1));
  train(model);
  const NoGrad no_grad;
  ways_to_choose(model);
  with_cache(model);
  std::printf(
      "\nTry: min_p, which keeps what is at least so many times as likely as the likeliest (models/gpt.h).\n"
      "If a text is longer than block_size, generate() drops the first token. The others then have other places, so\n"
      "other keys and values: it drops the cache, too.\n"
      "Now read models/choose_token.cpp, models/generate.cpp and examples/lessons/14_optimizers.cpp.\n");
}
}  // namespace

int main(int, char** argv) { return run_lesson(argv, lesson, "sampling; temperature; top-k, top-p; cache"); }
