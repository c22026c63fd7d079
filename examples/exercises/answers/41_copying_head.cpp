// Checks 41: the head that copies.

// hint: First a block with the Record in it, which sums up looks[l][h]; then, for those above 0.5, one with an Ablate.
// hint: Texts can be added: ... + std::to_string(l) + ".attn weights", ... + ".attn heads " + std::to_string(h).
// why: The head that looks hardest is not heard here: looking is a guess at what a head does, taking it out a trial.
// why: The model needs another head even more, which hands on what was found: to be needed is not to copy.
// why: 0 is something that later layers have never heard: Ablate can put in a mean over other inputs instead.
#include <random>

#include "examples/exercises/answers/copying_model.h"

namespace of_check {
using Answer = std::tuple<Index, Index, double>;
enum Mistake { none, looks, itself, needed, whole, every_layer, layer, scores };
static const std::map<Mistake, std::string> sentences = {
    {looks, "This head looks hardest at what comes next, but it is not heard: take out each that looks there."},
    {itself, "This head looks at t - n, where the symbol of t stood: what comes next stood one further on."},
    {needed, "The model needs this head most, but it looks elsewhere: it hands on what other heads have found."},
    {whole, "This is what the whole model foresees: measure it while the Ablate is there."},
    {every_layer, "You take out the head of this number in every layer: name the layer instead of *."},
    {layer, "You take out all heads of the layer: the number of the one belongs behind `heads`."},
    {scores, "A score of 0 still has weight, so that the head listens to all alike: take out its `heads`."},
};

static double foreseen(const GPT& model, const IntArray& ids) {
  return mean(tensor(eq(argmax(model(ids)).slice(1, n - 1, T - 1), ids.slice(1, n, T)))).item();
}

/// The answer, or what is taken for it by mistake.
static Answer answer(const GPT& model, const IntArray& ids, Mistake mistake) {
  const Index i = heads[mistake <= needed ? mistake : none], l = i / model.config.n_head, h = i % model.config.n_head;
  if (mistake == whole) return {l, h, foreseen(model, ids)};
  const std::string at = "*.h." + (mistake == every_layer ? "*" : std::to_string(l)) + ".attn ";
  const std::string what = mistake == scores ? "scores" : "heads", only = " " + std::to_string(h);
  const Ablate out(model, at + what + (mistake == layer ? "" : only));
  return {l, h, foreseen(model, ids)};
}

static void check(Answer find(const GPT&, const IntArray&)) {
  const auto afresh = static_cast<Index>(std::random_device()() % 1000);  // what this verdict says helps no other
  for (const Index seed : {Index(1), Index(2), Index(3), Index(4), afresh}) {
    const Generator random(seed);
    const GPT model = copying_model(2 + seed % 2, 3 - seed / 2 % 2, random);
    const IntArray ids = repeated_rows(16, random);
    const auto [l, h, got] = find(model, ids);
    const Answer yours(l, h, got), want = answer(model, ids, none);
    const auto& [layer, head, without] = want;
    expect(yours == want || yours != Answer(head, layer, without), "The layer comes first, and then its head.");
    for (const auto& [mistake, sentence] : sentences) {
      const Answer wrong = answer(model, ids, mistake);
      const bool other = mistake <= needed && l * model.config.n_head + h == heads[mistake];  // whatever is foreseen
      expect(yours == want || (yours != wrong && !other), sentence);
    }
    const std::string right = "head " + std::to_string(head) + " of layer " + std::to_string(layer);
    expect(l == layer && h == head, "This is not the head that copies, which is " + right + ", counted from 0.");
    expect_close("What is foreseen without " + right, got, without);
  }
}

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

template <Mistake mistake>
void wrongly() {
  check([](const GPT& model, const IntArray& ids) { return answer(model, ids, mistake); });
}
static const Tried tried[] = {
    {"solution", "", [] { check(solution::copying_head); }},
    {"looks hardest", "not heard", wrongly<looks>},
    {"needed most", "needs this head most", wrongly<needed>},
    {"the symbol itself", "one further on", wrongly<itself>},
    {"with it", "the whole model", wrongly<whole>},
    {"in every layer", "instead of *", wrongly<every_layer>},
    {"all heads", "all heads of the layer", wrongly<layer>},
    {"scores", "still has weight", wrongly<scores>},
    {"head first", "comes first",
     [] {
       check([](const GPT& model, const IntArray& ids) {
         const auto [l, h, without] = answer(model, ids, none);
         return Answer(h, l, without);
       });
     }},
    {"hard-coded", "not the head", [] { check([](const GPT&, const IntArray&) { return Answer(1, 1, 0.25); }); }},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(copying_head); });
}
