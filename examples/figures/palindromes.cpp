// What does taking a head out (ablation) mean? If 0 replaces its output, later layers also miss the part of the output
// that is the same in every row. So a head may look essential although its output is the same for every row. If the
// mean of its outputs replaces the output, only the part that depends on the row is missing.
#include "engine/engine.h"
#include "examples/figures/figure.h"
#include "train/tasks/answer_task.h"

using namespace mote;

namespace {

constexpr Index length = 6, letters = 8;

/// Rows of 6 letters and "=". The target at "=" is 1 if the row is a palindrome, otherwise 0. Half of the rows are
/// palindromes. In the others each pair of letters differs with a chance of 40 %, and at least one pair does.
class Palindromes : public AnswerTask {
 public:
  Palindromes() : AnswerTask("Palindromes", letters, length, 1) {}
  std::string description() const override { return "is it the same backwards?"; }
  Outcome outcome() const override { return {}; }
  std::vector<Index> question(const Generator& random) const override {
    std::vector<Index> row = random_ids(length, 0, symbols, random);
    const bool same = randint(0, 2, {1}, random).item() == 1;
    do
      for (std::size_t i = 0; i < length / 2; ++i) {
        const bool differs = !same && randint(0, 10, {1}, random).item() < 4;
        row[length - 1 - i] = (row[i] + (differs ? randint(1, symbols, {1}, random).item() : 0)) % symbols;
      }
    while (!same && answer(row)[0] == 1);
    return row;
  }
  std::vector<Index> answer(std::span<const Index> row) const override {
    return {std::equal(row.begin(), row.end(), row.rbegin())};
  }
};

void figure() {
  const Palindromes task;
  const Batch fresh = task.batch(1000, Split::validation, Generator(99));
  std::printf("Percent right with 0 and with its mean in the place of each head\n\nseed  whole   layer 0%33slayer 1\n",
              "");
  GPTConfig config{.block_size = length + 1, .vocab_size = letters + 1, .n_layer = 2, .n_head = 4, .n_embd = 32};
  config.tie_weights = false;
  int misjudged = 0, essential = 0;
  std::vector<double> whole, by_zero, by_mean;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const GPT model(config, Generator(seed));
    train(model, task, 5000, 0.1, Generator(seed + 100));
    const NoGrad no_grad;
    const Record usual(model, {"*.attn heads"});
    whole.push_back(percent_right(model, fresh));
    const auto values = usual.values();
    std::printf("%4d %6.1f ", static_cast<int>(seed), whole.back());
    double apart = 0, harmless = 0;
    for (Index h = 0; h < 8; ++h) {
      const std::string heads = attention_name(h / 4) + " heads";
      const auto lost_with = [&](const Tensor& instead) {
        const Ablate ablate(model, heads + " " + std::to_string(h % 4), instead);
        return whole.back() - percent_right(model, fresh);
      };
      by_zero.push_back(lost_with(0.0));
      by_mean.push_back(lost_with(mean(values.at(heads), {0}, true)));
      apart = std::max(apart, by_zero.back() - by_mean.back());
      if (by_mean.back() < 5) harmless = std::max(harmless, by_zero.back());
      std::printf("  %3.0f %3.0f", whole.back() - by_zero.back(), whole.back() - by_mean.back());
    }
    std::puts("");
    misjudged += apart > 20;
    essential += harmless > 20;
  }
  std::printf(
      "\nOf 80 heads, the average: %.1f %% lost with 0, %.1f %% with the mean. In %d of ten seeds a head seems to be "
      "worth\n"
      "20 %% more than it is, in %d one seems essential (20 %%) that hardly matters (5 %%). ARENA finds the same.\n",
      number(mean(tensor(by_zero))), number(mean(tensor(by_mean))), misjudged, essential);
  claim(std::ranges::min(whole) > 95, "all ten models have learned it");
  claim(misjudged >= 8 && essential >= 3,
        "0 misleads: a head that is missed is not always one that has found something");
}

}  // namespace

int main(int, char** argv) { return run_lesson(argv, figure); }
