// Lesson 16. How an induction head appears. An induction head looks for an earlier copy of the current letter, and
// attends to the letter that came after this copy. It needs the help of heads in the layer below. Nothing in the
// training asks for such a head. A model of one layer cannot have an induction head, as matters() will show.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "engine/engine.h"
#include "examples/lessons/lesson.h"
#include "models/gpt.h"
#include "nn/head_pictures.h"
#include "nn/reach.h"
#include "train/tasks/induction.h"
#include "train/train.h"

using namespace mote;
namespace {
constexpr Index letters = 16, length = 12, T = 2 * length, heads = 4, width = 64;
/// A GPT whose blocks have attention alone. Each block adds the results of its heads to x, and does nothing else.
GPT attention_only(Index layers) {
  GPTConfig config = GPTConfig::attention_only().resized(layers, heads, width);
  config.vocab_size = letters;
  config.block_size = T;
  return GPT(config, Generator(1));
}
double loss_of(const GPT& model, const Batch& batch) {
  const NoGrad no_grad;
  return number(model.loss(batch.ids, batch.targets));
}
/// Returns two shares for each head of a layer. They say how much of the head's attention goes, on average,
///   previous:  to the token before;
///   induction: to the tokens that came after earlier copies of the current letter.
/// In  c f a c f a c  the last c has two earlier copies, and an f came after both.
/// Letters without an earlier copy do not count for induction.
std::vector<HeadScore> shares(GPT& model, std::size_t layer, const Batch& batch) {
  return head_scores(attention_maps(model, batch.ids)[layer].weights, batch.ids);
}
double most(const std::vector<HeadScore>& all, double HeadScore::*share) {
  return std::ranges::max(all, {}, share).*share;
}
/// The loss if every head of layer 0, at position t, gives the previous token only the weight 1 / (t + 1), which is an
/// even share among all t + 1 tokens. The other tokens share the rest of the weight in their old proportions.
double not_back(const GPT& model, const Batch& batch) {
  Array share = Array::zeros({T, T});
  for (Index t = 1; t < T; ++t) share.mutate()[t * T + t - 1] = real(1) / static_cast<real>(t + 1);
  const Change even(model, "transformer.h.0.attn weights", [before = Tensor(share)](const Tensor& w) {
    const Tensor others = where(before > Tensor(0), zeros({1}), w);
    return before + others * ((1 - sum(before, {1}, true)) / sum(others, {-1}, true));
  });
  return loss_of(model, batch);
}
/// Trains the model, and returns the printed rows. A row has four numbers: the loss, the largest share `previous` of a
/// head in the first layer, the largest share `induction` of a head in the last layer, and the loss of not_back(). The
/// fifth row is that of step 100.
std::vector<std::array<double, 4>> train(GPT& model, const InductionTask& task, const Batch& fresh) {
  std::vector<std::array<double, 4>> all;
  AdamW optimizer(decay_groups(model, 0.1), {.lr = 3e-3});
  const Generator random(2);
  for (int step = 0; step <= 400; ++step) {
    if (step % 100 == 0 || (step < 200 && step % 25 == 0)) {
      const double previous = most(shares(model, 0, fresh), &HeadScore::previous);
      const double induction = most(shares(model, model.transformer.h.size() - 1, fresh), &HeadScore::induction);
      const auto [loss, back, found, blind] =
          all.emplace_back(std::array{loss_of(model, fresh), previous, induction, not_back(model, fresh)});
      std::printf("   %4d %10.3f %10.2f %10.2f %17.3f\n", step, loss, back, found, blind);
    }
    const Batch batch = task.batch(32, Split::train, random);
    optimizer.zero_grad();
    model.loss(batch.ids, batch.targets).backward();
    clip_grad_norm(optimizer.parameters(), 1);
    optimizer.set_learning_rate(3e-3 * std::min(1.0, (step + 1) / 81.0));
    optimizer.step();
  }
  return all;
}
/// How much a head's choice of a letter depends on the letter that stands before the chosen one. After a b c d e f g h
/// i j k l a b c d e f  comes a g, because a g came after the first f. From the last f, at place 17, a head gives the
/// attention weight w_6 to the g at place 6 and, for comparison, w_9 to the j at place 9. Then the first f is replaced
/// by an m, so the g no longer comes after an f. Returns how much log(w_6 / w_9) changes, for the head of this layer
/// with the largest change.
double matters(GPT& model, std::size_t layer) {
  IntArray row({1, 18});
  for (Index t = 0; t < 18; ++t) row.mutate()[t] = t % 12;
  const Array before = attention_maps(model, row)[layer].weights;  // [1, heads, 18, 18]
  row.mutate()[5] = 12;
  const Array after = attention_maps(model, row)[layer].weights;
  double largest = 0;
  for (Index h = 0; h < heads; ++h) {
    const auto choice = [h](const Array& w) { return static_cast<double>(w.at({0, h, 17, 6}) / w.at({0, h, 17, 9})); };
    largest = std::max(largest, std::abs(std::log(choice(after) / choice(before))));
  }
  return largest;
}
void lesson() {
  const InductionTask task({.symbols = letters, .length = length});
  const Batch fresh = task.batch(100, Split::validation, Generator(3));
  GPT two = attention_only(2), one = attention_only(1);
  std::printf(
      "Rows of letters that begin again after 3 to 12 of them: c f a c f a c f ... What comes next is what\n"
      "came after the same letter before: only that counts in the loss. Two layers of attention, and the largest\n"
      "share that a head has, of the first layer (previous) and of the last (induction). An even look at all tokens\n"
      "so far has 0.12 of either. Then the loss if heads of the first layer have no more of the token before:\n"
      "   step       loss   previous  induction   without previous\n");
  const auto [early, little, half, blind] = train(two, task, fresh)[4];
  std::printf("One layer:\n");
  train(one, task, fresh);
  const double loss = loss_of(two, fresh), found = most(shares(two, 1, fresh), &HeadScore::induction);
  claim(loss < 0.2 && found > 0.5, "two layers learn it: in the second, an induction head");
  const double shallow = loss_of(one, fresh), guessed = most(shares(one, 0, fresh), &HeadScore::induction);
  claim(shallow > 1 && guessed < found / 2, "one layer has not learned it by then");
  claim(half > 0.5 && little < 0.25 && blind > early + 0.5,
        "at step 100 no head below looks back much, but four a little: together enough, for without that it is lost");

  std::printf(
      "\nTo find the g in  a b c d e f g h i j k l a b c d e f  the g's key must tell that an f stands before it.\n"
      "In the first layer, number 0, a key is made of one letter and its place. So heads there look one place\n"
      "back, which places alone can tell, and add what they hear. A head of layer 1 asks: who follows an f?\n");
  claim(matters(one, 0) < 1e-3 && matters(two, 0) < 1e-3, "in a first layer no key knows what stands before it");
  claim(matters(two, 1) > 10, "in the second it decides where a head looks: one finds the g");
  std::printf("   head of layer 0   previous (an even look: 0.12)   loss without this head (with all: %.3f)\n", loss);
  const std::vector<HeadScore> first = shares(two, 0, fresh);
  double back = 0, missing = 0, worst = 0;  // a head's largest share, the loss without this head, the largest loss
  for (Index h = 0; h < heads; ++h) {
    const Ablate out(two, "transformer.h.0.attn heads " + std::to_string(h));  // the head's output is 0 (nn/reach.h)
    const double share = first[static_cast<std::size_t>(h)].previous, left = loss_of(two, fresh);
    std::printf("   %15d %10.2f %42.3f\n", static_cast<int>(h), share, left);
    if (worst = std::max(worst, left); share > back) {
      back = share;
      missing = left;
    }
  }
  claim(back > 0.25 && missing > 2 * loss && missing == worst, "it suffers most without the head that looks back most");
  std::printf(
      "\nTry: rows of one period only (shortest = length): why is `induction` 0.91 in one layer? What does matters() "
      "say?\n"
      "No positions "
      "(config.position = Position::none): the mask still tells how many tokens stand before. Who looks back now?\n"
      "Now read nn/head_pictures.h, which draws what heads see, and examples/lessons/17_why_it_is_fast.cpp.\n");
}
}  // namespace

int main(int, char** argv) { return run_lesson(argv, lesson, "induction head; head; ablation"); }
