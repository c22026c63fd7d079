// Trains a model end to end on a toy task and shows what it learned: the falling loss, answers to unseen questions, and
// what one attention head looks at.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>

#include "examples/options.h"
#include "models/models.h"
#include "nn/attention_weights.h"
#include "train/progress.h"
#include "train/tasks/tasks.h"

using namespace mote;

namespace {

/// What this program needs of a model.
struct Model {
  virtual ~Model() = default;
  virtual Module& module() = 0;
  virtual Tensor loss(const Batch& batch) const = 0;
  /// The likeliest tokens after each prompt, [N, count].
  virtual IntArray answer(const IntArray& prompts, Index count) = 0;
};

/// A kind of model: the fields of its config, with these values set, and the model they describe for a task.
struct ModelKind {
  const char* name;
  std::vector<Field> (*fields)(const FieldValues& values);
  std::unique_ptr<Model> (*make)(const FieldValues& values, const Task& task, const Generator& random);
};

template <class Choice>
Choice chosen(Choice choice, const FieldValues& values) {
  for (const auto& [name, text] : values) check(set_field(choice, name, text), "this model has no option ", name);
  return choice;
}

/// A GPTConfig except what the task determines, and the preset it starts from.
struct GPTChoice {
  std::string preset = "default";
  GPTConfig config;
  template <class V>
  void visit(V& v) {
    std::string names = "default";
    for (const GPTConfig::Preset& p : GPTConfig::presets()) names.append("|").append(p.name);
    v("preset", preset, ("the kind of model, sizes apart (" + names + ")").c_str());
    const auto see = [&](const char* name, auto& value, const char* help) {
      if (name != std::string("vocab_size") && name != std::string("block_size")) v(name, value, help);
    };
    config.visit(see);
  }
};

/// Applies the preset first, in whatever order options come. The preset's n_kv_head yields if it does not divide
/// n_head; one set by the user does not.
GPTChoice gpt_choice(const FieldValues& values) {
  GPTChoice choice;
  bool heads_chosen = false;
  for (const auto& [name, text] : values) {
    if (name == "preset") choice.preset = text;
    heads_chosen = heads_chosen || name == "n_kv_head";
  }
  if (choice.preset != "default") choice.config = GPTConfig::preset(choice.preset);
  choice = chosen(choice, values);
  if (heads_chosen) return choice;
  choice.config = choice.config.resized(choice.config.n_layer, choice.config.n_head, choice.config.n_embd);
  return choice;
}

/// Errors: an option that has no effect on the model chosen.
void check_used(const FieldValues& values, const GPTConfig& config) {
  for (const auto& [name, text] : values) {
    const bool rotary = name.starts_with("rotary_");
    const bool feed_forward = name == "activation" || name == "n_inner" || name == "mlp_bias";
    check(!rotary || config.position == Position::rotary, "--", name, " is for --position rotary");
    check(!feed_forward || config.block.feed_forward, "--", name, " is for --feed_forward true");
  }
}

struct GPTModel : Model {
  GPT gpt;
  GPTModel(const GPTConfig& config, const Generator& random) : gpt(config, random) {}
  Module& module() override { return gpt; }
  Tensor loss(const Batch& batch) const override { return gpt.loss(batch.ids, batch.targets); }
  IntArray answer(const IntArray& prompts, Index count) override {
    const Index length = prompts.shape()[1];
    return gpt.generate(prompts, count).slice(1, length, length + count);
  }
};

struct AttentionLMChoice {
  AttentionLMConfig config;
  template <class V>
  void visit(V& v) {
    v("n_head", config.n_head, "attention heads");
    v("n_embd", config.n_embd, "width");
    v("dropout", config.dropout, "probability of dropping, in training");
  }
};

struct AttentionLMModel : Model {
  AttentionLM lm;
  AttentionLMModel(const AttentionLMConfig& config, const Generator& random) : lm(config, random) {}
  Module& module() override { return lm; }
  Tensor loss(const Batch& batch) const override { return lm.loss(batch.ids, batch.targets); }
  IntArray answer(const IntArray& prompts, Index count) override {
    const NoGrad no_grad;
    const Evaluation evaluation(lm);
    const Index rows = prompts.shape()[0], length = prompts.shape()[1];
    IntArray ids({rows, length + count});
    for (Index b = 0; b < rows; ++b)
      for (Index t = 0; t < length; ++t) ids.mutate()[b * (length + count) + t] = prompts.at({b, t});
    for (Index t = length; t < length + count; ++t) {
      const IntArray likeliest = argmax(lm(ids.slice(1, 0, t)));
      for (Index b = 0; b < rows; ++b) ids.mutate()[b * (length + count) + t] = likeliest.at({b, t - 1});
    }
    return ids.slice(1, length, length + count);
  }
};

const ModelKind model_kinds[] = {
    {"gpt", [](const FieldValues& values) { return fields(gpt_choice(values)); },
     [](const FieldValues& values, const Task& task, const Generator& random) -> std::unique_ptr<Model> {
       GPTConfig config = gpt_choice(values).config;
       check_used(values, config);
       config.vocab_size = task.vocab_size();
       config.block_size = task.block_size();
       return std::make_unique<GPTModel>(config, random);
     }},
    {"attention_lm", [](const FieldValues& values) { return fields(chosen(AttentionLMChoice(), values)); },
     [](const FieldValues& values, const Task& task, const Generator& random) -> std::unique_ptr<Model> {
       AttentionLMConfig config = chosen(AttentionLMChoice(), values).config;
       config.vocab_size = task.vocab_size();
       config.block_size = task.block_size();
       return std::make_unique<AttentionLMModel>(config, random);
     }}};

const ModelKind& model_kind(const std::string& name) {
  std::string all;
  for (const ModelKind& kind : model_kinds) {
    if (name == kind.name) return kind;
    all.append(all.empty() ? "" : ", ").append(kind.name);
  }
  throw Error("model '" + name + "' is none of " + all);
}

/// Command-line options other than those of the task, the model and the training.
struct Run {
  std::string task = "copy", model;
  Index sequences = 1000, seed = 1;
  template <class V>
  void visit(V& v) {
    v("task", task, "what to learn; list: all tasks");
    if (!model.empty()) v("model", model, "what learns it (gpt|attention_lm)");
    v("sequences", sequences, "questions to answer at the end");
    v("seed", seed, "seed of weights, batches and questions");
  }
};

volatile std::sig_atomic_t interrupted = 0;

/// While one lives, Ctrl-C ends the training after its step, not the program in the middle of a line; the second one
/// ends the program.
struct EndTrainingOnInterrupt {
  EndTrainingOnInterrupt() {
    std::signal(SIGINT, [](int) {
      interrupted = 1;
      std::signal(SIGINT, SIG_DFL);
    });
  }
  ~EndTrainingOnInterrupt() { std::signal(SIGINT, SIG_DFL); }
  EndTrainingOnInterrupt(const EndTrainingOnInterrupt&) = delete;
};

/// Reports a run as it proceeds: the first loss beside ln V, then a progress line.
class Narrator {
 public:
  explicit Narrator(Index vocab) : vocab_(vocab), progress_(std::cout, isatty(STDOUT_FILENO) != 0) {}
  /// False once the user has pressed Ctrl-C. Errors: nobody receives the report.
  bool operator()(const StepReport& report) {
    if (report.step == 0) {
      const long long ids = vocab_;
      std::printf("first loss %.4f; guessing among %lld ids costs ln %lld = %.4f\n", report.loss, ids, ids,
                  math::log(static_cast<double>(vocab_)));
      flush_output();
    }
    progress_.update(report.step + 1, report.steps, report.loss, report.learning_rate);
    if (!std::cout) flush_output();
    return interrupted == 0;
  }
  void finish() { progress_.finish(); }

 private:
  Index vocab_;
  Progress progress_;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void train(Model& model, const Task& task, const Recipe& recipe, Optimizer& optimizer, FitOptions options,
           const Generator& data) {
  std::cout << describe(optimizer.groups()) << "\n";
  Narrator narrator(task.vocab_size());
  options.on_step = [&](const StepReport& report) { return narrator(report); };
  options.on_warning = [](const std::string& text) { std::cout << "warning: " << text << "\n"; };
  const auto start = std::chrono::steady_clock::now();
  {
    const EndTrainingOnInterrupt scope;
    fit(
        optimizer, [&](Index) { return model.loss(task.batch(recipe.batch_size, Split::train, data)); }, options);
  }
  narrator.finish();
  if (interrupted) std::raise(SIGINT);  // which now ends the program, as its caller expects
  std::printf("trained %lld steps in %.1f s\n\n", static_cast<long long>(recipe.steps), seconds_since(start));
  std::fflush(stdout);
}

/// How many of `total` questions the model answers without a single wrong symbol; the first `show` are printed.
Index count_exact(Model& model, const Task& task, Index total, const Generator& random, Index show) {
  Index exact = 0;
  for (Index done = 0; done < total;) {
    const Index n = std::min<Index>(250, total - done);
    const Questions q = task.questions(n, Split::test, random);
    const IntArray given = model.answer(q.prompts, q.answers.shape()[1]);
    for (Index b = 0; b < n; ++b) {
      const bool right = q.right(b, given);
      exact += right;
      if (done + b < show)
        std::cout << "  question " << task.question_text(row_of(q.prompts, b)) << "   answer "
                  << task.text(row_of(given, b)) << (right ? "   right\n" : "   wrong\n");
    }
    done += n;
  }
  return exact;
}

/// The attention weights of each layer on one example, [H, T, T] per layer.
std::vector<Array> attention(Model& model, const Batch& example) {
  const NoGrad no_grad;
  const Evaluation evaluation(model.module());
  const AttentionWeights seen;
  model.loss(example);
  std::vector<Array> layers;
  for (const AttentionMap& map : seen.maps()) layers.push_back(map.weights.select(0, 0));
  return layers;
}

/// The head that attends most to the positions that determine the next token, on one example; nothing if the task has
/// no such positions or the model no attention.
void show_head(Model& model, const Task& task, const std::string& kind, const Generator& random) {
  const Batch example = task.batch(1, Split::test, random);
  const std::vector<Index> ids = row_of(example.ids, 0);
  std::vector<std::pair<Index, Index>> looks;  // from, to
  for (Index t = 0; t < static_cast<Index>(ids.size()); ++t)
    if (const Index at = task.looks_at(ids, t); at >= 0) looks.emplace_back(t, at);
  if (looks.empty()) return;
  double best = -1;
  std::size_t best_layer = 0;
  Index best_head = 0;
  const std::vector<Array> layers = attention(model, example);
  for (std::size_t layer = 0; layer < layers.size(); ++layer)
    for (Index head = 0; head < layers[layer].shape()[0]; ++head) {
      double share = 0;
      for (const auto& [from, to] : looks) share += static_cast<double>(layers[layer].at({head, from, to}));
      share /= static_cast<double>(looks.size());
      if (share <= best) continue;
      best = share;
      best_layer = layer;
      best_head = head;
    }
  if (best < 0) return;
  std::vector<std::string> labels;
  for (const Index id : ids) labels.push_back(task.word(id));
  char percent[32];
  std::snprintf(percent, sizeof percent, "%.0f %%", 100 * best);
  const Array& heads = layers[best_layer];
  std::cout << "\nlayer " << best_layer << " (0 is the first), head " << best_head + 1 << " of " << heads.shape()[0]
            << ", on one " << kind << " sequence. A row is a query, a column a key;\n"
            << "'.' is a weight near 0, '@' one near 1, blank what lies in the future.\n"
            << task.looks_text(percent) << ":\n"
            << attention_text(heads.select(0, best_head), labels);
}

/// What the options describe.
struct Setup {
  std::unique_ptr<Model> model;
  FitOptions fit;
  std::unique_ptr<Optimizer> optimizer;
};

/// Errors: options that do not go together.
Setup set_up(const Run& r, const Task& task, const Recipe& recipe) {
  check(r.sequences >= 1, "sequences ", r.sequences, " must be at least 1");
  check(r.seed >= 0 && r.seed <= 1'000'000'000'000'000'000, "seed ", r.seed, " must be 0 to 1000000000000000000");
  Setup s;
  s.model = model_kind(recipe.model).make(recipe.config, task, Generator(r.seed));
  s.fit = fit_options(recipe);
  s.optimizer = make_optimizer(recipe, s.model->module());
  return s;
}

int run(const Run& r, const Task& task, const Recipe& recipe) {
  const auto [model, options, optimizer] = checked_usage([&] { return set_up(r, task, recipe); });
  const Generator data(r.seed + recipe.data_seed), fresh(r.seed + 2);
  std::cout << r.task << ": " << task.description() << "\n\n" << summary(model->module()) << "\n";
  train(*model, task, recipe, *optimizer, options, data);
  const std::string kind = task.holds_out() ? "held-out" : "fresh";
  std::cout << "three " << kind << " questions:\n";
  const Index exact = count_exact(*model, task, r.sequences, fresh, 3);
  std::printf("exact match on %lld %s sequences: %lld (%.1f %%)\n", static_cast<long long>(r.sequences), kind.c_str(),
              static_cast<long long>(exact), 100.0 * static_cast<double>(exact) / static_cast<double>(r.sequences));
  std::fflush(stdout);
  show_head(*model, task, kind, fresh);
  return 0;
}

int list_tasks() {
  for (const std::string& name : task_names())
    std::cout << name << std::string(12 - std::min<std::size_t>(11, name.size()), ' ') << make_task(name)->description()
              << "\n";
  return 0;
}

int run_command(int argc, char** argv) {
  const char* const about = "Trains a small decoder language model on a toy task and shows what it learned.";
  Run r;
  r.task = Options::peek(argc, argv, "--task", "");
  if (r.task.empty() || r.task == "list") {
    Run general;
    Options options(about);
    options.add("general options", general);
    options.note("--task NAME --help shows the options of a task, of its model and of its training, with defaults.");
    const bool only_help = argc == 2 && (argv[1] == std::string("--help") || argv[1] == std::string("-h"));
    if ((only_help || r.task == "list") && !options.parse(argc, argv)) return 0;
    if (r.task == "list") return list_tasks();
    r.task = general.task;
  }
  FieldValues task_values;
  Recipe recipe = checked_usage([&] { return make_task(r.task)->recipe(); });
  r.model = Options::peek(argc, argv, "--model", recipe.model);
  const ModelKind& kind = checked_usage([&]() -> const ModelKind& { return model_kind(r.model); });
  if (r.model != recipe.model) {  // of a recipe for another kind of model, use the fields that this one has
    const std::vector<Field> known = kind.fields({});
    std::erase_if(recipe.config, [&](const auto& value) {
      return std::none_of(known.begin(), known.end(), [&](const Field& f) { return f.name == value.first; });
    });
    recipe.model = r.model;
  }
  Options options(about);
  options.add("general options", r);
  options.add(
      "--task " + r.task, [&] { return task_options(r.task, task_values); },
      [&](const std::string& name, const std::string& text) {
        task_values.emplace_back(name, text);
        task_options(r.task, task_values);
      });
  options.add(
      "--model " + r.model, [&] { return kind.fields(recipe.config); },
      [&](const std::string& name, const std::string& text) {
        recipe.config.emplace_back(name, text);
        kind.fields(recipe.config);
      });
  options.add("training", recipe);
  options.context(" for --task " + r.task + " and --model " + r.model);
  if (!options.parse(argc, argv)) return 0;
  const auto task = checked_usage([&] { return make_task(r.task, task_values); });
  return run(r, *task, recipe);
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] { return run_command(argc, argv); });
}
