// Checks 42: where the answer stands.

// hint: Inside { }, make a Record, run the model on clean, and copy the outputs of all blocks into a vector `gave`.
// hint: For each l and t: const Patch put(model, "*.h." + std::to_string(l) + " at " + std::to_string(t), gave[l]);
// why: In each row one position decides. The table shows which block moves the information to the last position.
// why: Taking a value out shows that it is needed. Patching shows that it holds the difference between the two inputs.
// why: The two inputs differ in one symbol only, so everything else, such as the positions, is the same in both runs.
#include "examples/exercises/answers/copying_model.h"

namespace of_check {
using Patched = Tensor(const GPT&, const IntArray& clean, const IntArray& corrupted, Index right, Index wrong);

enum Kind { none, everywhere, here, rise, added, right_alone };
/// The table, with the mistake `kind`. Calls the blocks one by one instead of using a Patch.
template <Kind kind>
static Tensor patched(const GPT& model, const IntArray& clean, const IntArray& corrupted, Index right, Index wrong) {
  const auto& blocks = model.transformer.h;
  const Index L = std::ssize(blocks), length = clean.shape()[1];
  std::vector<Tensor> held, gave;  // each block's result, and the result of its attention alone
  for (Tensor x = model.transformer.embed(clean); const TransformerBlock& block : blocks) {
    gave.push_back(block.attn(block.ln_1(x)));
    held.push_back(x = block(x));
  }
  std::vector<double> table;
  for (Index l = -1; l < L; ++l)  // -1: without a patch
    for (Index t = 0; t < length; ++t) {
      Tensor x = model.transformer.embed(corrupted);
      const Tensor row = kind == everywhere ? Tensor(1) : slice(eye(length), 1, t, t + 1);
      for (Index i = 0; i < L; ++i) {
        const Tensor before = x;
        x = blocks[i](x);
        const Tensor to = kind == added ? before + gave[i] : held[i];
        if (i == l) x = x + (to - x) * row;
      }
      const Tensor logits = select(model.lm_head((*model.transformer.ln_f)(x)), 1, kind == here ? t : length - 1);
      const double less = logits.array().at({0, right}) - (kind == right_alone ? 0 : logits.array().at({0, wrong}));
      table.push_back(kind == rise && l >= 0 ? less - table[0] : less);
    }
  table.erase(table.begin(), table.begin() + length);
  return reshape(tensor(table), {L, length});
}

static void check(Patched answer) {
  for (const Index seed : {1, 2, 3, 4}) {
    const Generator random(seed);
    const GPT model = copying_model(3 - seed % 2, 2 + seed / 3, random);
    const Index k = 1 + seed % 3;  // the inputs differ at position k; the right answer is clean's symbol there
    const IntArray clean = repeated_rows(1, random).slice(1, 0, n + k);
    IntArray corrupted = clean;
    corrupted.mutate()[k] = (clean.at({0, k}) + 3) % V;
    const Index right = clean.at({0, k}), wrong = corrupted.at({0, k});
    expect_close("The table of differences", answer(model, clean, corrupted, right, wrong),
                 patched<none>(model, clean, corrupted, right, wrong));
  }
}

static const Row<Patched> rows[] = {
    {"nothing turns",
     "Nothing turns: you put in what corrupted gave. Take what clean gave before a Record sees another run.",
     [](const GPT& model, const IntArray&, const IntArray& corrupted, Index right, Index wrong) {
       return patched<none>(model, corrupted, corrupted, right, wrong);
     }},
    {"swapped", "The wrong way round: run corrupted, and put in what clean gave.",
     [](const GPT& model, const IntArray& clean, const IntArray& corrupted, Index right, Index wrong) {
       return patched<none>(model, corrupted, clean, right, wrong);
     }},
    {"everywhere", "You put in a block's result at all positions: ` at ` and one of them belongs behind its name.",
     patched<everywhere>},
    {"read there", "You read the logits at the position that is patched, but the answer is said at the last one.",
     patched<here>},
    {"another number",
     "The number is the logit of `right` less that of `wrong`, as it is: above 0 where the answer turns to `right`.",
     patched<right_alone>, patched<rise>,
     [](const GPT& model, const IntArray& clean, const IntArray& corrupted, Index right, Index wrong) {
       return -patched<none>(model, clean, corrupted, right, wrong);
     }},
    {"attention alone",
     "You put in what the attention of a block gave, but the block gives more: x + what attention adds.",
     patched<added>},
    {"hard-coded", "All differences are 0: measure each, with a Patch that is there while the model runs.",
     [](const GPT& model, const IntArray& ids, const IntArray&, Index, Index) {
       return zeros({model.config.n_layer, ids.shape()[1]});
     }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
Tensor patched_at_each(const GPT& model, const IntArray& clean, const IntArray& corrupted, Index right, Index wrong) {
  const auto name = [](Index l) { return "transformer.h." + std::to_string(l); };
  std::vector<Tensor> gave;
  {
    const Record seen(model, {"transformer.h.*"});
    model(clean);
    for (Index l = 0; l < model.config.n_layer; ++l) gave.push_back(seen[name(l)]);
  }
  std::vector<std::vector<double>> table;
  for (Index l = 0; l < model.config.n_layer; ++l) {
    std::vector<double>& row = table.emplace_back();
    for (Index t = 0; t < clean.shape()[1]; ++t) {
      const Patch put(model, name(l) + " at " + std::to_string(t), gave[l]);
      const Tensor logits = select(model(corrupted), 1, -1);
      row.push_back(logits.array().at({0, right}) - logits.array().at({0, wrong}));
    }
  }
  return tensor(table);
}
}  // namespace solution
static const Right right([] { check(solution::patched_at_each); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(patched_at_each); });
}
