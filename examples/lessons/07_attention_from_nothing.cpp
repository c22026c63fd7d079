// Lesson 7. Attention from nothing: what a query, a key and a value are for.
#include <cmath>

#include "engine/engine.h"
#include "examples/lessons/lesson.h"
#include "nn/nn.h"
#include "train/optim/adamw.h"

using namespace mote;

namespace {
/// Attention: every token gets a weighted mean of vectors that come from the tokens it may see. A token is a letter or
/// a word that the model reads. x [..., T, C] has C numbers for each of T tokens. Three matrices turn the C numbers of
/// a token into
///   a query  q: what this token looks for,
///   a key    k: what this token can be found by,
///   a value  v: what this token tells the tokens that find it.
/// A token gets the weighted mean of the values of all tokens that `may_see` lets it see, usually itself and the
/// tokens before it. A value has a large weight if the key of its token fits the query. The fit is the sum of q_c k_c,
/// which is large if q and k have large numbers of the same sign at the same places c. So attention is like looking up
/// an entry of a table, except that it mixes all entries by their weights. The result therefore has a gradient, and
/// the model can learn what to look for.
Tensor attend(const Tensor& x, const Tensor& W_q, const Tensor& W_k, const Tensor& W_v, const Mask& may_see) {
  const Tensor q = linear(x, W_q), k = linear(x, W_k), v = linear(x, W_v);  // [..., T, d] each
  const Tensor fit = matmul(q, transpose(k, -2, -1));                       // [..., T, T]: the fit of each q_i and k_j
  const Tensor scores = fit * (1 / std::sqrt(static_cast<real>(q.size(-1))));
  const Tensor weights = masked_softmax(scores, may_see);  // each row sums to 1; tokens that may not be seen get 0
  return matmul(weights, v);                               // row i is the sum over j of weights_ij v_j
}
// By hand: the tokens are a=3, b=7, c=1 and the question "b?". The vector of a token has five numbers. The first three
// say whether the token is about a, b or c. The fourth is the digit of the token. The fifth is 1 for a question. The
// 20 in W_q makes the weights sharp. A token whose key fits has e^(20 / sqrt(3)), about 100,000, times the weight of a
// token whose key does not fit.
void by_hand() {
  const Tensor x = tensor({{1, 0, 0, 3, 0}, {0, 1, 0, 7, 0}, {0, 0, 1, 1, 0}, {0, 1, 0, 0, 1}});
  const Tensor W_q = tensor({{20, 0, 0, 0, 0}, {0, 20, 0, 0, 0}, {0, 0, 20, 0, 0}});  // query: its letter
  const Tensor W_k = tensor({{1, 0, 0, 0, -1}, {0, 1, 0, 0, -1}, {0, 0, 1, 0, -1}});  // key: its letter if no question
  const Tensor W_v = tensor({{0, 0, 0, 1, 0}});                                       // value: its digit
  const Tensor scores = matmul(linear(slice(x, 0, 3, 4), W_q), transpose(linear(x, W_k), 0, 1)) / std::sqrt(real(3));
  const double answer = number(slice(attend(x, W_q, W_k, W_v, causal_mask(4)), 0, 3, 4));
  std::cout << "1. a=3 b=7 c=1 b?   The question gives to the four tokens these weights:\n" << softmax(scores);
  std::printf("\n   and gets the mean of their digits 3, 7, 1, 0 with these weights: %.4f\n", answer);
  claim(std::abs(answer - 7) < 1e-3, "the answer to b? is 7");
}

void causality(const Generator& random) {
  const Tensor W_q = randn({8, 8}, random), W_k = randn({8, 8}, random), W_v = randn({8, 8}, random);
  const Tensor x = randn({6, 8}, random), changed = concat({slice(x, 0, 0, 5), randn({1, 8}, random)});
  const auto first_rows_stay = [&](const Mask& mask) {
    const Tensor a = attend(x, W_q, W_k, W_v, mask), b = attend(changed, W_q, W_k, W_v, mask);
    return slice(a, 0, 0, 5).to_vector() == slice(b, 0, 0, 5).to_vector();
  };
  std::printf("\n2. A model that is to guess the next token must not see it. So the mask is causal, row by row:\n");
  std::cout << causal_mask(4) << "\n";
  claim(first_rows_stay(causal_mask(6)), "with it, no bit of the first five tokens depends on the sixth");
  claim(!first_rows_stay(Mask::full({6, 6}, true)), "without it they do");
}

void why_sqrt(const Generator& random) {
  std::printf(
      "\n3. Why / sqrt(d)? A score is a sum of d products, of either sign and size 1. In its square, products of two\n"
      "   cancel on average, and d squares stay: its deviation (the root of the mean square) is sqrt(d). And if one\n"
      "   of 16 weights is nearly 1, moving its score s changes nothing; nothing is learned: w = e^s / (e^s + rest)\n"
      "   has the slope w - w^2. Below, the largest w on average; deaf: queries for whose largest w that is < 0.001.\n"
      "      d   size of scores   weight      deaf   with / sqrt(d): weight      deaf\n");
  double plain = 0, scaled = 0;
  for (const Index d : {4, 64, 1024}) {
    const Tensor q = randn({512, d}, random), k = randn({16, d}, random);
    const Tensor scores = matmul(q, transpose(k, 0, 1));
    const Tensor w = max(softmax(scores), {-1}), v = max(softmax(scores / std::sqrt(real(d))), {-1});
    const auto deaf = [](const Tensor& slope) { return 100 * number(mean(tensor(slope < Tensor(0.001)))); };
    plain = deaf(w - w * w);
    scaled = deaf((v - v * v) / std::sqrt(real(d)));  // the slope with respect to the score before the division
    std::printf("   %4d %16.1f %8.2f %7.0f %% %23.2f %7.0f %%\n", static_cast<int>(d), std::sqrt(number(var(scores))),
                number(mean(w)), plain, number(mean(v)), scaled);
  }
  claim(plain > 50 && scaled < 5, "without it most long queries hear one token alone, and hardly learn to hear others");
}
/// Draws B random questions, [B, 5], and their answers, [B]. A row has four facts "letter = digit", with the ids
/// 10 * letter + digit. Then comes the question for one of these letters, with the id 40 + letter. The answer is the
/// digit of this letter.
std::pair<IntArray, IntArray> questions(Index B, const Generator& random) {
  IntArray ids({B, 5}), answers({B});
  for (Index b = 0; b < B; ++b) {
    const IntArray letters = randperm(4, random), digits = randint(0, 10, {4}, random);
    const Index asked = randint(0, 4, {1}, random).item();
    for (Index i = 0; i < 4; ++i) ids.mutate()[5 * b + i] = 10 * letters.at({i}) + digits.at({i});
    ids.mutate()[5 * b + 4] = 40 + letters.at({asked});
    answers.mutate()[b] = digits.at({asked});
  }
  return {ids, answers};
}
/// A model that answers the questions: vectors of 32 numbers for 44 tokens, attention, and scores for ten digits. All
/// three are learned.
struct Reader : Layer<Reader> {
  Embedding tokens{44, 32, Generator(1)};
  MultiHeadAttention look{32, 1, Generator(2), {.causal = true}, {.bias = false}};  // the 1 is one head, see lesson 9
  Linear out{32, 10, Generator(3)};
  Tensor forward(const IntArray& ids) const { return out(select(look(tokens(ids)), 1, 4)); }  // 4: the question's place
  void visit(Visitor& v) override { v("tokens", tokens), v("look", look), v("out", out); }
};

void learned(const Generator& random) {
  const Reader model;
  AdamW optimizer(all_parameters(model), {.lr = 1e-2});
  std::printf("\n4. Nobody writes these matrices by hand. They begin as random numbers, and learn from questions:\n");
  for (int step = 0; step <= 300; ++step) {
    const auto [ids, answers] = questions(64, random);
    optimizer.zero_grad();
    const Tensor loss = cross_entropy(model(ids), answers);
    loss.backward();
    optimizer.step();
    if (step % 100 == 0) std::printf("   step %3d  loss %.4f\n", step, number(loss));
  }
  const NoGrad no_grad;
  const auto [ids, answers] = questions(1000, random);
  const double right = 1000 * number(mean(tensor(argmax(model(ids)) == answers)));
  claim(right >= 990, std::to_string(std::lround(right)) + " of 1000 new questions are answered right");
  const MultiHeadAttention& layer = model.look;
  const Tensor x = model.tokens(ids), layers_own = layer(x);
  const Tensor heard = attend(x, layer.q_proj.weight, layer.k_proj.weight, layer.v_proj.weight, causal_mask(5));
  claim(linear(heard, layer.o_proj.weight).to_vector() == layers_own.to_vector(),
        "the layer that learned it is attend() and a matrix, to mix heads (lesson 9), to the last bit");
}

void lesson() {
  const Generator random(7);
  by_hand();
  causality(random);
  why_sqrt(random);
  learned(random);
  std::printf(
      "\nTry: swap W_q and W_k in part 1. A fifth letter, and five facts before each question: which numbers change?\n"
      "Now read examples/lessons/08_positions.cpp: attention does not know in which order its tokens stand.\n");
}
}  // namespace

int main(int, char** argv) { return run_lesson(argv, lesson, "attention; query, key, value; causal mask; sqrt(d)"); }
