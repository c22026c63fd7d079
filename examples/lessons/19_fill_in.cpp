// Lesson 19. Filling in: a model that may look at both sides finds a hidden word. This is the main idea of BERT.
#include <array>
#include <vector>

#include "engine/engine.h"
#include "examples/lessons/lesson.h"
#include "nn/nn.h"
#include "train/optim/adamw.h"

using namespace mote;

namespace {

/// The words. A row is nine words in two clauses, such as "she never drinks tea and we sing old songs". The thing
/// after a verb tells which verb it is: tea is drunk, songs are sung. The person before a verb tells the form of the
/// verb: she drinks, we drink. So the model must look at both sides to find a hidden verb.
const char* const word[] = {"drinks", "eats",  "reads", "sings", "drink", "eat",   "read",  "sing", "he",
                            "she",    "we",    "they",  "tea",   "soup",  "books", "songs", "milk", "bread",
                            "news",   "hymns", "never", "often", "good",  "old",   "and",   "?"};
constexpr Index who_0 = 8, what_0 = 12, how_0 = 20, which_0 = 22, and_id = 24, hidden = 25, V = 26, T = 9, C = 32;

struct Rows {
  IntArray seen{{0, T}}, wanted{{0, T}};     // seen has a ? for one verb; wanted has that verb, and -1 everywhere else
  std::vector<std::array<Index, 3>> places;  // of the person, the verb and the thing in the clause of the ?
};

/// Draws rows. Each of he, she, we and they occurs with half of the eight things in training, and with the other half
/// in tests. If `hide` is false, the verb is not replaced by a ?.
Rows rows(Index count, bool test, const Generator& random, bool hide = true) {
  Rows all;
  const auto any = [&](Index n) { return randint(0, n, {1}, random).item(); };
  for (Index b = 0; b < count; ++b) {
    const IntArray gaps = randperm(4, random);  // two of four gaps get an extra word, so that the places of verbs vary
    const Index asked = any(2);
    std::vector<Index> row, wanted(T, -1);
    for (Index c = 0; c < 2; ++c) {
      Index who = any(4), what = any(8);
      while (((who + what + what / 4) % 2 == 1) != test) what = any(8);
      if (c == 1) row.push_back(and_id);
      const Index first = std::ssize(row);
      row.push_back(who_0 + who);
      if (gaps.at({c}) < 2) row.push_back(how_0 + any(2));
      const Index at = std::ssize(row), verb = 4 * (who / 2) + what % 4;
      if (c == asked) wanted[row.size()] = verb;
      row.push_back(c == asked && hide ? hidden : verb);
      if (gaps.at({2 + c}) < 2) row.push_back(which_0 + any(2));
      if (c == asked) all.places.push_back({first, at, std::ssize(row)});
      row.push_back(what_0 + what);
    }
    all.seen = concat({all.seen, IntArray({1, T}, row)});
    all.wanted = concat({all.wanted, IntArray({1, T}, wanted)});
  }
  return all;
}

/// An encoder reads a row and turns every word into a vector that also depends on the other words. It does not write
/// text. This encoder is a model as in lesson 12, with one block of two heads. (BERT has 12 blocks of 12 heads.) The
/// important difference is the mask. A GPT predicts the next word, so it must not see that word. Here a word may look
/// at all words, on both sides.
struct Encoder : Layer<Encoder> {
  Parameter token{normal(0, 0.02, {V, C}, Generator(1)).array()}, place{normal(0, 0.02, {T, C}, Generator(2)).array()};
  LayerNorm ln_1{C}, ln_2{C}, ln_f{C};
  MultiHeadAttention attn{C, 2, Generator(3)};
  FeedForward mlp{C, 4 * C, Generator(4)};
  Linear out{C, V, Generator(5)};
  Tensor forward(const IntArray& ids, const Mask& may_see) const {  // [B, T] -> [B, T, V]: word scores at each place
    const Tensor x = embedding(token, ids) + Tensor(place);
    const Tensor y = x + attn(ln_1(x), may_see);
    return out(ln_f(y + mlp(ln_2(y))));
  }
  void visit(Visitor& v) override {
    v("token", token);
    v("place", place);
    v("ln_1", ln_1);
    v("attn", attn);
    v("ln_2", ln_2);
    v("mlp", mlp);
    v("ln_f", ln_f);
    v("out", out);
  }
};

struct Result {
  double loss = 0, right = 0, form = 0, verb = 0, own = 0;  // all but the loss in percent
  Array look;                                               // [2, T]: weights of both heads, at the ? of the first row
};

Result learn(const char* name, const Mask& may_see, bool hide = true) {  // trains, and then fills in 1000 test rows
  Encoder model;
  AdamW optimizer(all_parameters(model), {.lr = 5e-3});
  const Generator data(6);
  Result r;
  for (int step = 0; step < 300; ++step) {
    const Rows some = rows(64, false, data, hide);
    optimizer.zero_grad();
    // Only hidden places count in the loss, because a word that is seen need only be copied.
    const Tensor loss = cross_entropy(model(some.seen, may_see), some.wanted, {.ignore_index = -1});
    loss.backward();
    optimizer.step();
    r.loss = number(loss);
  }
  const NoGrad no_grad;
  const Rows test = rows(1000, true, Generator(7));
  const IntArray best = argmax(model(test.seen, may_see));
  const Array look = attention_maps(model, test.seen, may_see)[0].weights;  // [B, 2, T, T]
  r.look = look.select(0, 0).select(1, test.places[0][1]);
  for (Index b = 0; b < 1000; ++b) {
    const auto [who, at, what] = test.places[std::size_t(b)];
    const Index said = best.at({b, at}), wanted = test.wanted.at({b, at});
    r.right += 0.1 * (said == wanted);
    r.form += 0.1 * (said / 4 == wanted / 4);
    r.verb += 0.1 * (said < 8 && said % 4 == wanted % 4);
    for (Index h = 0; h < 2; ++h) r.own += 0.05 * double(look.at({b, h, at, who}) + look.at({b, h, at, what}));
  }
  std::printf("   %-32s %8.3f %8.1f %8.1f %8.1f\n", name, r.loss, r.right, r.form, r.verb);
  return r;
}

void lesson() {
  std::printf("A word may see                         loss  right, %%     form     verb\n");
  const Mask all = Mask::full({T, T}, true), left = causal_mask(T), right = left.transpose(0, 1);
  const Result both = learn("all words", all), before = learn("itself and those before", left);
  const Result after = learn("itself and those after", right), copy = learn("all, and none is hidden", all, false);
  claim(both.right >= 99, "who sees both sides fills in what is hidden");
  claim(before.form >= 99 && before.verb < 35, "only to the left: its form is known, the verb is not (ln 4 = 1.386)");
  claim(after.verb >= 99 && after.form < 60, "only to the right: the verb is known, its form is not (ln 2 = 0.693)");
  claim(copy.loss < 0.05 && copy.right < 50, "what is seen in training is copied, and nothing else is learned");
  std::printf("\nWhere the ? looks, in percent of each head's attention:\n            ");
  for (const Index id : rows(1, true, Generator(7)).seen.to_vector()) std::printf("%7s", word[id]);
  for (Index i = 0; i < 2 * T; ++i) {
    if (i % T == 0) std::printf("\n   head %d   ", int(i / T));
    std::printf("%7.0f%s", 100 * double(both.look.at({i / T, i % T})), i + 1 == 2 * T ? "\n" : "");
  }
  claim(both.own > 60, "most of it, " + std::to_string(int(both.own)) + " %, goes to who and what of its own clause");
  std::printf(
      "\nTry: hide both verbs of a row. Hide who instead: what does the loop that draws `what` give away of it?\n"
      "Now read examples/lessons/20_encoder_decoder.cpp: an encoder that reads, and a decoder that writes.\n");
}

}  // namespace

int main(int, char** argv) { return run_lesson(argv, lesson, "encoder; causal mask"); }
