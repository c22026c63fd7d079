// Generates text with a trained model, from a run of train or from a file of Hugging Face, nanoGPT or llm.c.
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
#include "examples/programs/open_model.h"
#include "examples/programs/options.h"

using namespace mote;

namespace {

struct Source {
  std::string run, huggingface, nanogpt, llmc;
  template <class V>
  void visit(V& v) {
    v("run", run,
      "the folder of a run (train --out_dir), whose newest checkpoint is used; or one file, such as "
      "FOLDER/best.safetensors");
    v("huggingface", huggingface, "a folder with a GPT-2 or a Llama: config.json and model.safetensors");
    v("nanogpt", nanogpt, "nanoGPT's ckpt.pt, or its folder; meta.pkl beside it gives the characters");
    v("llmc", llmc, "a model file of llm.c: gpt2_124M.bin and the like");
  }
};

struct Request {
  std::string prompt, ids;
  std::optional<Index> count = {};
  Index samples = 1, seed = 1;
  template <class V>
  void visit(V& v) {
    v("prompt", prompt, "the text to begin with, or FILE:path for the text in a file; default: a question of the task");
    v("ids", ids, "the prompt as token ids, such as \"15496 11 995\", for any model");
    v("count", count,
      "number of tokens to generate; default: the length of the task's answers, 500 for a text, otherwise 50");
    v("samples", samples, "number of texts");
    v("seed", seed, "seed of the tokens and of the task's questions");
  }
};

OpenedModel load(const Source& s, bool needs_words) {
  if (!s.llmc.empty()) return {load_llmc(s.llmc)};
  if (!s.run.empty()) return open_run(s.run);
  const std::string& path = s.nanogpt.empty() ? s.huggingface : s.nanogpt;
  if (s.nanogpt.empty()) check_no_run(path);
  OpenedModel opened{s.nanogpt.empty() ? load_huggingface(path) : load_nanogpt(path)};
  try {
    opened.tokenizer = tokenizer_in(folder_of(path), opened.model.config.vocab_size);
  } catch (const Error& e) {
    if (needs_words) throw;
    std::cerr << "warning: ids are shown, since the vocabulary cannot be read: " << e.what() << "\n";
  }
  return opened;
}

/// Reads ids with spaces or commas between them. Errors: no id; an id outside the vocabulary.
std::vector<Index> read_ids(std::string text, Index vocab) {
  std::vector<Index> ids;
  std::replace(text.begin(), text.end(), ',', ' ');
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    detail::read_field("--ids", word, ids.emplace_back());
    check(ids.back() >= 0 && ids.back() < vocab, "--ids: ", ids.back(), " must be an id of the vocabulary, 0 to ",
          vocab - 1);
  }
  check(!ids.empty(), "--ids: give at least one id");
  return ids;
}

/// Checks that `ids` may be a question of the task. Errors: more ids than the model takes; another last id, if all
/// questions end with the same id. The message shows a question.
void check_question(const Task& task, std::span<const Index> ids) {
  const Questions some = task.questions(100, Split::validation, Generator(1));
  const std::vector<Index> one = row_of(some.prompts, 0);
  const std::string like = "; a question is " + task.text(one) + ", say, and --ids takes any beginning";
  check(std::ssize(ids) <= task.block_size(), "the prompt has ", ids.size(), " words, but the model sees at most ",
        task.block_size(), like);
  for (Index n = 0; n < some.count(); ++n)
    if (row_of(some.prompts, n).back() != one.back()) return;  // questions end in different ids, so any may be the last
  check(ids.back() == one.back(), "the prompt does not end with ", task.word(one.back()), like);
}

/// Returns the ids of a prompt. A prompt FILE:path stands for the text of that file. Errors: words that the task does
/// not have, a prompt that is no question of the task.
std::vector<Index> prompt_ids(const std::string& given, const OpenedModel& from) {
  check(from.task || from.tokenizer,
        "--prompt is for texts and for runs of a task: give --ids, which a tokenizer makes of a text (of GPT-2 its "
        "vocab.json and merges.txt beside the model)");
  const bool file = given.starts_with("FILE:");
  std::string text = file ? read_file(given.substr(5), 10'000'000) : given;
  const bool documents = from.task && from.tokenizer && from.tokenizer->special(end_of_text) >= 0;
  if (file && documents)  // the line ending at the end of the file is not part of the document
    for (const char end : {'\n', '\r'})
      if (text.ends_with(end)) text.pop_back();
  if (from.tokenizer)
    for (const SpecialToken& s : from.tokenizer->specials())
      check(text.find(s.text) == text.npos, "the prompt has the special token ", s.text, ": --ids takes its id, ",
            s.id);
  std::vector<Index> ids = from.task ? from.task->ids(text) : from.tokenizer->encode(text);
  check(!ids.empty(), "--prompt: give at least one word", file ? " in " + given.substr(5) : "");
  if (!from.tokenizer) check_question(*from.task, ids);
  return ids;
}

/// The id with which a text begins if there is no prompt: the token between documents, or a line ending. -1 if the
/// tokenizer has neither.
Index beginning(const Tokenizer& tokenizer) {
  for (Index id = 0; id < tokenizer.vocab_size() && tokenizer.special(end_of_text) < 0; ++id)
    if (tokenizer.token(id) == "\n") return id;
  return tokenizer.special(end_of_text);
}

/// The prompts that the texts begin with: one prompt for all texts, or a question of the task for each.
std::vector<std::vector<Index>> prompts(const Request& request, const OpenedModel& from, const Generator& random) {
  std::vector<std::vector<Index>> all;
  if (request.ids.empty() && request.prompt.empty() && !from.tokenizer) {
    check(from.task != nullptr, "--ids are missing: where to begin, such as --ids \"15496 11 995\"");
    const Questions q = from.task->questions(request.samples, Split::validation, random);
    for (Index n = 0; n < request.samples; ++n) all.push_back(row_of(q.prompts, n));
    return all;
  }
  if (!request.ids.empty())
    all = {read_ids(request.ids, from.model.config.vocab_size)};
  else if (!request.prompt.empty())
    all = {prompt_ids(request.prompt, from)};
  else  // no prompt: the text begins as its task or its tokenizer says
    all = {from.task ? from.task->ids("") : std::vector{beginning(*from.tokenizer)}};
  check(all[0][0] >= 0, "--prompt is missing: where to begin");  // -1: the tokenizer has no token to begin with
  all.resize(static_cast<std::size_t>(request.samples), all[0]);
  return all;
}

/// Prints texts while they grow, as whole characters of a text, words of a task, or ids.
class Printer {
 public:
  explicit Printer(const OpenedModel& from) : from_(from), terminal_(on_terminal()) {}
  /// Prints ids. Errors: standard output cannot be written.
  void add(std::span<const Index> ids) {
    for (const Index id : ids) {
      const std::string text = characters_.add(bytes(std::exchange(last_, id), id));
      std::cout << (terminal_ ? readable_text(with_line_ends(text)) : text);
    }
    if (terminal_ || !std::cout) flush_output();
  }
  void end() {
    std::cout << characters_.finish();
    if (last_ < 0 || last_ != separator()) std::cout << "\n";  // the end of a document has printed a line ending
    last_ = -1;
  }

 private:
  /// The token between the documents of a run's text, or -1 if there is none.
  Index separator() const { return from_.task && from_.tokenizer ? from_.tokenizer->special(end_of_text) : -1; }
  /// Replaces CRLF and CR by \n, also where a CRLF is split between two pieces of a text.
  std::string with_line_ends(const std::string& text) {
    std::string shown;
    for (const char c : text) {
      if (c != '\n' || !after_return_) shown += c == '\r' ? '\n' : c;
      after_return_ = c == '\r';
    }
    return shown;
  }
  /// The bytes that an id adds to a text whose last id is `last`. `last` is -1 for an empty text.
  std::string bytes(Index last, Index id) const {
    if (const Tokenizer* const t = from_.tokenizer.get()) {
      const Index end = separator();
      if (id == end) return last < 0 || last == end ? "" : "\n";
      return id < t->vocab_size() ? t->token(id) : "\xff";  // a model may have more ids than its tokenizer
    }
    if (!from_.task) return (last < 0 ? "" : " ") + std::to_string(id);
    return last < 0 ? from_.task->word(id)
                    : from_.task->text(std::vector{last, id}).substr(from_.task->word(last).size());
  }

  const OpenedModel& from_;
  bool terminal_, after_return_ = false;
  Utf8Stream characters_;
  Index last_ = -1;
};

/// Generates and prints a text for each prompt.
void generate(OpenedModel& from, const std::vector<std::vector<Index>>& prompts, Index count, GenerateOptions how,
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

const char* const examples =
    "examples:\n"
    "  generate --run toy                                     answers a question of the task\n"
    "  generate --run toy --prompt \"hgjgebjdda|\"              answers this one; | ends the questions of some tasks\n"
    "  generate --run shakespeare --prompt \"ROMEO:\" --temperature 0.8 --top_k 200\n"
    "  generate --huggingface gpt2 --prompt \"Hello, my name\"  where vocab.json and merges.txt lie beside the model\n"
    "  generate --huggingface gpt2 --ids \"15496 11\" --top_k 50";

int run_command(int argc, char** argv) {
  Source source;
  Request request;
  GenerateOptions how;
  const CommandLine line(argc, argv);
  Options options("Generates texts with a trained model. Each line is the prompt and what the model adds to it.");
  options.add("the model, one of", source);
  options.add("the text", request);
  options.add("how each token is chosen", how);
  options.note = examples;
  if (!options.parse(line)) return 0;
  line.check_paths({"run", "huggingface", "nanogpt", "llmc"});
  checked_usage([&] {
    const int given =
        !source.run.empty() + !source.huggingface.empty() + !source.nanogpt.empty() + !source.llmc.empty();
    check(given == 1, given == 0 ? "no model is given" : "more than one model is given",
          ": give one of --run, --huggingface, --nanogpt, --llmc (--help explains them)");
    check(request.prompt.empty() || request.ids.empty(), "--prompt and --ids: give one of them");
    check(request.samples >= 1 && request.samples <= 10'000, "samples ", request.samples,
          " must be at least 1 and at most 10000");
    check(request.seed >= 0 && request.seed <= 1'000'000'000'000'000'000, "seed ", request.seed,
          " must be 0 to 1000000000000000000");
    check(!line.has("ids") || !request.ids.empty(), "--ids: give at least one id");
    check(!request.count || *request.count >= 0, "count ", request.count.value_or(0), " must be at least 0");
  });
  OpenedModel from = load(source, request.ids.empty());
  const Generator random(request.seed);
  if (!request.count && from.tokenizer) request.count = 500;  // nanoGPT's default
  if (!request.count && from.task) request.count = from.task->evaluation(1).answers.shape()[1];
  const Index count = request.count.value_or(50);
  if (from.task && from.tokenizer && !line.has("stop_token")) how.stop_token = from.tokenizer->special(end_of_text);
  const std::vector<std::vector<Index>> begin = checked_usage([&] {
    const std::vector<std::vector<Index>> all = prompts(request, from, random);
    // Generating no tokens checks the options and the prompts before anything is printed.
    for (const std::vector<Index>& prompt : all) from.model.generate(stack_rows({prompt}), 0, how, random);
    return all;
  });
  generate(from, begin, count, how, random);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] { return run_command(argc, argv); });
}
