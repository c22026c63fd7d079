// Which head copies? A model with two layers of two heads has learned to continue rows of letters that repeat. One
// head of the second layer copies the letter. Without this head almost nothing is right. Without its neighbour almost
// everything is.
#include "engine/engine.h"
#include "examples/figures/figure.h"
#include "nn/head_pictures.h"
#include "train/tasks/induction.h"

using namespace mote;

namespace {

/// The percentage of right predictions while 0 replaces the output of this head.
double without(const GPT& model, Index layer, Index head, const Batch& batch) {
  const Ablate ablate(model, attention_name(layer) + " heads " + std::to_string(head));
  return percent_right(model, batch);
}

void figure() {
  const InductionTask task({.symbols = 16, .length = 12});
  const Batch fresh = task.batch(200, Split::validation, Generator(3));
  GPTConfig config = GPTConfig::attention_only().resized(2, 2, 16);
  config.vocab_size = task.vocab_size();
  config.block_size = task.block_size();
  std::printf(
      "Rows of letters that begin again after 3 to 12 of them: c f a c f a c ... Percent right of all that can be\n"
      "known, whole and without one head. And OV: for how many of the 16 letters what a head of layer 1 writes where\n"
      "it looks at one makes that letter likelier than all others, in percent. And how much its keys read of what "
      "each\n"
      "head of layer 0 writes (of random matrices about 0.25).\n\n"
      "         whole   without head of layer 0     of layer 1   the copying head's OV   its neighbour's   their sum   "
      "its keys\n"
      "                         0      1             0      1\n");
  std::vector<double> whole, broken, unbroken, copies, together;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const GPT model(config, Generator(seed));
    train(model, task, 1500, 0.1, Generator(seed + 100));
    double left[2][2];
    for (Index l = 0; l < 2; ++l)
      for (Index h = 0; h < 2; ++h) left[l][h] = without(model, l, h, fresh);
    const Index copying = left[1][0] < left[1][1] ? 0 : 1;
    const FactoredMatrix its = ov(model, 1, copying), other = ov(model, 1, 1 - copying);
    const auto heard = [&](Index h) { return composition(ov(model, 0, h), transposed(qk(model, 1, copying))); };
    const auto score = [&](const FactoredMatrix& m) { return 100 * copying_score(model, 1, m); };
    whole.push_back(percent_right(model, fresh));
    broken.push_back(left[1][copying]);
    unbroken.push_back(left[1][1 - copying]);
    copies.push_back(score(its));
    together.push_back(score(its + other));
    std::printf("seed %2d %5.1f %17.1f %6.1f %13.1f %6.1f %15.0f %21.0f %15.0f %6.2f %4.2f\n", static_cast<int>(seed),
                whole.back(), left[0][0], left[0][1], left[1][0], left[1][1], copies.back(), score(other),
                together.back(), heard(0), heard(1));
  }
  const auto least = [](const std::vector<double>& x) { return std::ranges::min(x); };
  const double most = std::ranges::max(broken);
  std::printf(
      "\nMedian and worst of ten seeds: without the copying head %.1f and %.1f %% right, without the other %.1f and\n"
      "%.1f %%. Its OV copies %.0f and %.0f %% of the letters; both heads' %.0f and %.0f %%. In a model of 12 heads of "
      "768\n"
      "with a text's vocabulary ARENA finds 30.8 %% for one induction head and 95.6 %% for the sum of two.\n",
      median(broken), most, median(unbroken), least(unbroken), median(copies), least(copies), median(together),
      least(together));
  claim(least(whole) > 99, "all ten models have learned it");
  claim(most < 20 && least(unbroken) > 95,
        "in each one head copies: taken out, copying breaks; the other, it does not");
  claim(least(copies) > 90, "and its OV is a matrix that copies");
}

}  // namespace

int main(int, char** argv) { return run_lesson(argv, figure); }
