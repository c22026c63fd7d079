// Checks 38: which heads matter.

// hint: For each block and each h: keep weight.value(), set one with zeros in the columns of head h, measure, set back.
// hint: A row heard [C] of ones with zeros for the head broadcasts: weight.set((Tensor(whole) * heard).array()).
// why: y = heads W^T is a sum over heads, each with columns of W of its own: so one can be left out alone.
// why: Attention weights show where a head looks, but not whether anybody uses it: only taking it out shows that.
// why: The rises do not add up: two heads may do the same, so that each alone can be missed, but not both.
#include "examples/exercises/answers/check.h"

namespace of_check {
enum Mistake { none, rows, interleaved, narrow, kept, negative, whole_loss };
static const std::map<Mistake, std::string> sentences = {
    {rows, "You set rows of the weight to 0, but the heads' results meet its columns."},
    {interleaved, "You take every H-th column, but the d columns of a head lie side by side."},
    {narrow, "You take H columns from h * H on, but head h has d = C / H of them, from h * d on."},
    {kept, "One head at a time: put the weight back before you take out the next head."},
    {negative, "The wrong way round: if the loss rises without a head, its number has to be above 0."},
    {whole_loss, "This is the loss without each head: subtract the loss with all of them."},
};

/// The rises, or what is taken for them by mistake.
static Tensor measured(const GPT& model, const IntArray& ids, const IntArray& targets, Mistake mistake) {
  const Index L = std::ssize(model.transformer.h), H = model.config.n_head, C = model.config.n_embd, d = C / H;
  const double before = mistake == whole_loss ? 0 : model.loss(ids, targets).item();
  std::vector<double> rises;
  GPT silent = model.clone();
  for (Index i = 0; i < L * H; ++i) {
    if (mistake != kept) copy_weights(model, silent);
    const SelfAttention& attn = silent.transformer.h[i / H].attn;
    const Index h = i % H, values = 2 * C + h * d;
    if (mistake == rows || mistake == interleaved || mistake == narrow) {
      for (Index j = 0; j < C * C; ++j) {
        const Index at = mistake == rows ? j / C : j % C;
        if ((mistake == interleaved ? at % H : at / (mistake == narrow ? H : d)) == h)
          attn.c_proj.weight.mutate()[j] = 0;
      }
    } else {  // not by c_proj, as the solution does: a head also says nothing if what makes its values is 0
      std::fill_n(attn.c_attn.weight.mutate() + values * C, d * C, 0);
      std::fill_n(attn.c_attn.bias.mutate() + values, d, 0);
    }
    rises.push_back((silent.loss(ids, targets).item() - before) * (mistake == negative ? -1 : 1));
  }
  return reshape(tensor(rises), {L, H});
}

static void check(Tensor rises(GPT&, const IntArray& ids, const IntArray& targets)) {
  for (const Index L : {2, 1}) {
    const Generator random(L);
    GPTConfig config = GPTConfig().resized(L, 3, 12);
    config.vocab_size = 5, config.block_size = 6;
    const GPT model(config, random);
    for (const Parameter& p : parameters(model)) p.set(randn(p.shape(), random).array());
    const IntArray ids = randint(0, 5, {4, 6}, random), targets = randint(0, 5, {4, 6}, random);
    GPT other = model.clone();
    const Tensor got = rises(other, ids, targets);
    for (const auto& [mistake, wrong] : sentences) expect_not(got, measured(model, ids, targets, mistake), wrong);
    expect_close("The table of rises, of a random model,", got, measured(model, ids, targets, none));
    for (std::size_t i = 0; i < parameters(model).size(); ++i)
      expect(close(parameters(other)[i], parameters(model)[i]),
             "Afterwards the model is another one: put weights back.");
    expect(other.training(), "Afterwards the model is in evaluation mode: put that back, too.");
  }
}

#ifdef PROVE
namespace solution {
Tensor rise_without_each(GPT& model, const IntArray& ids, const IntArray& targets) {
  const double with_all = model.loss(ids, targets).item();
  std::vector<std::vector<double>> rises;
  for (const TransformerBlock& block : model.transformer.h) {
    const Parameter weight = block.attn.c_proj.weight;
    const Array whole = weight.value();
    const Index C = weight.shape()[1], d = C / block.attn.n_head;
    std::vector<double>& row = rises.emplace_back();
    for (Index h = 0; h < block.attn.n_head; ++h) {
      Array heard = Array::full({C}, 1);
      std::fill_n(heard.mutate() + h * d, d, 0);
      weight.set((Tensor(whole) * heard).array());
      row.push_back(model.loss(ids, targets).item() - with_all);
    }
    weight.set(whole);
  }
  return tensor(rises);
}
}  // namespace solution

template <Mistake mistake>
void wrongly() {
  check([](GPT& m, const IntArray& ids, const IntArray& targets) { return measured(m, ids, targets, mistake); });
}
static const Tried tried[] = {
    {"solution", "", [] { check(solution::rise_without_each); }},
    {"rows", "set rows of the weight", wrongly<rows>},
    {"interleaved", "every H-th column", wrongly<interleaved>},
    {"H and d confused", "H columns from", wrongly<narrow>},
    {"not put back", "One head at a time", wrongly<kept>},
    {"wrong sign", "wrong way round", wrongly<negative>},
    {"not subtracted", "the loss without each head", wrongly<whole_loss>},
    {"a weight left", "put weights back",
     [] {
       check([](GPT& model, const IntArray& ids, const IntArray& targets) {
         const Tensor rises = measured(model, ids, targets, none);
         model.transformer.h[0].attn.c_proj.weight.mutate()[0] = 0;
         return rises;
       });
     }},
    {"left in evaluation", "in evaluation mode",
     [] {
       check([](GPT& model, const IntArray& ids, const IntArray& targets) {
         model.eval();
         return measured(model, ids, targets, none);
       });
     }},
    {"hard-coded", "The table of rises",
     [] { check([](GPT&, const IntArray&, const IntArray&) {
            return zeros({2, 3});
          }); }},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(rise_without_each); });
}
