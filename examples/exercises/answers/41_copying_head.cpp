// Checks 41: the head that copies.

// hint: First, inside { }, use a Record to compute each head's mean weight. Then use an Ablate for each head above 0.5.
// hint: Build names with +: ... + std::to_string(l) + ".attn weights", ... + ".attn heads " + std::to_string(h).
// why: Here the head with the largest weights has no effect. Attention suggests what a head does. Ablation proves it.
// why: The model needs the head that passes the symbol on even more than the copying head. So need alone proves little.
// why: In training, later layers never saw a head's result of 0. Ablate can put in a mean over other inputs instead.
#include <random>

#include "examples/exercises/answers/copying_model.h"

namespace of_check {
using Answer = std::tuple<Index, Index, double>;
using Find = Answer(const GPT& model, const IntArray& ids);

static double foreseen(const GPT& model, const IntArray& ids) {
  return mean(tensor(argmax(model(ids)).slice(1, n - 1, T - 1) == ids.slice(1, n, T))).item();
}

/// The share of symbols that the model predicts correctly while `part` is ablated.
static double without(const GPT& model, const IntArray& ids, const std::string& part) {
  const Ablate out(model, part);
  return foreseen(model, ids);
}
/// The answer of a learner who takes heads[which] of copying_model.h for the copying head.
template <int which>
static Answer of_head(const GPT& model, const IntArray& ids) {
  const Index l = heads[which] / model.config.n_head, h = heads[which] % model.config.n_head;
  return {l, h, without(model, ids, "*.h." + std::to_string(l) + ".attn heads " + std::to_string(h))};
}

static void check(Find find) {
  // A new seed in each run, so an answer cannot just return the numbers that an earlier verdict has shown.
  const auto afresh = static_cast<Index>(std::random_device()() % 1000);
  for (const Index seed : {Index(1), Index(2), Index(3), Index(4), afresh}) {
    const Generator random(seed);
    const GPT model = copying_model(2 + seed % 2, 3 - seed / 2 % 2, random);
    const IntArray ids = repeated_rows(16, random);
    const GPT before = model.clone();
    const auto [l, h, got] = find(model, ids);
    for (std::size_t i = 0; i < parameters(model).size(); ++i)
      expect(close(parameters(model)[i], parameters(before)[i]), "Afterwards the model is another one: use an Ablate.");
    const auto [layer, head, want] = of_head<0>(model, ids);
    const std::string right = "head " + std::to_string(head) + " of layer " + std::to_string(layer);
    const Index H = model.config.n_head, yours = l * H + h;
    expect(yours == heads[0] || l != head || h != layer || !close(got, want), "head first");
    expect(yours != heads[1], "looks hardest");
    expect(yours != heads[2], "the symbol itself");
    expect(yours != heads[3], "needed most");
    expect_close("The layer and the head, counted from 0,", tensor({double(l), double(h)}),
                 tensor({double(layer), double(head)}));
    expect_close("What is foreseen without " + right, got, want);
  }
}

static const Row<Find> rows[] = {
    {"looks hardest",
     "This head looks hardest at what comes next, but it is not heard: take out each that looks there.", of_head<1>},
    {"the symbol itself",
     "This head looks at t - n, where the symbol of t stood: what comes next stood one further on.", of_head<2>},
    {"needed most", "The model needs this head most, but it looks elsewhere: it hands on what other heads have found.",
     of_head<3>},
    {"with it", "This is what the whole model foresees: measure it while the Ablate is there.",
     [](const GPT& model, const IntArray& ids) {
       const auto [l, h, none] = of_head<0>(model, ids);
       return Answer(l, h, foreseen(model, ids));
     }},
    {"more than one head",
     "You take out more than this head: the name has the layer instead of *, and the head's number behind `heads`.",
     [](const GPT& model, const IntArray& ids) {
       const auto [l, h, none] = of_head<0>(model, ids);
       return Answer(l, h, without(model, ids, "*.h.*.attn heads " + std::to_string(h)));
     },
     [](const GPT& model, const IntArray& ids) {
       const auto [l, h, none] = of_head<0>(model, ids);
       return Answer(l, h, without(model, ids, "*.h." + std::to_string(l) + ".attn heads"));
     }},
    {"scores", "A score of 0 still has weight, so that the head listens to all alike: take out its `heads`.",
     [](const GPT& model, const IntArray& ids) {
       const auto [l, h, none] = of_head<0>(model, ids);
       return Answer(l, h, without(model, ids, "*.h." + std::to_string(l) + ".attn scores " + std::to_string(h)));
     }},
    {"head first", "The layer comes first, and then its head.",
     [](const GPT& model, const IntArray& ids) {
       const auto [l, h, without] = of_head<0>(model, ids);
       return Answer(h, l, without);
     }},
    {"hard-coded", of_example, [](const GPT&, const IntArray&) { return Answer(1, 1, 0.25); }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
std::tuple<Index, Index, double> copying_head(const GPT& model, const IntArray& ids) {
  std::tuple<Index, Index, double> best{0, 0, 2};
  const Index n = ids.shape()[1] / 2;
  for (Index l = 0; l < model.config.n_layer; ++l) {
    const std::string name = "transformer.h." + std::to_string(l) + ".attn";
    Tensor weights;
    {
      const Record seen(model, {name + " weights"});
      model(ids);
      weights = seen[name + " weights"];
    }
    for (Index h = 0; h < model.config.n_head; ++h) {
      double looks = 0;
      for (Index b = 0; b < ids.shape()[0]; ++b)
        for (Index t = n - 1; t < 2 * n - 1; ++t) looks += weights.array().at({b, h, t, t + 1 - n});
      if (looks / (ids.shape()[0] * n) <= 0.5) continue;
      const Ablate out(model, name + " heads " + std::to_string(h));
      const double without = foreseen(model, ids);
      if (without < std::get<2>(best)) best = {l, h, without};
    }
  }
  return best;
}
}  // namespace solution
static const Right right([] { check(solution::copying_head); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(copying_head); });
}
