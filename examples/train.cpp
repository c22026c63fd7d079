// Training a model end to end on a toy task, and what it learned: the loss as it falls, answers to questions it never
// saw, and what one attention head looks at.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>

#include "examples/options.h"
#include "models/models.h"
#include "train/adamw.h"
#include "train/fit.h"
#include "train/progress.h"
#include "train/schedule.h"
#include "train/tasks/copy.h"
#include "train/tasks/repeat.h"

using namespace mote;

namespace {

struct Config {
  std::string task = "copy", preset = "default", position = "default";
  Index symbols = 0, length = 0, n_layer = 2, n_head = 4, n_embd = 0, batch_size = 0, steps = 0, warmup = 50, seed = 1;
  Index sequences = 1000;
  double learning_rate = 0, weight_decay = 0.1, dropout = 0, clip = 1;
};

std::string word(Index id, Index separator) {
  return id == separator ? "|" : separator <= 26 ? std::string(1, static_cast<char>('a' + id)) : std::to_string(id);
}

std::string words(const Index* ids, Index count, Index separator) {
  std::string text;
  for (Index i = 0; i < count; ++i) text.append(separator > 26 && i ? " " : "").append(word(ids[i], separator));
  return text;
}

double log_of(Index n) { return math::log(static_cast<double>(n)); }

/// Tells a run as it goes: the first loss beside ln V, then a progress line.
class Narrator {
 public:
  explicit Narrator(Index vocab) : vocab_(vocab), progress_(std::cout, isatty(STDOUT_FILENO) != 0) {}
  bool operator()(const StepReport& report) {
    if (report.step == 0)
      std::printf("first loss %.4f; guessing among %lld ids costs ln %lld = %.4f\n", report.loss,
                  static_cast<long long>(vocab_), static_cast<long long>(vocab_), log_of(vocab_)),
          std::fflush(stdout);
    progress_.update(report.step + 1, report.steps, report.loss, report.learning_rate);
    return true;
  }
  void finish() { progress_.finish(); }

 private:
  Index vocab_;
  Progress progress_;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// How many of `total` held-out questions the model answers without a single wrong symbol, by greedy generation.
Index count_exact(GPT& model, const CopyTask& task, Index total, const Generator& random, Index show) {
  Index exact = 0;
  for (Index done = 0; done < total;) {
    const Index n = std::min<Index>(250, total - done), L = task.length;
    const Batch q = task.questions(n, Split::test, random);
    const IntArray answers = model.generate(q.ids, L).slice(1, L + 1, 2 * L + 1);
    for (Index b = 0; b < n; ++b) {
      const Index *const got = answers.data() + b * L, *const want = q.targets.data() + b * L;
      const bool right = std::equal(got, got + L, want);
      exact += right;
      if (done + b < show)
        std::cout << "  question " << words(want, L, task.separator()) << "   answer "
                  << words(got, L, task.separator()) << (right ? "   right\n" : "   wrong\n");
    }
    done += n;
  }
  return exact;
}

/// The head that looks most at the symbol to be copied: for the answer's i-th symbol, at position i of the question.
void show_copying_head(GPT& model, const CopyTask& task, const Generator& random) {
  const NoGrad no_grad;
  model.eval();
  const Batch example = task.batch(1, Split::test, random);
  const Index T = task.block_size(), L = task.length;
  double best = -1;
  Index best_layer = 0, best_head = 0;
  Array weights;
  for (Index layer = 0; layer < model.config.n_layer; ++layer) {
    const Array all = model.attention_weights(example.ids, layer).select(0, 0);  // [H, T, T]
    for (Index head = 0; head < model.config.n_head; ++head) {
      double looks = 0;  // from position L + i, which predicts answer symbol i, back to question symbol i
      for (Index i = 0; i < L; ++i) looks += static_cast<double>(all.at({head, L + i, i})) / static_cast<double>(L);
      if (looks > best) best = looks, best_layer = layer, best_head = head, weights = all.select(0, head);
    }
  }
  std::vector<std::string> labels;
  for (Index i = 0; i < T; ++i) labels.push_back(word(example.ids.data()[i], task.separator()));
  std::printf(
      "\nlayer %lld (0 is the first), head %lld of %lld, on one held-out sequence. A row is a query, a column a key;\n"
      "'.' is a weight near 0, '@' one near 1, blank what lies in the future.\n"
      "From the separator on, %.0f %% of its attention goes to the symbol that has to be copied:\n",
      static_cast<long long>(best_layer), static_cast<long long>(best_head + 1),
      static_cast<long long>(model.config.n_head), 100 * best);
  std::fflush(stdout);
  std::cout << attention_text(weights, labels);
}

int run_copy(const Config& c) {
  const CopyTask task(c.symbols ? c.symbols : 10, c.length ? c.length : 10);
  GPTConfig config = c.preset == "default" ? GPTConfig() : GPTConfig::preset(c.preset);
  config = config.resized(c.n_layer, c.n_head, c.n_embd ? c.n_embd : 64);
  if (c.position != "default") config.position = from_text<Position>("position", c.position);
  config.block_size = task.block_size();
  config.vocab_size = task.vocab_size();
  config.dropout = c.dropout;
  const Generator random(c.seed), data(c.seed + 1), held_out(c.seed + 2);
  GPT model(config, random);
  const Index steps = c.steps ? c.steps : 600, batch_size = c.batch_size ? c.batch_size : 64;
  const double lr = c.learning_rate > 0 ? c.learning_rate : 1e-3;
  std::cout << "copy: " << task.length << " of " << task.symbols << " symbols, a separator, the same again\n\n"
            << summary(model) << "\n";
  const std::vector<ParameterGroup> groups = decay_groups(model, c.weight_decay);
  std::cout << describe(groups) << "\n";
  AdamW optimizer(groups, {.lr = lr});
  Narrator narrator(config.vocab_size);
  FitOptions options;
  options.steps = steps;
  options.clip = c.clip;
  options.schedule = [&](Index step) {
    return warmup_cosine(
        step, {.max_lr = lr, .min_lr = lr / 10, .warmup_steps = std::min(c.warmup, steps), .total_steps = steps});
  };
  options.on_step = [&](const StepReport& report) { return narrator(report); };
  const auto start = std::chrono::steady_clock::now();
  fit(
      optimizer,
      [&](Index) {
        const Batch batch = task.batch(batch_size, Split::train, data);
        return model.loss(batch.ids, batch.targets);
      },
      options);
  narrator.finish();
  std::printf("trained %lld steps in %.1f s\n\nthree held-out questions:\n", static_cast<long long>(steps),
              seconds_since(start));
  std::fflush(stdout);
  const Index exact = count_exact(model, task, c.sequences, held_out, 3);
  std::printf("exact match on %lld held-out sequences: %lld (%.1f %%)\n", static_cast<long long>(c.sequences),
              static_cast<long long>(exact), 100.0 * static_cast<double>(exact) / static_cast<double>(c.sequences));
  std::fflush(stdout);
  show_copying_head(model, task, held_out);
  return 0;
}

int run_repeat(const Config& c) {
  AttentionLMConfig config;
  config.vocab_size = c.symbols ? c.symbols : 64;
  config.block_size = c.length ? c.length : 12;
  config.n_embd = c.n_embd ? c.n_embd : 32;
  config.n_head = c.n_head;
  config.dropout = c.dropout;
  const RepeatTask task(config.vocab_size, config.block_size);
  const Generator random(c.seed), data(c.seed);
  AttentionLM model(config, random);
  const Index steps = c.steps ? c.steps : 360, batch_size = c.batch_size ? c.batch_size : 16;
  std::cout << "repeat: rows of one random id out of " << task.vocab << "\n\n" << summary(model) << "\n";
  Adam optimizer(all_parameters(model), {.lr = c.learning_rate > 0 ? c.learning_rate : 5e-3});
  Narrator narrator(config.vocab_size);
  FitOptions options;
  options.steps = steps;
  options.clip = 0;
  options.on_step = [&](const StepReport& report) { return narrator(report); };
  const auto start = std::chrono::steady_clock::now();
  const double last = fit(
      optimizer,
      [&](Index) {
        const Batch batch = task.batch(batch_size, data);
        return model.loss(batch.ids, batch.targets);
      },
      options);
  narrator.finish();
  std::printf("trained %lld steps in %.1f s, last loss %.4f\n\n", static_cast<long long>(steps), seconds_since(start),
              last);
  const NoGrad no_grad;
  model.eval();
  const Batch q = task.batch(c.sequences, Generator(c.seed + 2));
  const IntArray answers = argmax(model(q.ids));
  Index right = 0;
  for (Index b = 0; b < c.sequences; ++b) {
    const Index *const got = answers.data() + b * task.length, *const want = q.targets.data() + b * task.length;
    right += std::equal(got, got + task.length, want);
    if (b < 3)
      std::printf("  row of %lld: predicted %lld after the first, %lld after the last\n",
                  static_cast<long long>(want[0]), static_cast<long long>(got[0]),
                  static_cast<long long>(got[task.length - 1]));
  }
  std::printf(
      "exact match on %lld fresh rows: %lld (%.1f %%)\n\nthe heads on one row of ids. A row is a query, a column a "
      "key;\n"
      "'.' is a weight near 0, '@' one near 1, blank what lies in the future:\n",
      static_cast<long long>(c.sequences), static_cast<long long>(right),
      100.0 * static_cast<double>(right) / static_cast<double>(c.sequences));
  std::fflush(stdout);
  std::vector<std::string> labels;
  for (Index i = 0; i < task.length; ++i) labels.push_back(std::to_string(i));
  std::cout << attention_text(model.attention_weights(q.ids.slice(0, 0, 1)).select(0, 0), labels);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Config c;
  Options options("Trains a small decoder language model on a toy task and shows what it learned.");
  options.add("--task", c.task, "what to learn", {"copy", "repeat"});
  options.add("--symbols", c.symbols, "different symbols; 0: 10 for copy, 64 for repeat");
  options.add("--length", c.length, "symbols to copy, or the row's length; 0: 10 for copy, 12 for repeat");
  options.add("--preset", c.preset, "the kind of model, sizes apart (copy)",
              {"default", "gpt2", "nanogpt", "llama", "attention_only"});
  options.add("--position", c.position, "how a token's place is told; default: as the preset does (copy)",
              {"default", "learned", "sinusoidal", "rotary", "alibi", "none"});
  options.add("--n_layer", c.n_layer, "blocks (copy)", 1, 1000);
  options.add("--n_head", c.n_head, "attention heads per block", 1);
  options.add("--n_embd", c.n_embd, "width; 0: 64 for copy, 32 for repeat");
  options.add("--dropout", c.dropout, "probability of dropping, in training");
  options.add("--batch_size", c.batch_size, "sequences per step; 0: 64 for copy, 16 for repeat");
  options.add("--steps", c.steps, "training steps; 0: 600 for copy, 360 for repeat");
  options.add("--learning_rate", c.learning_rate, "peak learning rate; 0: 1e-3 for copy, 5e-3 for repeat");
  options.add("--warmup", c.warmup, "steps of linear warm-up (copy)");
  options.add("--weight_decay", c.weight_decay, "AdamW's decay of matrices (copy)");
  options.add("--clip", c.clip, "largest gradient norm; 0: no clipping (copy)");
  options.add("--sequences", c.sequences, "held-out sequences to answer", 1);
  options.add("--seed", c.seed, "seed of weights, data and questions", 0, 1'000'000'000'000'000'000);
  options.parse_or_exit(argc, argv);
  if (c.task != "copy" && (c.preset != "default" || c.position != "default")) {
    std::cerr << argv[0] << ": --preset and --position are for --task copy\n";
    return 2;
  }
  return run_program(argv[0], [&] { return c.task == "copy" ? run_copy(c) : run_repeat(c); });
}
