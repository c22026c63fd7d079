// Generates with a trained model: that of a run of train, a GPT-2 in Hugging Face's files, or one in llm.c's.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "examples/toy_run.h"
#include "models/gpt_files.h"

using namespace mote;
using namespace toy_run;

namespace {

struct Source {
  std::string run, checkpoint, huggingface, llmc;
  bool best = false;
  template <class V>
  void visit(V& v) {
    v("run", run, "the folder of a run (train --out): its newest checkpoint");
    v("best", best, "of that run the checkpoint with the lowest loss on held-out batches");
    v("checkpoint", checkpoint, "one checkpoint of a run");
    v("huggingface", huggingface, "a folder with a GPT-2: config.json and model.safetensors");
    v("llmc", llmc, "a model file of llm.c: gpt2_124M.bin and the like");
  }
};

struct Wish {
  std::string prompt, ids;
  std::optional<Index> count = {};
  Index samples = 1, seed = 1;
  template <class V>
  void visit(V& v) {
    v("prompt", prompt, "where to begin, in the words of the run's task; not given: a question of the task");
    v("ids", ids, "the same as ids, \"15496 11 995\", for any model");
    v("count", count, "tokens to generate; default: as many as the task's answers have, without a task 50");
    v("samples", samples, "how many texts");
    v("seed", seed, "seed of all that is drawn: tokens, and the questions of a task");
  }
};

/// A model, and the task it was trained on, if it was one of ours.
struct Loaded {
  std::unique_ptr<Model> model;
  std::unique_ptr<Task> task;
};

/// Errors: none or several models wished for.
void check_source(const Source& s) {
  const Index given = !s.run.empty() + !s.checkpoint.empty() + !s.huggingface.empty() + !s.llmc.empty();
  check(given == 1, given == 0 ? "which model" : "one model only",
        ": give one of --run, --checkpoint, --huggingface, --llmc (--help explains them)");
  check(!s.best || !s.run.empty(), "--best is for --run");
}

Loaded load(const Source& s) {
  if (!s.huggingface.empty()) return {std::make_unique<GPTModel>(load_huggingface(s.huggingface)), nullptr};
  if (!s.llmc.empty()) return {std::make_unique<GPTModel>(load_llmc(s.llmc)), nullptr};
  LoadedRun run(s.run.empty() ? s.checkpoint : checkpoint_of(s.run, s.best));
  return {std::move(run.model), std::move(run.task)};
}

/// Whole numbers with spaces or commas between them, each below the size of the vocabulary.
std::vector<Index> read_ids(const std::string& text, Index vocab) {
  std::vector<Index> ids;
  for (std::size_t at = text.find_first_not_of(" ,"); at != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(" ,", at), text.size());
    Index id = 0;
    detail::read_field("--ids", text.substr(at, end - at), id);
    check(id >= 0 && id < vocab, "--ids: ", id, " is not in the vocabulary, which ends at ", vocab - 1);
    ids.push_back(id);
    at = text.find_first_not_of(" ,", end);
  }
  return ids;
}

/// What the texts begin with: one prompt for all of them, or as many questions of the task.
std::vector<std::vector<Index>> prompts(const Wish& wish, const Loaded& from, const Generator& random) {
  const Index vocab = from.task ? from.task->vocab_size() : from.model->gpt()->config.vocab_size;
  std::vector<Index> one;
  if (!wish.ids.empty()) {
    one = read_ids(wish.ids, vocab);
    check(!one.empty(), "--ids: there is none");
  } else if (!wish.prompt.empty()) {
    check(from.task != nullptr, "--prompt is for runs of a task: give --ids, which a tokenizer makes of a text");
    one = from.task->ids(wish.prompt);
    check(!one.empty(), "--prompt: there is no word");
  } else {
    check(from.task != nullptr, "--ids are missing: where to begin, such as --ids \"15496 11 995\"");
    const Questions q = from.task->questions(wish.samples, Split::test, random);
    std::vector<std::vector<Index>> rows;
    for (Index n = 0; n < wish.samples; ++n) rows.push_back(row_of(q.prompts, n));
    return rows;
  }
  return std::vector<std::vector<Index>>(static_cast<std::size_t>(wish.samples), one);
}

/// Prints one text as it grows: words of the task, or ids.
class Printer {
 public:
  explicit Printer(const Task* task) : task_(task), terminal_(isatty(STDOUT_FILENO) != 0) {}
  /// Errors: nobody receives it.
  void add(std::span<const Index> ids) {
    ids_.insert(ids_.end(), ids.begin(), ids.end());
    const std::string all = task_ ? task_->text(ids_) : numbers();
    std::cout << all.substr(printed_);
    printed_ = all.size();
    if (terminal_ || !std::cout) flush_output();
  }
  void end() {
    std::cout << "\n";
    ids_.clear();
    printed_ = 0;
  }

 private:
  std::string numbers() const {
    std::string text;
    for (const Index id : ids_) text.append(text.empty() ? "" : " ").append(std::to_string(id));
    return text;
  }

  const Task* task_;
  bool terminal_;
  std::vector<Index> ids_;
  std::size_t printed_ = 0;
};

Index default_count(const Task* task) {
  return task ? task->questions(1, Split::test, Generator(1)).answers.shape()[1] : 50;
}

/// Errors, where the model is no GPT: options that say how a GPT chooses tokens, texts longer than it sees.
void check_model(const Loaded& from, const std::vector<std::vector<Index>>& prompts, Index count,
                 const GenerateOptions& how, int argc, char** argv) {
  if (from.model->gpt()) return;
  for (const Field& f : fields(how))
    check(Options::peek(argc, argv, "--" + f.name, "").empty(), "--", f.name,
          " is for GPTs: this model always continues with the likeliest token");
  const Index length = static_cast<Index>(prompts.front().size()), most = from.task->block_size();
  check(length + count - 1 <= most, "the prompt and count ", count, " are too long: this model reads ", most,
        " tokens at most");
}

void generate(const Loaded& from, const std::vector<std::vector<Index>>& prompts, Index count, GenerateOptions how,
              const Generator& random) {
  Printer printer(from.task.get());
  how.on_token = [&](const IntArray& newest) {
    printer.add(row_of(newest.reshape({1, newest.numel()}), 0));
    return true;
  };
  for (const std::vector<Index>& prompt : prompts) {
    const IntArray ids = stack_rows({prompt});
    printer.add(prompt);
    if (GPT* const gpt = from.model->gpt())
      gpt->generate(ids, count, how, random);
    else
      printer.add(row_of(from.model->answer(ids, count), 0));
    printer.end();
  }
}

int run_command(int argc, char** argv) {
  Source source;
  Wish wish;
  GenerateOptions how;
  Options options("Generates with a trained model, and prints each text on a line, the prompt first.");
  options.add("the model, one of", source);
  options.add("the text", wish);
  options.add("how each token is chosen", how);
  options.note(
      "examples:\n"
      "  generate --run toy                                     answers a question of the task\n"
      "  generate --run toy --prompt \"hgjgebjdda|\"              answers this one; | ends the questions of some "
      "tasks\n"
      "  generate --huggingface gpt2 --ids \"15496 11\" --top_k 50");
  if (!options.parse(argc, argv)) return 0;
  checked_usage([&] {
    check_source(source);
    check(wish.prompt.empty() || wish.ids.empty(), "--prompt and --ids: give one of them");
    check(wish.samples >= 1, "samples ", wish.samples, " must be at least 1");
    check(!wish.count || *wish.count >= 0, "count ", wish.count.value_or(0), " must be at least 0");
  });
  const Loaded from = load(source);
  const Generator random(wish.seed);
  const Index count = wish.count.value_or(default_count(from.task.get()));
  const std::vector<std::vector<Index>> begin = checked_usage([&] {
    const std::vector<std::vector<Index>> all = prompts(wish, from, random);
    check_model(from, all, count, how, argc, argv);
    if (GPT* const gpt = from.model->gpt())  // what it says of the options, before anything is printed
      for (const std::vector<Index>& prompt : all) gpt->generate(stack_rows({prompt}), 0, how, random);
    return all;
  });
  generate(from, begin, count, how, random);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] { return run_command(argc, argv); });
}
