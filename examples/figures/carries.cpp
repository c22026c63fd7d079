// Where is the carry? Two sums differ in nothing but a carry, and each value of one run is put into the other run
// (activation patching). Which head, at which place, makes 3 4 + 2 8 give 6 and not 5?
#include "engine/engine.h"
#include "examples/figures/figure.h"
#include "nn/head_pictures.h"
#include "train/tasks/addition.h"

using namespace mote;

namespace {

constexpr Index pairs = 100, length = 7;

/// Pairs of prompts a1 a0 + b1 b0 = s0, which continue with the tens digit of the sum. `without` has no carry. `with`
/// has last digits whose sum is 10 larger, so s0 is the same and there is a carry. `tens` are the tens digits of
/// `without`, and `tens_and_one` are those of `with`.
struct Pairs {
  IntArray without{{pairs, length}}, with{{pairs, length}}, tens{{pairs, 1}}, tens_and_one{{pairs, 1}};
};
Pairs pairs_of(const Generator& random) {
  Pairs all;
  const auto draw = [&](Index from, Index to) { return randint(from, to, {1}, random).item(); };
  for (Index n = 0; n < pairs; ++n) {
    const Index a1 = draw(0, 10), b1 = draw(0, 10), s = draw(0, 9), a = draw(0, s + 1), c = draw(s + 1, 10);
    const Index x[] = {a1, a, 10, b1, s - a, 11, s}, y[] = {a1, c, 10, b1, s + 10 - c, 11, s};
    std::copy_n(x, length, all.without.mutate() + n * length);
    std::copy_n(y, length, all.with.mutate() + n * length);
    all.tens.mutate()[n] = (a1 + b1) % 10;
    all.tens_and_one.mutate()[n] = (a1 + b1 + 1) % 10;
  }
  return all;
}

void figure(const char* file) {
  const AdditionTask task;
  const Pairs p = pairs_of(Generator(5));
  const Metric carried = [&p](const Tensor& logits) {  // share of sums whose predicted tens digit has the carry
    const Tensor last = select(logits, 1, length - 1);
    return mean(tensor(gather(last, 1, p.tens_and_one) > gather(last, 1, p.tens)));
  };
  const std::vector<std::string> places{"a1", "a0", "+", "b1", "b0", "=", "s0"}, layers{"layer 0", "layer 1"};
  std::printf(
      "In percent: sums that then carry, if a head has what it had in the sum with a carry, at all places\n\n"
      "seed   no patch   layer 0, head 0   1   2   3   layer 1, head 0   1   2   3\n");
  std::vector<double> best, second;
  // Both are of the last seed. `blocks` [layers, places] is the share of sums that carry after a block is patched at a
  // place. `neurons` is how much each neuron raises the logit of the tens digit with the carry above the logit without
  // it.
  Tensor blocks, neurons;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const GPT model({task.block_size(), task.vocab_size(), 2, 4, 64}, Generator(seed));  // 2 layers, 4 heads, width 64
    train(model, task, 1500, 0.1, Generator(seed + 100));
    const NoGrad no_grad;
    const std::vector<real> table = patch_table(model, p.without, p.with, ".attn heads", carried).to_vector();
    std::printf("%4d %10.0f ", static_cast<int>(seed), 100 * number(carried(model(p.without))));
    for (std::size_t h = 0; h < 8; ++h)
      std::printf(h % 4 == 0 ? "%17.0f" : "%4.0f", 100 * static_cast<double>(table[h]));
    std::puts("");
    std::vector<double> sorted(table.begin(), table.end());
    std::ranges::sort(sorted);
    best.push_back(100 * sorted[7]);
    second.push_back(100 * sorted[6]);
    blocks = patch_table(model, p.without, p.with, "", carried);
    const Decomposition run(model, p.with);
    neurons = mean(select(run.neuron_shares(1, p.tens_and_one, p.tens), 1, length - 1), {0});
  }
  std::cout << "\nThe last model, block by block: at which place is the carry? (. is 0 %, @ is 100 %)\n"
            << attention_text(transpose(blocks, 0, 1).array(), places, false);
  std::printf(
      "With a carry its last network makes one more likelier by %.1f, the best of its 256 neurons alone by %.1f\n",
      number(sum(neurons)), number(max(neurons)));
  if (file)
    write_file(file, attention_svg(unsqueeze(blocks, 0).array(), layers, places, "Share of sums that carry",
                                   {"stream after a block, patched at one place"}));
  std::printf(
      "\nMedian and worst of ten seeds: one head alone brings %.0f (%.0f) %% of the carries, the next %.0f %%.\n",
      median(best), std::ranges::min(best), median(second));
  claim(median(best) > 70, "one head brings the carry: at s0 it looks back to a0 and b0");
}

}  // namespace

int main(int argc, char** argv) { return run_lesson(argc, argv, figure); }
