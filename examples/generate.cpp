// Generates with a trained model: that of a run of train, a GPT-2 in Hugging Face's files, or one in llm.c's.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "engine/io/text/utf8_stream.h"
#include "examples/options.h"
#include "examples/saved_run.h"
#include "models/gpt_files.h"
#include "train/text/tokenizer.h"

using namespace mote;

namespace {

struct Source {
  std::string run, checkpoint, huggingface, llmc;
  bool best = false;
  template <class V>
  void visit(V& v) {
    v("run", run, "the folder of a run (train --out_dir): its newest checkpoint");
    v("best", best, "of that run the checkpoint with the lowest loss on held-out batches");
    v("checkpoint", checkpoint, "one checkpoint of a run");
    v("huggingface", huggingface, "a folder with a GPT-2: config.json and model.safetensors");
    v("llmc", llmc, "a model file of llm.c: gpt2_124M.bin and the like");
  }
};

struct Request {
  std::string prompt, ids;
  SpecialText special = SpecialText::refuse;
  std::optional<Index> count = {};
  Index samples = 1, seed = 1;
  template <class V>
  void visit(V& v) {
    v("prompt", prompt,
      "where to begin, or FILE:path for what stands in a file; not given: a question of the task; for texts what is "
      "typed, or a beginning");
    v("special", special, "what to make of special tokens in the prompt of a text, such as <|endoftext|>");
    v("ids", ids, "the same as ids, \"15496 11 995\", for any model");
    v("count", count,
      "tokens to generate; default: as many as the task's answers have, of a text 500, without both 50");
    v("samples", samples, "how many texts");
    v("seed", seed, "seed of all that is drawn: tokens, and the questions of a task");
  }
};

/// A model, the task it was trained on, if it was one of ours, and the tokenizer, if its tokens are a text's.
struct Loaded {
  GPT model;
  std::shared_ptr<const Task> task = nullptr;
  std::shared_ptr<const Tokenizer> tokenizer = nullptr;
};

/// The tokenizer beside a GPT-2, if there is one. Errors: those of load_gpt2_tokenizer(); more tokens than the model
/// has.
std::shared_ptr<const Tokenizer> tokenizer_beside(const std::string& folder, Index vocab) {
  const std::string vocabulary = folder + "/vocab.json", merges = folder + "/merges.txt";
  if (!file_exists(vocabulary) || !file_exists(merges)) return nullptr;
  std::shared_ptr<const Tokenizer> tokenizer = load_gpt2_tokenizer(vocabulary, merges);
  check(tokenizer->vocab_size() <= vocab, vocabulary, " has ", tokenizer->vocab_size(),
        " tokens, which is more than the model has, ", vocab);
  return tokenizer;
}

/// A trained model, its averaged weights where the run has them, and its task.
Loaded load_checkpoint(const std::string& path) {
  const RunSettings settings = read_settings(SafetensorsFile(path));
  const std::shared_ptr<const Task> task = settings.make_task();
  GPT model = settings.new_model(*task, Init::none(Generator(0)));
  load_weights(model, path);
  if (settings.recipe.ema_decay > 0) load_weights(model, path, "ema");
  return {std::move(model), task, {task, task->tokenizer()}};  // the task's own
}

/// The newest model of a run, or the best. A run that goes on meanwhile removes its oldest checkpoints.
Loaded load_run(const std::string& folder, bool best) {
  check(file_exists(folder), "there is no folder ", folder);
  for (;;) {
    const std::string path = best ? best_checkpoint(folder) : newest_checkpoint(folder);
    check(!path.empty(), "there is no ", best ? "best " : "", "checkpoint in ", folder);
    try {
      return load_checkpoint(path);
    } catch (const Error&) {
      if (file_exists(path)) throw;
    }
  }
}

Loaded load(const Source& s) {
  if (!s.llmc.empty()) return {load_llmc(s.llmc)};
  if (!s.huggingface.empty()) {
    Loaded loaded{load_huggingface(s.huggingface)};
    loaded.tokenizer = tokenizer_beside(s.huggingface, loaded.model.config.vocab_size);
    return loaded;
  }
  return s.run.empty() ? load_checkpoint(s.checkpoint) : load_run(s.run, s.best);
}

/// Whole numbers with spaces or commas between them, each below the size of the vocabulary.
std::vector<Index> read_ids(std::string text, Index vocab) {
  std::vector<Index> ids;
  std::replace(text.begin(), text.end(), ',', ' ');
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    detail::read_field("--ids", word, ids.emplace_back());
    check(ids.back() >= 0 && ids.back() < vocab, "--ids: ", ids.back(), " is not in the vocabulary, which ends at ",
          vocab - 1);
  }
  check(!ids.empty(), "--ids: there is none");
  return ids;
}

/// Errors: ids that are no question of the task, which is then shown.
void check_question(const Task& task, std::span<const Index> ids) {
  const Questions some = task.questions(100, Split::validation, Generator(1));
  const std::vector<Index> one = row_of(some.prompts, 0);
  const std::string like = "; a question is " + task.text(one) + ", say, and --ids takes any beginning";
  check(std::ssize(ids) <= task.block_size(), "the prompt has ", ids.size(), " words, and the model sees ",
        task.block_size(), like);
  for (Index n = 0; n < some.count(); ++n)
    if (row_of(some.prompts, n).back() != one.back()) return;  // they end in any way
  check(ids.back() == one.back(), "the prompt does not end with ", task.word(one.back()), like);
}

/// The ids of a prompt, FILE:path for that of a file. Errors: words that there are not, what is no question.
std::vector<Index> prompt_ids(const std::string& given, const Request& request, const Loaded& from) {
  check(from.task || from.tokenizer,
        "--prompt is for texts and for runs of a task: give --ids, which a tokenizer makes of a text (of GPT-2 its "
        "vocab.json and merges.txt beside the model)");
  const bool file = given.starts_with("FILE:");
  const std::string text = file ? read_file(given.substr(5), 10'000'000) : given;
  if (from.tokenizer && request.special == SpecialText::refuse)
    for (const SpecialToken& s : from.tokenizer->specials())
      check(text.find(s.text) == text.npos, "the prompt has the special token ", s.text,
            ": --special allow takes it as that token, --special plain as the text that it is written with");
  const bool whole = from.tokenizer && (!from.task || request.special != SpecialText::refuse);
  std::vector<Index> ids = whole ? from.tokenizer->encode(text, request.special) : from.task->ids(text);
  check(!ids.empty(), "--prompt: there is no word", file ? " in " + given.substr(5) : "");
  if (!from.tokenizer) check_question(*from.task, ids);
  return ids;
}

/// What the texts begin with: one prompt for all of them, or as many questions of the task.
std::vector<std::vector<Index>> prompts(const Request& request, const Loaded& from, const Generator& random) {
  const bool questions = request.ids.empty() && request.prompt.empty() && !from.tokenizer;
  check(!questions || from.task, "--ids are missing: where to begin, such as --ids \"15496 11 995\"");
  std::vector<std::vector<Index>> all(static_cast<std::size_t>(request.samples));
  if (questions) {
    const Questions q = from.task->questions(request.samples, Split::validation, random);
    for (Index n = 0; n < request.samples; ++n) all[static_cast<std::size_t>(n)] = row_of(q.prompts, n);
    return all;
  }
  if (!request.ids.empty())
    all.assign(all.size(), read_ids(request.ids, from.model.config.vocab_size));
  else if (!request.prompt.empty())
    all.assign(all.size(), prompt_ids(request.prompt, request, from));
  else if (from.task)
    all.assign(all.size(), from.task->ids(""));  // where a text begins that nobody has begun
  else
    all.assign(all.size(), {from.tokenizer->special(end_of_text)});
  check(all[0][0] >= 0, "--prompt is missing: where to begin");  // the tokenizer does not say
  return all;
}

/// Prints texts as they grow: whole characters of a text, words of a task, or ids.
class Printer {
 public:
  explicit Printer(const Loaded& from) : from_(from), terminal_(isatty(STDOUT_FILENO) != 0) {}
  /// Errors: nobody receives it.
  void add(std::span<const Index> ids) {
    for (const Index id : ids) {
      const std::string text = characters_.add(bytes(std::exchange(last_, id), id));
      std::cout << (terminal_ ? readable_text(text) : text);
    }
    if (terminal_ || !std::cout) flush_output();
  }
  void end() {
    std::cout << characters_.finish() << "\n";
    last_ = -1;
  }

 private:
  /// What an id adds to a text that ends with the id `last`, -1 if it has none.
  std::string bytes(Index last, Index id) const {
    if (const Tokenizer* const t = from_.tokenizer.get()) {
      const Index end =
          from_.task ? t->special(end_of_text) : -1;  // what documents of a task of ours begin and end with
      if (id == end) return last < 0 || last == end ? "" : "\n";
      return id < t->vocab_size() ? t->token(id) : "\xff";  // a model may have more ids
    }
    if (!from_.task) return (last < 0 ? "" : " ") + std::to_string(id);
    return last < 0 ? from_.task->word(id)
                    : from_.task->text(std::vector{last, id}).substr(from_.task->word(last).size());
  }

  const Loaded& from_;
  bool terminal_;
  Utf8Stream characters_;
  Index last_ = -1;
};

/// Goes on from each prompt.
void generate(Loaded& from, const std::vector<std::vector<Index>>& prompts, Index count, GenerateOptions how,
              const Generator& random) {
  Printer printer(from);
  how.on_token = [&](const IntArray& newest) {
    printer.add(newest.values());
    return true;
  };
  for (const std::vector<Index>& prompt : prompts) {
    printer.add(prompt);
    from.model.generate(stack_rows({prompt}), count, how, random);
    printer.end();
  }
}

/// Goes on from what is typed, line by line, until the input ends. What cannot be gone on from is said, and asked
/// again.
void answer_lines(Request request, Loaded& from, Index count, const GenerateOptions& how, const Generator& random) {
  std::cout << "Type a beginning; an empty line for none; Ctrl-D to end.\n> ";
  flush_output();
  while (std::getline(std::cin, request.prompt)) {
    try {
      generate(from, prompts(request, from, random), count, how, random);
    } catch (const Error& e) {
      std::cout << e.what() << "\n";
    }
    std::cout << "> ";
    flush_output();
  }
  std::cout << "\n";
}

const char* const examples =
    "examples:\n"
    "  generate --run toy                                     answers a question of the task\n"
    "  generate --run toy --prompt \"hgjgebjdda|\"              answers this one; | ends the questions of some tasks\n"
    "  generate --run shakespeare --prompt \"ROMEO:\" --temperature 0.8 --top_k 200\n"
    "  generate --run shakespeare                             on a terminal: asks for beginnings, one after the other\n"
    "  generate --huggingface gpt2 --prompt \"Hello, my name\"  where vocab.json and merges.txt lie beside the model\n"
    "  generate --huggingface gpt2 --ids \"15496 11\" --top_k 50";

int run_command(int argc, char** argv) {
  Source source;
  Request request;
  GenerateOptions how;
  const CommandLine line(argc, argv);
  Options options("Generates with a trained model, and prints each text on a line, the prompt first.");
  options.add("the model, one of", source);
  options.add("the text", request);
  options.add("how each token is chosen", how);
  options.note = examples;
  if (!options.parse(line)) return 0;
  checked_usage([&] {
    const int given =
        !source.run.empty() + !source.checkpoint.empty() + !source.huggingface.empty() + !source.llmc.empty();
    check(given == 1, given == 0 ? "which model" : "one model only",
          ": give one of --run, --checkpoint, --huggingface, --llmc (--help explains them)");
    check(!source.best || !source.run.empty(), "--best is for --run");
    check(request.prompt.empty() || request.ids.empty(), "--prompt and --ids: give one of them");
    check(request.samples >= 1, "samples ", request.samples, " must be at least 1");
    check(!request.count || *request.count >= 0, "count ", request.count.value_or(0), " must be at least 0");
  });
  Loaded from = load(source);
  const Generator random(request.seed);
  if (!request.count && from.tokenizer) request.count = 500;  // nanoGPT's
  if (!request.count && from.task)
    request.count = from.task->questions(1, Split::validation, Generator(1)).answers.shape()[1];
  const Index count = request.count.value_or(50);
  if (from.task && from.tokenizer && !line.has("stop_token")) how.stop_token = from.tokenizer->special(end_of_text);
  const std::vector<std::vector<Index>> begin = checked_usage([&] {
    const std::vector<std::vector<Index>> all = prompts(request, from, random);
    // What it says of the options, before anything is printed.
    for (const std::vector<Index>& prompt : all) from.model.generate(stack_rows({prompt}), 0, how, random);
    return all;
  });
  if (from.tokenizer && request.prompt.empty() && request.ids.empty() && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
    answer_lines(request, from, count, how, random);
  else
    generate(from, begin, count, how, random);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] { return run_command(argc, argv); });
}
