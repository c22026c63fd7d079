// Checks 38: which heads matter.

// hint: For each block and h: keep weight.value(), set the columns of head h to 0, measure, and put the value back.
// hint: weight.set((Tensor(whole) * heard).array()): whole is the kept value, and heard [C] is 0 for head h, else 1.
// why: y = heads W^T is a sum over heads, and each head has its own columns of W. So each head can be left out alone.
// why: Attention weights show where a head looks. Only taking the head out shows whether anything uses its result.
// why: The rises do not add up. If two heads do the same, the model can do without one of them, but not without both.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Rises = Tensor(GPT& model, const IntArray& ids, const IntArray& targets);

enum Kind { none, rows_of_weight, interleaved, narrow, kept, negative, whole_loss };
/// The table [L, H] of the exercise, with the mistake `kind`.
template <Kind kind>
static Tensor measured(GPT& model, const IntArray& ids, const IntArray& targets) {
  const Index L = std::ssize(model.transformer.h), H = model.config.n_head, C = model.config.n_embd, d = C / H;
  const double before = kind == whole_loss ? 0 : model.loss(ids, targets).item();
  std::vector<double> rises;
  GPT silent = model.clone();
  for (Index i = 0; i < L * H; ++i) {
    if (kind != kept) copy_weights(model, silent);
    const SelfAttention& attn = silent.transformer.h[i / H].attn;
    const Index h = i % H, values = 2 * C + h * d;
    if (kind == rows_of_weight || kind == interleaved || kind == narrow) {
      for (Index j = 0; j < C * C; ++j) {
        const Index at = kind == rows_of_weight ? j / C : j % C;
        if ((kind == interleaved ? at % H : at / (kind == narrow ? H : d)) == h) attn.c_proj.weight.mutate()[j] = 0;
      }
    } else {  // unlike the solution, this makes the head's values 0, so its result is 0, too
      std::fill_n(attn.c_attn.weight.mutate() + values * C, d * C, 0);
      std::fill_n(attn.c_attn.bias.mutate() + values, d, 0);
    }
    rises.push_back((silent.loss(ids, targets).item() - before) * (kind == negative ? -1 : 1));
  }
  return reshape(tensor(rises), {L, H});
}

static void check(Rises rises) {
  for (const Index L : {2, 1}) {
    const Generator random(L);
    GPTConfig config = GPTConfig().resized(L, 3, 12);
    config.vocab_size = 5;
    config.block_size = 6;
    GPT model(config, random);
    for (const Parameter& p : parameters(model)) p.set(randn(p.shape(), random).array());
    const IntArray ids = randint(0, 5, {4, 6}, random), targets = randint(0, 5, {4, 6}, random);
    GPT other = model.clone();
    other.train(L == 2);
    expect_close("The table of rises, of a random model,", rises(other, ids, targets),
                 measured<none>(model, ids, targets));
    for (std::size_t i = 0; i < parameters(model).size(); ++i)
      expect(close(parameters(other)[i], parameters(model)[i]), "a weight left");
    expect(other.training() == (L == 2), "another mode");
  }
}

static const Row<Rises> rows[] = {
    {"rows", "You set rows of the weight to 0, but the heads' results meet its columns.", measured<rows_of_weight>},
    {"other columns", "Head h has d = C / H columns that lie side by side, from h * d on: you take others.",
     measured<interleaved>, measured<narrow>},
    {"not put back", "One head at a time: put the weight back before you take out the next head.", measured<kept>},
    {"wrong sign", "The wrong way round: if the loss rises without a head, its number has to be above 0.",
     measured<negative>},
    {"not subtracted", "This is the loss without each head: subtract the loss with all of them.", measured<whole_loss>},
    {"a weight left", "Afterwards the model is another one: put weights back.",
     [](GPT& model, const IntArray& ids, const IntArray& targets) {
       const Tensor rises = measured<none>(model, ids, targets);
       model.transformer.h[0].attn.c_proj.weight.mutate()[0] = 0;
       return rises;
     }},
    {"another mode", "Afterwards the model is in another mode, training or evaluation: put that back, too.",
     [](GPT& model, const IntArray& ids, const IntArray& targets) {
       model.eval();
       return measured<none>(model, ids, targets);
     },
     [](GPT& model, const IntArray& ids, const IntArray& targets) {
       model.train();
       return measured<none>(model, ids, targets);
     }},
    {"hard-coded", "All rises are 0: is each head taken out before the loss is measured?",
     [](GPT& model, const IntArray&, const IntArray&) {
       return zeros({std::ssize(model.transformer.h), 3});
     }},
};
static const Table table(check, rows);

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
static const Right right([] { check(solution::rise_without_each); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(rise_without_each); });
}
