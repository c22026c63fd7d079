// Checks 38: which heads matter.

// hint: For each block and each h: keep weight.value(), set one with zeros in columns h * d to (h + 1) * d - 1, measure.
// hint: A row heard [C] of ones with zeros for the head broadcasts: weight.set((Tensor(whole) * heard).array()).
// why: W's columns meet the heads' results, its rows make the output: a head belongs to columns.
// why: To take a part out shows that it is needed; attention weights only show where it looks.
// why: The rises do not add up: two heads may do the same, so that each alone can be missed, but not both.
#include "examples/exercises/answers/check.h"

using Rises = Tensor(GPT& model, const IntArray& ids, const IntArray& targets);
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
static Tensor measured(GPT& model, const IntArray& ids, const IntArray& targets, Mistake mistake) {
  const double before = mistake == whole_loss ? 0 : model.loss(ids, targets).item();
  const Index L = std::ssize(model.transformer.h), H = model.config.n_head, C = model.config.n_embd;
  Array rises({L, H}, std::vector<real>(L * H));
  for (Index i = 0; i < L * H; ++i) {
    const Parameter weight = model.transformer.h[i / H].attn.c_proj.weight;
    const Array whole = weight.value();
    Array part = whole;
    for (Index j = 0; j < C * C; ++j) {
      const Index at = mistake == rows ? j / C : j % C;
      const Index head = mistake == interleaved ? at % H : mistake == narrow ? at / H : at / (C / H);
      if (head == i % H) part.mutate()[j] = 0;
    }
    weight.set(part);
    const double rise = model.loss(ids, targets).item() - before;
    rises.mutate()[i] = mistake == negative ? -rise : rise;
    if (mistake != kept) weight.set(whole);
  }
  return rises;
}

/// The right ones in another way: a head says nothing if its values are 0, and so are the rows that make them.
static Tensor without_values(const GPT& model, const IntArray& ids, const IntArray& targets) {
  const Index L = std::ssize(model.transformer.h), H = model.config.n_head, C = model.config.n_embd;
  Array rises({L, H}, std::vector<real>(L * H));
  for (Index i = 0; i < L * H; ++i) {
    const GPT silent = model.clone();
    const Linear& qkv = silent.transformer.h[i / H].attn.c_attn;  // rows: queries, keys, values, each head beside head
    const Index d = C / H, first = 2 * C + i % H * d;
    std::fill_n(qkv.weight.mutate() + first * C, d * C, 0);
    std::fill_n(qkv.bias.mutate() + first, d, 0);
    rises.mutate()[i] = (silent.loss(ids, targets) - model.loss(ids, targets)).item();
  }
  return rises;
}

static void check(Rises rises) {
  for (const Index L : {2, 1}) {
    GPTConfig config = GPTConfig().resized(L, 3, 12);
    config.vocab_size = 5, config.block_size = 6;
    const Generator random(L);
    GPT model(config, random);
    for (const Parameter& p : parameters(model)) p.set(randn(p.shape(), random).array());
    const IntArray ids = randint(0, 5, {4, 6}, random), targets = randint(0, 5, {4, 6}, random);
    GPT other = model.clone();
    const Tensor got = rises(other, ids, targets);
    for (const auto& [mistake, sentence] : sentences) {
      GPT fresh = model.clone();
      expect_not(got, measured(fresh, ids, targets, mistake), sentence);
    }
    expect_close("The table of rises, of a random model,", got, without_values(model, ids, targets));
    expect_close("The loss of the model, afterwards,", other.loss(ids, targets), model.loss(ids, targets));
  }
}

#ifdef PROVE
namespace solution {
/// How much the loss rises without each head: [layers, heads].
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
  check(
      [](GPT& model, const IntArray& ids, const IntArray& targets) { return measured(model, ids, targets, mistake); });
}
static const Tried tried[] = {
    {"solution", "", [] { check(solution::rise_without_each); }},
    {"rows", "set rows of the weight", wrongly<rows>},
    {"interleaved", "every H-th column", wrongly<interleaved>},
    {"H and d confused", "H columns from", wrongly<narrow>},
    {"not put back", "One head at a time", wrongly<kept>},
    {"wrong sign", "wrong way round", wrongly<negative>},
    {"not subtracted", "the loss without each head", wrongly<whole_loss>},
    {"hard-coded", "The table of rises",
     [] { check([](GPT&, const IntArray&, const IntArray&) {
            return tensor({{2.1, 0.0}, {0.3, 0.1}});
          }); }},
};
#endif

#include YOURS
int main(int argc, char** argv) {
  return judge(argc, argv, [] { check(rise_without_each); });
}
