// Lesson 18. The smallest language model with attention learns to repeat a token, with PyTorch's losses for the
// same seed; what its heads look at; and why this task cannot show what heads are for.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <iostream>

#include "engine/io/files/file.h"
#include "engine/io/pictures/chart.h"
#include "engine/io/pictures/curve.h"
#include "engine/io/pictures/heads.h"
#include "engine/ops/ops.h"
#include "examples/program.h"
#include "models/tutorials/ai_engineering.h"
#include "train/adamw.h"
#include "train/evaluate.h"
#include "train/fit.h"
#include "train/tasks/repeat.h"

using namespace mote;
using namespace mote::tutorials::ai_engineering;

namespace {

bool as_told = true;

void claim(bool holds) {
  if (!holds) std::cout << "NOT AS THE TEXT SAYS:\n";
  as_told = as_told && holds;
}

Tensor loss_of(const TinyAttentionLM& model, const Batch& batch) {
  const Tensor logits = model(batch.ids);
  return cross_entropy(logits, batch.targets);
}

struct Run {
  std::vector<double> losses;
  double average(Index epoch, Index steps) const {
    double sum = 0;
    for (Index i = 0; i < steps; ++i) sum += losses[static_cast<std::size_t>(epoch * steps + i)];
    return sum / static_cast<double>(steps);
  }
};

/// Trains on batches of their own stream, so that they do not depend on the model's size. look(step) comes after each.
Run train(const TinyAttentionLM& model, const DemoConfig& c, const std::function<void(Index)>& look = {}) {
  const RepeatTask task({.symbols = c.vocab_size, .length = c.seq_len});
  const Generator data(c.seed);
  Adam optimizer(all_parameters(model), {.lr = c.learning_rate});
  Run run;
  fit(optimizer, [&](Index) { return loss_of(model, task.batch(c.batch_size, Split::train, data)); },
      {.steps = c.n_epochs * c.steps_per_epoch,
       .grad_clip = 0,
       .on_step =
           [&](const StepReport& r) {
             run.losses.push_back(r.loss);
             if (look) look(r.step + 1);
             return true;
           },
       .on_warning = [](const std::string& text) { std::printf("warning: %s\n", text.c_str()); }});
  return run;
}

/// What the model says after some tokens, and how sure it is.
void sample(TinyAttentionLM& model, Index step, double loss) {
  const InferenceMode inference(model);
  const IntArray ids = ints({{17, 17, 17}});
  const Tensor p = softmax(select(select(model(ids), 0, 0), 0, -1));
  std::printf("  step %3d   loss of the fixed batches %.4f   after 17 17 17: %2d (p = %.2f)\n", static_cast<int>(step),
              loss, static_cast<int>(argmax(p).data()[0]), static_cast<double>(max(p).item()));
}

/// The weights of all heads [H, T, T] on a row of one repeated token.
Array heads_of(TinyAttentionLM& model, const DemoConfig& c) {
  const InferenceMode inference(model);
  const IntArray ids = randint(0, c.vocab_size, {1, 1}, Generator(c.seed + 1)).expand({1, c.seq_len}).contiguous();
  return model(ids, return_weights).second.array().select(0, 0);
}

/// The stream of the lesson's program where it builds its model: it has drawn a layer and an input before.
Generator stream_of_the_program(const DemoConfig& c) {
  const Generator random(c.seed);
  const MultiHeadSelfAttention attn(c.d_model, c.n_heads, c.seq_len, random);
  randn({c.batch_size, c.seq_len, c.d_model}, random);
  return random;
}

void contract(const DemoConfig& c) {
  const Generator random(c.seed);
  const MultiHeadSelfAttention attn(c.d_model, c.n_heads, c.seq_len, random);
  const Tensor x = randn({c.batch_size, c.seq_len, c.d_model}, random);
  const auto [out, weights] = attn(x, return_weights);
  std::cout << "Lesson 33 of \"AI engineering from scratch\". Its attention keeps the shape of its input,\n  input "
            << x.shape() << ", output " << out.shape() << ",\nand nobody looks ahead (of all rows and heads):\n"
            << causality_text(weights.array()) << "\n";
  const Causality seen = causality(weights.array());
  claim(out.shape() == x.shape() && seen.future < 1e-5);
  claim(std::abs(seen.smallest_row - 1) < 1e-5 && std::abs(seen.largest_row - 1) < 1e-5);
}

}  // namespace

int lesson(const char* file) {
  if (file) check_output(file);
  const DemoConfig config;
  contract(config);
  TinyAttentionLM model(config, stream_of_the_program(config));
  std::cout
      << summary(model)
      << "\nRows of one random token out of 64, 12 times; predict the next. Weights from seed 42, batches of 16 rows\n"
         "from a second stream with seed 42, Adam with lr 0.005, 3 epochs of 120 steps. Sixty steps apart, a look\n"
         "at four batches that stay the same, and at a sample: in evaluation mode, with no gradient, and with\n"
         "every random stream as it was, so that looking changes no bit of the training.\n\n";
  const RepeatTask task({.symbols = config.vocab_size, .length = config.seq_len});
  const Generator held(7);
  std::vector<Batch> fixed;
  for (int i = 0; i < 4; ++i) fixed.push_back(task.batch(16, Split::validation, held));
  std::vector<double> looks;
  const auto look = [&](Index step) {
    if (step != 1 && step % 60 != 0) return;
    looks.push_back(mean_loss(model, fixed, [&](const Batch& batch) { return loss_of(model, batch); }));
    sample(model, step, looks.back());
  };
  const Run run = train(model, config, look);
  claim(looks.size() == 7 && looks.back() < 0.01 && std::is_sorted(looks.rbegin(), looks.rend()));
  TinyAttentionLM undisturbed(config, stream_of_the_program(config));
  const Run again = train(undisturbed, config);
  std::printf("The same training without these looks has %s losses.\n\nloss             mote      PyTorch\n",
              again.losses == run.losses ? "bit for bit the same" : "OTHER");
  claim(again.losses == run.losses && parameter_count(model) == 8384);
  const auto row = [&](const char* name, double loss, double torch) {
    std::printf("%-13s %8.6f   %8.6f\n", name, loss, torch);
    claim(std::abs(loss - torch) <= 1e-5);
  };
  row("first step", run.losses.front(), 4.21147108);
  row("epoch 1 mean", run.average(0, 120), 2.880831);
  row("epoch 2 mean", run.average(1, 120), 0.050136);
  row("epoch 3 mean", run.average(2, 120), 0.003638);
  row("last step", run.losses.back(), 0.00249640);
  std::printf("ln 64 = %.6f is the loss of guessing; it starts a little above.\n\n", std::log(64.0));
  const CurveOptions curve{.title = "loss of each step, on a logarithmic scale", .log = true};
  std::cout << curve_text(run.losses, curve);
  if (file) {
    Chart chart{.title = curve.title, .lines = {{"loss", {}}}, .log = true};
    for (const double loss : run.losses)
      chart.lines[0].points.emplace_back(static_cast<double>(chart.lines[0].points.size() + 1), loss);
    write_file(file, chart_svg(chart));
  }
  std::cout << (file ? "The curve is also in " + std::string(file) + ".\n\n"
                     : "04_repeat_demo loss.svg also draws it into that file.\n\n");

  std::cout << "The lesson's picture of the first head, on a row of one token: a row is a query, a column a key, in "
               "ten steps\n"
               "from ' ' to '@', so that the future is blank:\n"
            << heatmap(heads_of(model, config).select(0, 0))
            << "\nmote's own, of all heads; '.' is a weight near 0, '@' near 1:\n\n";
  const std::vector<std::string> labels(12, "x");
  std::cout << attention_text(heads_of(model, config), labels) << "\n";

  std::cout
      << "A head is there to look somewhere. But here every key holds the same token, so wherever a head looks it\n"
         "finds the answer, and nothing ever told it where: these patterns are what chance and the positions made\n"
         "of them. So the number of heads hardly matters. Average loss of the third epoch, same draws:\n";
  std::array<double, 5> third{};
  std::vector<TinyAttentionLM> models;
  for (std::size_t i = 0; i < third.size(); ++i) {
    DemoConfig c = config;
    c.n_heads = Index(1) << i;
    models.emplace_back(c, stream_of_the_program(config));
    third[i] = train(models.back(), c).average(2, 120);
    std::printf("  %2d head%s %.4f\n", static_cast<int>(c.n_heads), c.n_heads == 1 ? "  " : "s ", third[i]);
  }
  std::fflush(stdout);
  std::cout << "\nThe pictures change with the number of heads, the loss hardly. 8 heads of width 4:\n\n"
            << attention_text(heads_of(models[3], config), labels) << "\n";
  const auto [least, most] = std::minmax_element(third.begin(), third.end());
  std::printf(
      "All between %.4f and %.4f. To see attention at work a query must have to find one certain place: `train`\n"
      "learns to copy a sequence, where exactly one earlier position holds the answer. One head can do that, too;\n"
      "what a second one is good for is lesson 6.\n",
      *least, *most);
  claim(*most - *least < 1e-3);
  return as_told ? 0 : 1;
}

int main(int argc, char** argv) {
  return run_program(argv[0], [&] { return lesson(argc > 1 ? argv[1] : nullptr); });
}
