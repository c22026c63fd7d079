// Lesson 8. Positions. Attention does not know the order of the tokens that it sees. There are four ways to tell it.
#include <algorithm>
#include <array>
#include <cmath>

#include "engine/engine.h"
#include "examples/lessons/lesson.h"
#include "nn/nn.h"
#include "train/optim/adamw.h"

using namespace mote;

namespace {
constexpr Index C = 32, symbols = 8, question = 8, trained = 16, longer = 32;
enum class Way { nothing, learned, waves, rotary, alibi };
const char* const how[] = {"nothing: x_t alone", "learned: x_t + p_t, and every p_t is trained",
                           "waves:   x_t + sines and cosines of t f, for 16 speeds f",
                           "rotary:  q_t turned by t f, and k_s by s f", "ALiBi:   score - (t - s), a linear bias"};
/// The angle t f for every place t and each of 16 speeds f: 1, 0.56, 0.32 and so on, down to 0.0002. [T, 16]
Tensor angles(Index T) {
  const Tensor t = arange(static_cast<double>(T)), f = exp(arange(C / 2) * (-std::log(10000.0) / (C / 2)));
  return unsqueeze(t, 1) * f;
}
/// Rotary positions: the rows of x, turned by angles. Numbers i and i + 16 of row t, called a and b, are a point in
/// the plane. The point is turned about the origin by the angle t f_i. The dot product of two points stays the same if
/// both turn by the same angle. So imagine that the turned q_t and k_s are both turned back by s f. Then k_s is not
/// turned at all, and q_t is turned by (t - s) f. So the product of q_t and k_s, the score, depends on the places only
/// through the distance t - s.
Tensor turned(const Tensor& x, const Tensor& angle) {  // [..., T, C]
  const Tensor a = slice(x, -1, 0, C / 2), b = slice(x, -1, C / 2, C), c = cos(angle), s = sin(angle);
  const Tensor ac = a * c, bs = b * s, bc = b * c, as = a * s;
  return concat({ac - bs, bc + as}, -1);
}
/// A model with lesson 7's attention. `way` says how attention is told the positions.
struct Model : Layer<Model> {
  Way way;
  Embedding tokens{symbols + 1, C, Generator(1)};  // eight symbols and a question
  Parameter p{randn({longer, C}, Generator(2)).array()};
  Linear q{C, C, Generator(3)}, k{C, C, Generator(4)}, v{C, C, Generator(5)}, out{C, symbols, Generator(6)};
  explicit Model(Way w) : way(w) {}
  std::pair<Tensor, Tensor> look(Tensor x, const Mask& may_see) const {  // [..., T, C] -> weights [..., T, T], values
    const Index T = x.size(-2);
    const Tensor angle = angles(T), s = arange(static_cast<double>(T)), t = unsqueeze(s, 1);
    if (way == Way::learned) x = x + slice(p, 0, 0, T);
    // The product of the waves at t and s is the sum of sin(t f) sin(s f) + cos(t f) cos(s f) = cos((t - s) f) over
    // all f. So the product depends on the places only through the distance t - s.
    if (way == Way::waves) x = x + concat({sin(angle), cos(angle)}, 1);
    Tensor query = q(x), key = k(x);
    if (way == Way::rotary) {
      query = turned(query, angle);
      key = turned(key, angle);
    }
    Tensor scores = matmul(query, transpose(key, -2, -1)) / std::sqrt(real(C));
    if (way == Way::alibi) scores = scores - abs(t - s);  // "attention with linear biases": near tokens count more
    return {masked_softmax(scores, may_see), v(x)};
  }
  Tensor forward(const IntArray& ids) const {  // [B, T] -> [B, T, 8]: scores for the eight symbols
    const auto [weights, values] = look(tokens(ids), causal_mask(ids.shape()[1]));
    return out(matmul(weights, values));
  }
  void visit(Visitor& f) override { f("tokens", tokens), f("p", p), f("q", q), f("k", k), f("v", v), f("out", out); }
};
void blind(const Generator& random) {
  const Model model(Way::nothing);
  const Tensor x = randn({8, C}, random);
  const auto exchanged = [](const Tensor& rows) { return concat({slice(rows, 0, 4, 8), slice(rows, 0, 0, 4)}); };
  const auto heard = [&](const Tensor& tokens) {
    const auto [weights, values] = model.look(tokens, Mask::full({8, 8}, true));
    return matmul(weights, values);
  };
  const Tensor before = heard(x), after = heard(exchanged(x));
  const double moved = number(max(abs(after - before))), apart = number(max(abs(after - exchanged(before))));
  std::printf("1. Eight tokens, all see all, reordered: results %.2f off by place, %.0e by token\n", moved, apart);
  claim(moved > 0.01 && apart < 1e-6, "another order gives the same results in that order, but for rounding");
  // Compares the dot products a_5 b_5, a_5 b_6, ... of rows of a and b with a_0 b_0, a_0 b_1, ..., which have the same
  // distances 0, 1, ... Returns the largest difference.
  const auto differ = [](const Tensor& a, const Tensor& b) {
    const Tensor fit = matmul(a, transpose(b, 0, 1)), from_0 = select(fit, 0, 0), from_5 = select(fit, 0, 5);
    return number(max(abs(slice(from_5, 0, 5, longer) - slice(from_0, 0, 0, longer - 5))));
  };
  const Tensor angle = angles(longer), waves = concat({sin(angle), cos(angle)}, 1);
  const Tensor same = turned(expand(randn({1, C}, random), {longer, C}), angle);  // the same vector at every place
  claim(differ(same, same) < 1e-4 && differ(waves, waves) < 1e-4, "turned vectors, waves: products know distance only");
  claim(differ(model.q(waves), model.k(waves)) > 0.1, "but waves behind q and k do not: these mix sines with cosines");
}
/// Rows of symbols with some questions among them, and the answers. A question asks which symbol stands just before
/// it. The answer is -1 where nothing is asked.
std::pair<IntArray, IntArray> rows(Index count, Index T, const Generator& random) {
  IntArray ids = randint(0, symbols, {count, T}, random), answers = IntArray::full({count, T}, -1);
  const IntArray asks = randint(0, 2, {count, T}, random);
  Index* const id = ids.mutate();
  Index* const answer = answers.mutate();
  for (Index i = 0; i < count * T; ++i)
    if (i % T > 0 && asks.data()[i] == 1 && id[i - 1] != question) {
      answer[i] = id[i - 1];
      id[i] = question;
    }
  return {ids, answers};
}
/// Trains a model and returns three percentages: of questions answered right at places 1 to 16, of questions answered
/// right at places 17 to 32, and of the attention that questions at places 17 to 32 give to places 1 to 16.
std::array<double, 3> learn(Way way) {
  const Model model(way);
  const Generator random(2);
  AdamW optimizer(all_parameters(model), {.lr = 1e-2});
  for (int step = 0; step < 300; ++step) {
    const auto [ids, answers] = rows(64, trained, random);
    optimizer.zero_grad();
    cross_entropy(model(ids), answers, {.ignore_index = -1}).backward();  // answers of -1 do not count
    optimizer.step();
  }
  const NoGrad no_grad;
  const auto [ids, answers] = rows(500, longer, random);
  const auto [weights, values] = model.look(model.tokens(ids), causal_mask(longer));
  const Tensor right = tensor(argmax(model.out(matmul(weights, values))) == answers), asked = tensor(answers != -1);
  const Tensor back = sum(slice(weights, 2, 0, trained), {2});
  const auto share = [&](const Tensor& x, Index from, Index to) {
    return 100 * number(sum(slice(x * asked, 1, from, to)) / sum(slice(asked, 1, from, to)));
  };
  return {share(right, 0, trained), share(right, trained, longer), share(back, trained, longer)};
}
void lesson() {
  blind(Generator(1));
  std::printf(
      "\n2. Rows of 8 symbols with questions: which symbol stands just before me? Trained on 16 places.\n"
      "   %% right if attention is told by                             places 1 to 16   17 to 32, looking at 1-16\n");
  std::array<double, 3> got[5];
  for (std::size_t i = 0; i < 5; ++i) {
    got[i] = learn(static_cast<Way>(i));
    std::printf("   %-60s %13.0f %10.0f %17.0f %%\n", how[i], got[i][0], got[i][1], got[i][2]);
  }
  claim(got[0][0] < 60, "nothing: it knows which symbols there were, not where, and says what came often");
  claim(std::min({got[1][0], got[2][0], got[3][0], got[4][0]}) > 90, "each of the four tells it where");
  claim(std::max(got[1][1], got[2][1]) < 50 && std::min(got[1][2], got[2][2]) > 70,
        "learned, waves: scores depend on the places themselves, and who stands at a new one looks at trained ones");
  claim(std::min(got[3][1], got[4][1]) > 90 && std::max(got[3][2], got[4][2]) < 30,
        "rotary, ALiBi: scores know distances alone, and the one that is asked for, 1, is the same at new places");
  std::printf(
      "\nTry: ask for the first symbol of the row: which ways can learn that? Give ALiBi another slope, say\n"
      "0.1 (t - s). Now read examples/lessons/09_heads.cpp: why a token should look more than once at a time.\n");
}
}  // namespace

int main(int, char** argv) { return run_lesson(argv, lesson, "position; embedding"); }
