// Checks 43: the logit lens.

// hint: After model(ids), for each l: x is what seen has of "transformer.h.0", with std::to_string(l) instead of the 0.
// hint: In the loop all.push_back(model.lm_head((*model.transformer.ln_f)(x))), and at the end return stack(all).
// why: Blocks add to one stream, so that lm_head can read it anywhere: it is trained to read it behind the last alone.
// why: Where the right answer first comes on top, or does not yet, says which block finds it: no weight needs changing.
// why: What is there need not be read by the lens: an early block may hold the answer in directions of its own.
#include "examples/exercises/answers/copying_model.h"

namespace of_check {
enum Mistake { none, unnormed, before, added, probabilities, ends, tied, backwards };
static const std::map<Mistake, std::string> sentences = {
    {unnormed, "The final norm is missing: behind the last block, too, x goes through ln_f before lm_head."},
    {before,
     "This is x before each block, not behind it: row 0 is what block 0 gives, and the last row ends the model."},
    {added, "This is what each block adds: its attention's or its mlp's value alone. What a block gives is x + that."},
    {probabilities, "These are probabilities: the lens shows logits, without a softmax."},
    {ends, "All rows are alike, the model's own logits: row l is made of what block l gives."},
    {tied, "You read with wte, the table of the tokens, which only some models share with lm_head."},
    {backwards, "The rows stand backwards: block 0 comes first."},
};

/// The lens, or what is taken for it by mistake, with blocks that are called one by one.
static Tensor lens(const GPT& model, const IntArray& ids, Mistake mistake) {
  std::vector<Tensor> all;
  for (Tensor x = model.transformer.embed(ids); const TransformerBlock& block : model.transformer.h) {
    const Tensor y = block(x), shown = mistake == before ? x : mistake == added ? y - x : y;
    const Tensor normed = mistake == unnormed ? shown : (*model.transformer.ln_f)(shown);
    const Tensor logits = mistake == tied ? linear(normed, model.transformer.wte.weight) : model.lm_head(normed);
    all.push_back(mistake == probabilities ? softmax(logits) : mistake == ends ? model(ids) : logits);
    x = y;
  }
  if (mistake == backwards) std::reverse(all.begin(), all.end());
  return stack(all);
}

static void check(Tensor answer(const GPT&, const IntArray& ids)) {
  for (const Index seed : {1, 2, 3, 4}) {
    const Generator random(seed);
    GPTConfig llama = GPTConfig::llama().resized(seed, 2, 8);  // with a feed-forward network
    llama.vocab_size = V, llama.block_size = T;
    const GPT model = seed <= 2 ? copying_model(3, seed + 1, random) : GPT(llama, random);
    for (const Parameter& p : parameters(model))
      if (seed > 2) p.set(randn(p.shape(), random).array());
    const IntArray ids = repeated_rows(2, random);
    const Tensor got = answer(model, ids);
    for (const auto& [mistake, sentence] : sentences) expect_not(got, lens(model, ids, mistake), sentence);
    expect_close("The lens", got, lens(model, ids, none));
  }
}

#ifdef PROVE
namespace solution {
Tensor logit_lens(const GPT& model, const IntArray& ids) {
  const Record seen(model, {"transformer.h.*"});
  model(ids);
  std::vector<Tensor> all;
  for (Index l = 0; l < model.config.n_layer; ++l) {
    const Tensor& x = seen["transformer.h." + std::to_string(l)];
    all.push_back(model.lm_head((*model.transformer.ln_f)(x)));
  }
  return stack(all);
}
}  // namespace solution

template <Mistake mistake>
void wrongly() {
  check([](const GPT& model, const IntArray& ids) { return lens(model, ids, mistake); });
}
static const Tried tried[] = {
    {"solution", "", [] { check(solution::logit_lens); }},
    {"no norm", "norm is missing", wrongly<unnormed>},
    {"before", "not behind it", wrongly<before>},
    {"added", "what each block adds", wrongly<added>},
    {"softmax", "without a softmax", wrongly<probabilities>},
    {"the end", "All rows are alike", wrongly<ends>},
    {"wte", "table of the tokens", wrongly<tied>},
    {"backwards", "block 0 comes first", wrongly<backwards>},
    {"hard-coded", "The lens", [] { check([](const GPT&, const IntArray&) {
                                      return zeros({3, 2, T, V});
                                    }); }},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(logit_lens); });
}
