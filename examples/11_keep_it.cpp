// Lesson 11. A training that is killed goes on as if nothing had happened: what a checkpoint must hold, what stands in
// its file, what becomes of a damaged one, and how the weights alone leave, for PyTorch too.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#if (defined(__unix__) || defined(__APPLE__)) && !defined(__EMSCRIPTEN__)
#include <sys/wait.h>
#include <unistd.h>
#define CAN_FORK 1
#endif

#include "engine/io/files/file.h"
#include "examples/program.h"
#include "models/gpt.h"
#include "nn/state_dict.h"
#include "train/adamw.h"
#include "train/checkpoint.h"
#include "train/run/folder.h"
#include "train/schedule.h"
#include "train/tasks/copy.h"

using namespace mote;

namespace {

bool as_told = true;
constexpr Index steps = 60, every = 10, killed_in = 26;

void claim(bool holds) {
  if (!holds) std::printf("NOT AS THE TEXT SAYS:\n");
  as_told = as_told && holds;
}

/// A temporary folder, in which the lesson works, so that paths are short; removed with all that is in it.
class Workplace {
 public:
  Workplace() : before_(std::filesystem::current_path()) {
    const std::string name = (std::filesystem::temp_directory_path() / "mote_keep_it_").string();
    int i = 0;
    while (!std::filesystem::create_directory(folder_ = name + std::to_string(i))) ++i;
    std::filesystem::current_path(folder_);
  }
  ~Workplace() {
    std::error_code ignored;
    std::filesystem::current_path(before_, ignored);
    std::filesystem::remove_all(folder_, ignored);
  }
  Workplace(const Workplace&) = delete;

 private:
  std::filesystem::path before_, folder_;
};

GPTConfig config() {
  GPTConfig c;
  c.block_size = 8, c.vocab_size = 6, c.n_layer = 2, c.n_head = 2, c.n_embd = 24, c.dropout = 0.1;
  return c;
}

/// All that a training depends on, and the list of it.
struct Run {
  GPT model{config(), Generator(1)};
  AdamW optimizer{decay_groups(model, 0.1), {.lr = 3e-3}};
  Generator data{2};
  Index step = 0;
  Checkpoint checkpoint;

  Run() {
    checkpoint.add("model", model);          // weights, and the streams that dropout draws from
    checkpoint.add("optimizer", optimizer);  // two moments per weight, counts of steps, the learning rate
    checkpoint.add("data", data);            // the stream that batches come from
    checkpoint.add("step", step);
    checkpoint.require("config", model.config);  // compared: a checkpoint of another model is refused
  }
};

/// The end of this process that no program can catch or delay: no destructor runs, no file is closed.
[[noreturn]] void die() {
#ifdef CAN_FORK
  ::kill(::getpid(), SIGKILL);
#endif
  std::abort();
}

/// One step: a batch, the gradient, an update. Returns the loss. With `kill` it dies between gradient and update.
double take_step(Run& run, bool kill = false) {
  const CopyTask task({.symbols = 5, .length = 4});
  const Batch batch = task.batch(16, Split::train, run.data);
  run.optimizer.zero_grad();
  const Tensor loss = run.model.loss(batch.ids, batch.targets);
  loss.backward();
  if (kill) die();
  run.optimizer.set_learning_rate(learning_rate(
      ScheduleKind::cosine, run.step, {.max_lr = 3e-3, .min_lr = 3e-4, .warmup_steps = 5, .total_steps = steps}));
  run.optimizer.step();
  return static_cast<double>(loss.item());
}

/// Trains from where the file stands, or from the beginning, and saves every ten steps. Returns the losses, 0 for the
/// steps that were taken before.
std::vector<double> train(Run& run, const std::string& path, Index kill_in = -1) {
  std::vector<double> losses(steps);
  if (file_exists(path)) run.checkpoint.load(path);
  for (; run.step < steps; ++run.step) {
    if (run.step % every == 0) run.checkpoint.save(path);
    losses[static_cast<std::size_t>(run.step)] = take_step(run, run.step == kill_in);
  }
  run.checkpoint.save(path);
  return losses;
}

/// Trains in another process until it dies. Where there is none, trains here and drops everything.
void train_and_die(const std::string& path) {
#ifdef CAN_FORK
  std::fflush(nullptr);
  const pid_t child = ::fork();
  check(child >= 0, "cannot start another process");
  if (child == 0) {
    Run run;
    train(run, path, killed_in);
    std::_Exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  claim(killed);
  std::printf("Another process trained, and was %s in its step %d, between gradient and update.\n",
              killed ? "killed by SIGKILL" : "NOT killed", static_cast<int>(killed_in));
#else
  Run run;
  for (; run.step < killed_in; ++run.step) {
    if (run.step % every == 0) run.checkpoint.save(path);
    take_step(run);
  }
  std::printf("A run was dropped in its step %d, with all that it had in memory.\n", static_cast<int>(killed_in));
#endif
}

bool same_bits(const Array& a, const Array& b) {
  const Array x = a.contiguous(), y = b.contiguous();
  return x.shape() == y.shape() &&
         std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.numel()) * sizeof(real)) == 0;
}

void line(const char* what, Index count, bool equal) {
  std::printf("  %-44s %6lld   %s\n", what, static_cast<long long>(count), equal ? "equal in every bit" : "DIFFERENT");
  claim(equal);
}

/// Compares everything there is.
void compare(const Run& a, const Run& b, const std::vector<double>& losses, const std::vector<double>& others,
             Index from) {
  const std::vector<Parameter> p = parameters(a.model), q = parameters(b.model);
  bool equal = p.size() == q.size();
  for (std::size_t i = 0; equal && i < p.size(); ++i) equal = same_bits(p[i].value(), q[i].value());
  line("weights", parameter_count(a.model), equal);

  const OptimizerState s = a.optimizer.state(), t = b.optimizer.state();
  Index elements = 0;
  equal = s.counts == t.counts && s.arrays.size() == t.arrays.size();
  for (const auto& [name, array] : s.arrays) {
    elements += array.numel();
    equal = equal && t.arrays.contains(name) && same_bits(array, t.arrays.at(name));
  }
  line("elements of the optimizer's arrays", elements, equal);

  const std::vector<NamedStream> u = named_streams(a.model), v = named_streams(b.model);
  equal = u.size() == v.size() && a.data.get_state() == b.data.get_state();
  for (std::size_t i = 0; equal && i < u.size(); ++i) equal = u[i].stream.get_state() == v[i].stream.get_state();
  line("random streams (dropout's, the batches')", static_cast<Index>(u.size()) + 1, equal);
  line("losses of the steps since then", steps - from,
       std::equal(losses.begin() + from, losses.end(), others.begin() + from));
}

/// What is forgotten when only the weights go on.
void forget(const std::string& path, const std::vector<double>& losses, Index from) {
  Run run;
  load_weights(run.model, path);
  run.step = from;
  std::printf(
      "\n2. Why weights alone are not enough. The same checkpoint, but with a fresh optimizer and fresh streams:\n"
      "  step    as it was   from weights alone\n");
  Index off = 0;
  for (; run.step < steps; ++run.step) {
    const double was = losses[static_cast<std::size_t>(run.step)], is = take_step(run);
    off += is != was;
    if (run.step < from + 4) std::printf("  %4d    %9.6f   %9.6f\n", static_cast<int>(run.step), was, is);
  }
  std::printf("Other batches, another dropout, an AdamW that counts its steps from 1: a run, but not this one.\n");
  claim(off == steps - from);
}

void look_inside(const std::string& path) {
  const SafetensorsFile file(path);
  std::printf("\n3. What stands in %s: %d tensors in the format safetensors, the first of each kind:\n", path.c_str(),
              static_cast<int>(file.tensors().size()));
  for (const char* const name : {"model.transformer.wte.weight", "optimizer.transformer.wte.weight.exp_avg",
                                 "optimizer.transformer.wte.weight.exp_avg_sq"}) {
    const TensorEntry* const entry = file.find(name);
    claim(entry != nullptr);
    if (!entry) continue;
    const Array x = file.array(*entry);
    std::printf("  %-46s %s  %s  %.4g %.4g %.4g ...\n", name, text_of(entry->dtype).c_str(),
                text_of(entry->shape).c_str(), static_cast<double>(x.data()[0]), static_cast<double>(x.data()[1]),
                static_cast<double>(x.data()[2]));
  }
  const TensorEntry* const stream = file.find("data");
  claim(stream != nullptr);
  if (stream) {
    const IntArray words = file.int_array(*stream);
    std::printf("  %-46s %s  %s  %lld %lld ...\n", "data (a Mersenne Twister: 624 words, and more)",
                text_of(stream->dtype).c_str(), text_of(stream->shape).c_str(), static_cast<long long>(words.data()[0]),
                static_cast<long long>(words.data()[1]));
  }
  std::printf("and texts:");
  for (const char* const name : {"step", "optimizer.learning_rate", "config.n_layer", "config.dropout"}) {
    const std::string* const text = file.find_metadata(name);
    claim(text != nullptr);
    if (text) std::printf("  %s = %s", name, text->c_str());
  }
  std::printf("\nThe program `inspect` shows all of a file.\n");
}

/// Loads a damaged file, which must be refused, and leave the run as it is.
void refuse(const char* damage, const std::string& content, Run& run) {
  write_file("damaged.safetensors", content);
  const Array before = run.model.lm_head.weight.value();
  const Index step = run.step;
  std::string words = "(it was read!)";
  try {
    run.checkpoint.load("damaged.safetensors");
  } catch (const Error& e) {
    words = e.what();
  }
  std::printf("  %s:\n", damage);
  std::string indented = "    ";
  for (const char c : words) c == '\n' ? indented.append("\n    ") : indented.append(1, c);
  std::printf("%s\n", indented.c_str());
  claim(words.find("damaged.safetensors") != std::string::npos && step == run.step &&
        same_bits(before, run.model.lm_head.weight.value()));
}

void damage(const std::string& path, Run& run) {
  std::printf("\n4. A damaged file is refused, and nothing has changed:\n");
  const std::string whole = read_file(path, 1 << 24);
  std::string changed = whole;
  changed[whole.size() / 2] = static_cast<char>(changed[whole.size() / 2] ^ 4);
  refuse("one bit of a tensor is another", changed, run);
  changed = whole;
  changed[whole.find("config.n_layer") + 17] ^= 1;
  refuse("one bit of a text is another", changed, run);
  refuse("the end is missing", whole.substr(0, whole.size() - 100), run);
}

void weights_alone(const Run& run, const std::string& checkpoint) {
  save(run.model, "model.safetensors");
  GPT other(config(), Generator(99));
  load(other, "model.safetensors");
  const NoGrad no_grad;
  other.eval();
  Run copy;
  load_weights(copy.model, checkpoint);
  copy.model.eval();
  const IntArray ids = ints({{0, 3, 1, 4, 5}});
  const Tensor a = other(ids), b = copy.model(ids);
  const bool equal = same_bits(a.array(), b.array());
  claim(equal);
  std::printf(
      "\n5. Weights alone, to use or to give away: save(model, \"model.safetensors\"), then load(other, "
      "\"model.safetensors\").\n"
      "It has %llu bytes, the checkpoint %llu. load_weights(other, \"%s\") takes them from a checkpoint; the\n"
      "logits of both are %s. PyTorch reads either file:\n\n"
      "  from safetensors.torch import load_file\n"
      "  weights = load_file(\"model.safetensors\")   # {\"transformer.wte.weight\": tensor of [6, 24], ...}\n",
      static_cast<unsigned long long>(FileReader("model.safetensors").size()),
      static_cast<unsigned long long>(FileReader(checkpoint).size()), checkpoint.c_str(),
      equal ? "equal in every bit" : "DIFFERENT");
}

int lesson() {
  const Workplace here;
  std::printf("A GPT learns to copy for %d steps, with dropout, and saves a checkpoint every %d steps.\n\n1. ",
              static_cast<int>(steps), static_cast<int>(every));
  train_and_die("killed.safetensors");
  write_file("early.safetensors", read_file("killed.safetensors", 1 << 24));

  Run resumed;
  const std::vector<double> later = train(resumed, "killed.safetensors");
  const Index from = killed_in / every * every;
  Run unbroken;
  const std::vector<double> losses = train(unbroken, "unbroken.safetensors");
  std::printf(
      "This process loaded the file that was there, of step %d, and trained on. A third run was never stopped. At the "
      "end:\n",
      static_cast<int>(from));
  claim(later[static_cast<std::size_t>(from - 1)] == 0 && later[static_cast<std::size_t>(from)] > 0);
  compare(resumed, unbroken, later, losses, from);
  const std::string file = read_file("killed.safetensors", 1 << 24);
  line("bytes of their last checkpoints", static_cast<Index>(file.size()),
       file == read_file("unbroken.safetensors", 1 << 24));
  std::printf("The steps from %d to %d were lost with the process, and taken again: to the same bits.\n",
              static_cast<int>(from), static_cast<int>(killed_in));

  forget("early.safetensors", losses, from);
  look_inside("killed.safetensors");
  damage("killed.safetensors", resumed);
  weights_alone(unbroken, "unbroken.safetensors");
  if (!as_told) std::printf("\nNot all of this came out as the text says: see above.\n");
  return as_told ? 0 : 1;
}

}  // namespace

int main(int, char** argv) { return run_program(argv[0], lesson); }
