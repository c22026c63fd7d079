// "AI engineering from scratch", lesson 33: the shape contract, the causality check, the training on repeated tokens,
// and what the heads attend to in models with 4 and with 8 heads. `ai_engineering loss.svg` also draws the losses.
#include <cmath>
#include <iostream>
#include <numeric>

#include "engine/engine.h"
#include "engine/io/files/file.h"
#include "examples/lectures/tutorial.h"
#include "models/tutorials/ai_engineering.h"
#include "nn/head_pictures.h"
#include "train/optim/adamw.h"
#include "train/report/chart.h"
#include "train/report/curve.h"
#include "train/tasks/repeat.h"

using namespace mote;
using namespace mote::tutorials::ai_engineering;

namespace {

/// Trains a model for three epochs and returns the losses. The batches come from their own random stream, so they are
/// the same for any model.
std::vector<double> train(const TinyAttentionLM& model, const DemoConfig& c) {
  const RepeatTask task({.symbols = c.vocab_size, .length = c.seq_len});
  const Generator data(c.seed);
  Adam optimizer(all_parameters(model), {.lr = c.learning_rate});
  std::vector<double> losses;
  for (Index step = 0; step < c.n_epochs * c.steps_per_epoch; ++step) {
    const Batch batch = task.batch(c.batch_size, Split::train, data);
    optimizer.zero_grad();
    const Tensor loss = cross_entropy(model(batch.ids), batch.targets);
    loss.backward();
    optimizer.step();
    losses.push_back(number(loss));
  }
  return losses;
}

/// Runs the lesson's demo. Prints the curve of the losses and the heatmap of the first head, and returns the losses.
std::vector<double> demo(const DemoConfig& c) {
  const Generator random(c.seed);
  const MultiHeadSelfAttention attn(c.d_model, c.n_heads, c.seq_len, random);
  const Tensor x = randn({c.batch_size, c.seq_len, c.d_model}, random);
  const auto [out, weights] = attn(x, return_weights);
  std::cout << "MultiHeadSelfAttention, D = " << c.d_model << ", H = " << c.n_heads << ", d_head = " << attn.d_head
            << "\ninput (B, T, D)        : " << size(x) << "\noutput (B, T, D)       : " << size(out) << "\n"
            << causality_text(weights.array());
  claim(out.shape() == x.shape(), "the output has the shape of the input");
  claim(causality(weights.array()).future == 0, "no position attends to a future one");

  const TinyAttentionLM model(c, random);
  const std::vector<double> losses = train(model, c);
  std::cout << "\n" << summary(model) << "\nOne random id in all " << c.seq_len << " positions; predict the next\n";
  for (Index epoch = 0; epoch < c.n_epochs; ++epoch) {
    const auto first = losses.begin() + epoch * c.steps_per_epoch;
    const double sum = std::accumulate(first, first + c.steps_per_epoch, 0.0);
    std::printf("epoch %d: mean loss %.6f\n", int(epoch + 1), sum / double(c.steps_per_epoch));
  }
  std::printf("first step %.6f, last step %.6f\n", losses.front(), losses.back());
  Lines line("ai_engineering");
  line(formatted("log(%d) ~ %.2f", int(c.vocab_size), std::log(double(c.vocab_size))));
  claim(line.summary() == 0 && std::abs(losses.front() - std::log(64.0)) < 0.1 && losses.back() < 1,
        "from random to well under 1.0");
  std::cout << "\n" << curve_text(losses, {.title = "loss of each step, on a logarithmic scale", .log = true});
  const IntArray row = randint(0, c.vocab_size, {1, 1}, Generator(c.seed + 1)).expand({1, c.seq_len}).contiguous();
  const Array seen = model(row, return_weights).second.array().select(0, 0);
  std::cout << "\nHeatmap of the first head, of ' .:-=+*#%@'; a line is a query\n" << heatmap(seen.select(0, 0));
  std::cout << "\nAll heads\n\n" << attention_text(seen, std::vector<std::string>(std::size_t(c.seq_len), "x")) << "\n";
  return losses;
}

void lesson(const char* file) {
  DemoConfig config;
  const std::vector<double> four = demo(config);
  std::cout << "The same with n_heads = 8: watch the heatmap change. The loss hardly does: every key holds the same\n"
               "token, so that a head finds it wherever it looks.\n\n";
  config.n_heads = 8;
  demo(config);
  if (!file) return;
  Chart chart{.title = "loss of each step", .lines = {{"4 heads", {}}}, .log = true};
  for (std::size_t i = 0; i < four.size(); ++i) chart.lines[0].points.emplace_back(double(i + 1), four[i]);
  write_file(file, chart_svg(chart));
}

}  // namespace

int main(int argc, char** argv) { return run_lesson(argc, argv, lesson); }
