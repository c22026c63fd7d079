// Lesson 4. The smallest language model with attention learns to repeat a token, with PyTorch's losses for the
// same seed; what its heads look at; and why this task cannot show what heads are for.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <iostream>

#include "engine/ops/sample.h"
#include "models/attention_lm.h"
#include "models/inspect.h"
#include "train/adamw.h"
#include "train/fit.h"
#include "train/tasks/repeat.h"

using namespace mote;

namespace {

constexpr int epochs = 3, steps_per_epoch = 120;

struct Run {
  std::vector<double> losses;
  double average(int epoch) const {
    double sum = 0;
    for (int i = 0; i < steps_per_epoch; ++i) sum += losses[static_cast<std::size_t>(epoch * steps_per_epoch + i)];
    return sum / steps_per_epoch;
  }
};

Run train(const AttentionLM& model, const AttentionLMConfig& config) {
  const RepeatTask task({.symbols = config.vocab_size, .length = config.block_size});
  const Generator data(42);  // its own stream, so that the batches do not depend on the model's size
  Adam optimizer(all_parameters(model), {.lr = 5e-3});
  Run run;
  fit(optimizer,
      [&](Index) {
        const Batch batch = task.batch(16, Split::train, data);
        return model.loss(batch.ids, batch.targets);
      },
      {.steps = epochs * steps_per_epoch,
       .clip = 0,
       .on_step =
           [&](const StepReport& r) {
             run.losses.push_back(r.loss);
             return true;
           },
       .on_warning = [](const std::string& text) { std::printf("warning: %s\n", text.c_str()); }});
  return run;
}

/// All heads on a row of one repeated token.
void show_heads(AttentionLM& model, const AttentionLMConfig& config) {
  const Generator fresh(1);
  const RepeatTask task({.symbols = config.vocab_size, .length = config.block_size});
  const Batch example = task.batch(1, Split::test, fresh);
  const std::vector<std::string> labels(12, std::to_string(example.ids.data()[0]));
  std::cout << attention_text(attention_maps(model, example.ids)[0].weights.select(0, 0), labels) << "\n";
}

/// The stream of the PyTorch program when it builds its model, after two other layers and an input.
Generator stream_of_the_program() {
  const Generator random(42);
  const Linear qkv(32, 96, random);
  const Linear out(32, 32, random);
  randn({16, 12, 32}, random);
  return random;
}

}  // namespace

int main() try {
  const AttentionLMConfig config{.vocab_size = 64, .n_embd = 32, .n_head = 4, .block_size = 12};
  AttentionLM model(config, stream_of_the_program());
  std::cout << summary(model) << "\n";

  const Run run = train(model, config);
  std::printf(
      "Rows of one random token out of 64, 12 times; predict the next. Weights from seed 42, batches of 16 rows from\n"
      "a second stream with seed 42, Adam with lr 0.005, 3 epochs of 120 steps.\n\n"
      "loss             mote      PyTorch\n");
  bool equal = parameter_count(model) == 8384;
  const auto row = [&](const char* name, double loss, double torch, double tolerance) {
    const bool close = std::abs(loss - torch) <= tolerance;
    std::printf("%-13s %8.6f   %8.6f%s\n", name, loss, torch, close ? "" : "   NOT THE SAME");
    equal = equal && close;
  };
  row("first step", run.losses.front(), 4.21147108, 1e-5);
  row("epoch 1 mean", run.average(0), 2.880831, 1e-5);
  row("epoch 2 mean", run.average(1), 0.050136, 1e-5);
  row("epoch 3 mean", run.average(2), 0.003638, 1e-5);
  row("last step", run.losses.back(), 0.00249640, 1e-5);
  std::printf("ln 64 = %.6f is the loss of guessing; it starts a little above.\n\n", std::log(64.0));

  std::cout
      << "The heads after training, on a row of one token. A row is a query, a column a key; '.' is a weight near 0,\n"
         "'@' near 1, and what lies in the future is blank:\n\n";
  show_heads(model, config);

  std::cout
      << "A head is there to look somewhere. But here every key holds the same token, so wherever a head looks it\n"
         "finds the answer, and nothing ever told it where: these patterns are what chance and the positions made\n"
         "of them. So the number of heads hardly matters. Average loss of the third epoch, same draws:\n";
  std::array<double, 5> third{};
  std::vector<AttentionLM> models;
  for (std::size_t i = 0; i < third.size(); ++i) {
    AttentionLMConfig c = config;
    c.n_head = Index(1) << i;
    models.emplace_back(c, stream_of_the_program());
    third[i] = train(models.back(), c).average(2);
    std::printf("  %2d head%s %.4f\n", static_cast<int>(c.n_head), c.n_head == 1 ? "  " : "s ", third[i]);
  }
  std::fflush(stdout);
  std::cout << "\nThe pictures change with the number of heads, the loss hardly. 8 heads of width 4:\n\n";
  show_heads(models[3], config);
  const auto [least, most] = std::minmax_element(third.begin(), third.end());
  std::printf(
      "All between %.4f and %.4f. To see attention at work a query must have to find one certain place: `train`\n"
      "learns to copy a sequence, where exactly one earlier position holds the answer. One head can do that, too;\n"
      "what a second one is good for is lesson 6.\n",
      *least, *most);
  if (!equal || *most - *least >= 1e-3) std::cout << "\nNot all of this is as the text says: see above.\n";
  return equal && *most - *least < 1e-3 ? 0 : 1;
} catch (const std::exception& e) {  // a MOTE_SIMD, say, that this processor does not have
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
