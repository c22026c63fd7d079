// Lesson 12. A GPT on one page: the whole model as operations on tensors, trained on names. Its losses and weights
// equal those of models/gpt to the last bit.
#include <cmath>
#include <vector>

#include "engine/engine.h"
#include "examples/lessons/lesson.h"
#include "examples/lessons/names.h"
#include "models/gpt.h"  // for the comparison at the end
#include "train/optim/adamw.h"

using namespace mote;

namespace {
constexpr Index V = symbols, T = 12, C = 32, H = 4, L = 2;  // symbols, longest context, width, heads, blocks

Parameter matrix(Index rows, Index columns) { return Parameter(Array::zeros({rows, columns})); }
Parameter vector(Index n, real value = 0) { return Parameter(Array::full({n}, value)); }

/// One block of lesson 11: first attention, then an MLP. Each of the two adds its result to x.
struct Block : Layer<Block> {
  // A norm multiplies by a learned weight, which begins as 1, and adds a learned bias, which begins as 0.
  Parameter ln_1 = vector(C, 1), ln_1_bias = vector(C), attn = matrix(3 * C, C), attn_bias = vector(3 * C),
            attn_proj = matrix(C, C), attn_proj_bias = vector(C), ln_2 = vector(C, 1), ln_2_bias = vector(C),
            fc = matrix(4 * C, C), fc_bias = vector(4 * C), mlp_proj = matrix(C, 4 * C), mlp_proj_bias = vector(C);

  Tensor forward(const Tensor& x) const {  // [B, T, C] -> [B, T, C]
    const Index B = x.size(0), n = x.size(1), d = C / H;
    const Tensor qkv = linear(layer_norm(x, ln_1, ln_1_bias), attn, attn_bias);  // [B, n, queries | keys | values]
    const auto heads = [&](Index part) {                                         // [B, H, n, d]
      return transpose(reshape(slice(qkv, 2, part * C, part * C + C), {B, n, H, d}), 1, 2);
    };
    const Tensor q = heads(0), k = heads(1), v = heads(2);
    const Tensor scores = matmul(q, transpose(k, 2, 3)) * (1 / std::sqrt(static_cast<real>(d)));
    const Tensor heard = matmul(masked_softmax(scores, causal_mask(n)), v);  // lesson 7, in each of H heads
    const Tensor joined = reshape(transpose(heard, 1, 2), {B, n, C});
    const Tensor y = x + linear(joined, attn_proj, attn_proj_bias);
    const Tensor hidden = gelu(linear(layer_norm(y, ln_2, ln_2_bias), fc, fc_bias));
    return y + linear(hidden, mlp_proj, mlp_proj_bias);
  }
  void visit(Visitor& v) override {
    v("ln_1", ln_1);
    v("ln_1_bias", ln_1_bias);
    v("attn", attn);
    v("attn_bias", attn_bias);
    v("attn_proj", attn_proj);
    v("attn_proj_bias", attn_proj_bias);
    v("ln_2", ln_2);
    v("ln_2_bias", ln_2_bias);
    v("fc", fc);
    v("fc_bias", fc_bias);
    v("mlp_proj", mlp_proj);
    v("mlp_proj_bias", mlp_proj_bias);
  }
};

struct PageGPT : Layer<PageGPT> {
  Parameter tokens = matrix(V, C), positions = matrix(T, C), ln_f = vector(C, 1), ln_f_bias = vector(C);
  std::vector<Block> blocks{L};

  // The first weights have deviation 0.02, as in GPT-2. At GPT-2's width C = 768 this is about half of lesson 11's
  // 1 / sqrt(C). At the width of this page it is a ninth. So at first a block changes x only a little, and blocks must
  // first learn what to add to x. Small token vectors make small logits, so the model begins by guessing. x adds up
  // the results of 2 L parts, and such a sum is about sqrt(2 L) times as large as the result of one part (lesson 7).
  // So the first weights of each part's last matrix are divided by sqrt(2 L).
  explicit PageGPT(const Generator& random) {
    for (const auto& [name, p] : named_parameters(*this))
      if (p.shape().rank() == 2) init::normal(p, 0, name.ends_with("proj") ? 0.02 / std::sqrt(2.0 * L) : 0.02, random);
  }
  Tensor forward(const IntArray& ids) const {  // [B, T] -> [B, T, V]: scores for each next symbol
    const Tensor token = embedding(tokens, ids);
    Tensor x = token + slice(positions, 0, 0, ids.shape()[1]);
    for (const Block& block : blocks) x = block(x);
    // The weights are tied: the matrix of the scores is the matrix of the token vectors. A score is how well x fits a
    // symbol's vector.
    return linear(layer_norm(x, ln_f, ln_f_bias), tokens);
  }
  Tensor loss(const IntArray& ids, const IntArray& targets) const {  // the mean of -log p(target)
    return cross_entropy((*this)(ids), targets, {.ignore_index = -1});
  }
  void visit(Visitor& v) override {
    v("wte", tokens);
    v("wpe", positions);
    v("h", blocks);
    v("ln_f", ln_f);
    v("ln_f_bias", ln_f_bias);
  }
};

/// Trains on 32 random names at a time, and returns the losses of all steps.
template <class Model>
std::vector<real> train(const Model& model) {
  const Generator random(2);
  const auto [ids, targets] = name_rows(T);
  AdamW optimizer(decay_groups(model, 0.1), {.lr = 3e-3});  // an optimizer, see lesson 14
  std::vector<real> losses;
  for (int step = 0; step <= 400; ++step) {
    const std::vector<Index> some = randint(0, ids.shape()[0], {32}, random).to_vector();
    optimizer.zero_grad();
    const Tensor loss = model.loss(take_rows(ids, some), take_rows(targets, some));
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item());
  }
  return losses;
}

/// Writes names, letter by letter. Each letter is drawn with the probability that the model gives it. The model then
/// reads this letter together with the letters before it.
void invent(const PageGPT& page, const Generator& random) {
  const NoGrad no_grad;
  std::printf("\nTen names that it writes (is one of them in names.h?):");
  for (int i = 0; i < 10; ++i) {
    IntArray ids({1, 1});
    std::printf(" ");
    for (Index t = 0; t < T; ++t) {
      const IntArray next = multinomial(softmax(select(page(ids), 1, t)), 1, random);
      if (next.item() == 0) break;
      std::printf("%c", letter(next.item()));
      ids = concat({ids, next}, 1);
    }
  }
  std::printf("\n\n");
}
void lesson() {
  const PageGPT page(Generator(1));
  const std::vector<real> losses = train(page);
  for (std::size_t step = 0; step < losses.size(); step += 100)
    std::printf("step %3zu  loss %.4f on the names it learns from\n", step, static_cast<double>(losses[step]));
  claim(std::abs(static_cast<double>(losses[0]) - std::log(27.0)) < 0.05, "it begins by guessing: ln 27 = 3.2958");
  claim(losses.back() < 2.2, "and learns what these names are made of");
  invent(page, Generator(3));

  const GPT library({.block_size = T, .vocab_size = V, .n_layer = L, .n_head = H, .n_embd = C}, Generator(1));
  claim(train(library) == losses, "models/gpt, built with the same seed, has the same 401 losses, to the last bit");
  bool equal = true;
  const auto ours = named_parameters(page), theirs = named_parameters(library);
  for (std::size_t i = 0; i < ours.size(); ++i)
    equal = equal && ours[i].parameter.value().to_vector() == theirs[i].parameter.value().to_vector();
  claim(equal && ours.size() == theirs.size(), "and the same weights at the end: this page is the library's model");
  std::printf(
      "\nTry: leave out the positions. Leave out both `x +`, once with these first weights and once with\n"
      "1 / sqrt(inputs). 1 / sqrt(inputs) with them.\n"
      "Now read models/gpt.cpp, which is this page with options, and examples/lessons/13_sampling.cpp.\n");
}
}  // namespace

int main(int, char** argv) { return run_lesson(argv, lesson, "GPT; transformer block; tied; batch"); }
