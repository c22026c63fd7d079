// Checks 43: the logit lens.

// hint: After model(ids), x after block 0 is seen["transformer.h.0"]. For block l put std::to_string(l) in place of 0.
// hint: In the loop, all.push_back(model.lm_head((*model.transformer.ln_f)(x))), and at the end return stack(all).
// why: All blocks add to the same stream, so lm_head can read it after any block, although training used only the last.
// why: The first row whose highest logit is the right answer shows which block finds it, without any change of weights.
// why: The lens may miss an answer, because an early block may store it in directions that lm_head does not read.
#include "examples/exercises/answers/copying_model.h"

namespace of_check {
using Lens = Tensor(const GPT& model, const IntArray& ids);

/// Computes the logits for a block, from x before the block and x after it.
using Logits = Tensor(const GPT& model, const Tensor& before, const Tensor& behind);
/// The lens, which calls the blocks one by one instead of using a Record.
template <Logits* logits>
static Tensor lens(const GPT& model, const IntArray& ids) {
  std::vector<Tensor> all;
  for (Tensor x = model.transformer.embed(ids); const TransformerBlock& block : model.transformer.h) {
    const Tensor y = block(x);
    all.push_back(logits(model, x, y));
    x = y;
  }
  return stack(all);
}
static Tensor normed(const GPT& model, const Tensor& x) { return (*model.transformer.ln_f)(x); }
static Tensor right_logits(const GPT& model, const Tensor&, const Tensor& y) { return model.lm_head(normed(model, y)); }

static void check(Lens answer) {
  for (const Index seed : {1, 2, 3, 4}) {
    const Generator random(seed);
    GPTConfig llama = GPTConfig::llama().resized(seed, 2, 8);  // has feed-forward networks, unlike copying_model()
    llama.vocab_size = V;
    llama.block_size = T;
    const GPT model = seed <= 2 ? copying_model(3, seed + 1, random) : GPT(llama, random);
    for (const Parameter& p : parameters(model))
      if (seed > 2) p.set(randn(p.shape(), random).array());
    const IntArray ids = repeated_rows(2, random);
    expect_close("The lens", answer(model, ids), lens<right_logits>(model, ids));
  }
}

static Tensor unnormed(const GPT& model, const Tensor&, const Tensor& y) { return model.lm_head(y); }
static Tensor early(const GPT& model, const Tensor& x, const Tensor&) { return model.lm_head(normed(model, x)); }
static Tensor added(const GPT& model, const Tensor& x, const Tensor& y) { return model.lm_head(normed(model, y - x)); }
static Tensor shares(const GPT& model, const Tensor&, const Tensor& y) { return softmax(right_logits(model, y, y)); }
static Tensor by_table(const GPT& model, const Tensor&, const Tensor& y) {
  return linear(normed(model, y), model.transformer.wte.weight);
}

static const Row<Lens> rows[] = {
    {"no norm", "The final norm is missing: x goes through ln_f before lm_head, as behind the last block.",
     lens<unnormed>},
    {"before", "This is x before each block: row 0 is what block 0 gives, and the last row ends the model.",
     lens<early>},
    {"added", "This is what each block adds: its attention's or its mlp's value alone. What a block gives is x + that.",
     lens<added>},
    {"probabilities", "These are probabilities: the lens shows logits, without a softmax.", lens<shares>},
    {"the end alone", "All rows are alike, the model's own logits: row l is made of what block l gives.",
     [](const GPT& model, const IntArray& ids) {
       return stack(std::vector<Tensor>(model.transformer.h.size(), model(ids)));
     }},
    {"by wte", "You read with wte, the table of the tokens. Only some models share it with lm_head.", lens<by_table>},
    {"backwards", "The rows stand backwards: block 0 comes first.",
     [](const GPT& model, const IntArray& ids) {
       const Tensor right = lens<right_logits>(model, ids);
       std::vector<Tensor> all;
       for (Index l = right.size(0); l-- > 0;) all.push_back(select(right, 0, l));
       return stack(all);
     }},
    {"hard-coded", "All logits are 0: compute them from what each block gives.",
     [](const GPT& model, const IntArray& ids) {
       return zeros({model.config.n_layer, ids.shape()[0], ids.shape()[1], V});
     }},
};
static const Table table(check, rows);

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
static const Right right([] { check(solution::logit_lens); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(logit_lens); });
}
