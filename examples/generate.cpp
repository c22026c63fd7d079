// Generates with a trained model: that of a run of train, a GPT-2 in Hugging Face's files, or one in llm.c's.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
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

struct Wish {
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

/// Errors: none or several models wished for.
void check_source(const Source& s) {
  const Index given = !s.run.empty() + !s.checkpoint.empty() + !s.huggingface.empty() + !s.llmc.empty();
  check(given == 1, given == 0 ? "which model" : "one model only",
        ": give one of --run, --checkpoint, --huggingface, --llmc (--help explains them)");
  check(!s.best || !s.run.empty(), "--best is for --run");
}

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

Loaded load(const Source& s) {
  if (!s.huggingface.empty()) {
    GPT model = load_huggingface(s.huggingface);
    const Index vocab = model.config.vocab_size;
    return {std::move(model), nullptr, tokenizer_beside(s.huggingface, vocab)};
  }
  if (!s.llmc.empty()) return {load_llmc(s.llmc)};
  SavedRun run = s.run.empty() ? SavedRun(s.checkpoint) : saved_run(s.run, s.best);
  Loaded loaded{std::move(run.model), std::move(run.task)};
  loaded.tokenizer = {loaded.task, loaded.task->tokenizer()};  // the task's own
  return loaded;
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

/// The ids of a prompt, FILE:path for that of a file. Errors: words that there are not.
std::vector<Index> prompt_ids(const std::string& given, const Wish& wish, const Loaded& from) {
  const bool file = given.starts_with("FILE:");
  const std::string text = file ? read_file(given.substr(5), 10'000'000) : given;
  if (from.tokenizer && wish.special == SpecialText::refuse)
    for (const SpecialToken& s : from.tokenizer->specials())
      check(text.find(s.text) == text.npos, "the prompt has the special token ", s.text,
            ": --special allow takes it as that token, --special plain as the text that it is written with");
  const bool whole = from.tokenizer && (!from.task || wish.special != SpecialText::refuse);
  std::vector<Index> ids = whole ? from.tokenizer->encode(text, wish.special) : from.task->ids(text);
  check(!ids.empty(), "--prompt: there is no word", file ? " in " + given.substr(5) : "");
  return ids;
}

/// Where a text begins that nobody has begun. Errors: a tokenizer that does not say.
std::vector<Index> beginning(const Loaded& from) {
  if (from.task) return from.task->ids("");
  const Index id = from.tokenizer->special(end_of_text);
  check(id >= 0, "--prompt is missing: where to begin");
  return {id};
}

/// What the texts begin with: one prompt for all of them, or as many questions of the task.
std::vector<std::vector<Index>> prompts(const Wish& wish, const Loaded& from, const Generator& random) {
  const Index vocab = from.task ? from.task->vocab_size() : from.model.config.vocab_size;
  std::vector<Index> one;
  if (!wish.ids.empty()) {
    one = read_ids(wish.ids, vocab);
    check(!one.empty(), "--ids: there is none");
  } else if (!wish.prompt.empty()) {
    check(from.task || from.tokenizer,
          "--prompt is for texts and for runs of a task: give --ids, which a tokenizer makes of a text (of GPT-2 its "
          "vocab.json and merges.txt beside the model)");
    one = prompt_ids(wish.prompt, wish, from);
  } else if (from.tokenizer) {
    one = beginning(from);
  } else {
    check(from.task != nullptr, "--ids are missing: where to begin, such as --ids \"15496 11 995\"");
    const Questions q = from.task->questions(wish.samples, Split::test, random);
    std::vector<std::vector<Index>> rows;
    for (Index n = 0; n < wish.samples; ++n) rows.push_back(row_of(q.prompts, n));
    return rows;
  }
  return std::vector<std::vector<Index>>(static_cast<std::size_t>(wish.samples), one);
}

/// Prints one text as it grows: whole characters of a text, words of a task, or ids.
class Printer {
 public:
  explicit Printer(const Loaded& from) : from_(from), terminal_(isatty(STDOUT_FILENO) != 0) {}
  /// Errors: nobody receives it.
  void add(std::span<const Index> ids) {
    if (from_.tokenizer) {
      for (const Index id : ids) {
        const std::string text = characters_.add(shown_bytes(id));
        std::cout << (terminal_ ? readable_text(text) : text);
      }
    } else {
      ids_.insert(ids_.end(), ids.begin(), ids.end());
      const std::string all = from_.task ? from_.task->text(ids_) : numbers();
      std::cout << all.substr(printed_);
      printed_ = all.size();
    }
    if (terminal_ || !std::cout) flush_output();
  }
  void end() {
    std::cout << characters_.finish() << "\n";
    ids_.clear();
    printed_ = 0;
    within_ = false;
  }

 private:
  /// Between documents of a task of ours stands a line end for a reader; a model has ids beyond those of its tokenizer.
  std::string shown_bytes(Index id) {
    if (id >= from_.tokenizer->vocab_size()) return "\xff";
    const bool between = from_.task && id == from_.tokenizer->special(end_of_text);
    const std::string bytes = !between ? from_.tokenizer->token(id) : within_ ? "\n" : "";
    within_ = !between;
    return bytes;
  }
  std::string numbers() const {
    std::string text;
    for (const Index id : ids_) text.append(text.empty() ? "" : " ").append(std::to_string(id));
    return text;
  }

  const Loaded& from_;
  bool terminal_;
  Utf8Stream characters_;
  bool within_ = false;  // a document
  std::vector<Index> ids_;
  std::size_t printed_ = 0;
};

/// nanoGPT's 500 for a text.
Index default_count(const Loaded& from) {
  if (from.tokenizer) return 500;
  return from.task ? from.task->questions(1, Split::test, Generator(1)).answers.shape()[1] : 50;
}

void generate(Loaded& from, const std::vector<std::vector<Index>>& prompts, Index count, GenerateOptions how,
              const Generator& random) {
  Printer printer(from);
  how.on_token = [&](const IntArray& newest) {
    printer.add(row_of(newest.reshape({1, newest.numel()}), 0));
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
void answer_lines(const Wish& wish, Loaded& from, Index count, const GenerateOptions& how, const Generator& random) {
  std::cout << "Type a beginning; an empty line for none; Ctrl-D to end.\n";
  for (std::string line;;) {
    std::cout << "> ";
    flush_output();
    if (!std::getline(std::cin, line)) break;
    try {
      const std::vector<Index> ids = line.empty() ? beginning(from) : prompt_ids(line, wish, from);
      generate(from, std::vector<std::vector<Index>>(static_cast<std::size_t>(wish.samples), ids), count, how, random);
    } catch (const Error& e) {
      std::cout << e.what() << "\n";
    }
  }
  std::cout << "\n";
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
      "  generate --run shakespeare --prompt \"ROMEO:\" --temperature 0.8 --top_k 200\n"
      "  generate --run shakespeare                             on a terminal: asks for beginnings, one after the "
      "other\n"
      "  generate --huggingface gpt2 --prompt \"Hello, my name\"  where vocab.json and merges.txt lie beside the "
      "model\n"
      "  generate --huggingface gpt2 --ids \"15496 11\" --top_k 50");
  if (!options.parse(argc, argv)) return 0;
  checked_usage([&] {
    check_source(source);
    check(wish.prompt.empty() || wish.ids.empty(), "--prompt and --ids: give one of them");
    check(wish.samples >= 1, "samples ", wish.samples, " must be at least 1");
    check(!wish.count || *wish.count >= 0, "count ", wish.count.value_or(0), " must be at least 0");
  });
  Loaded from = load(source);
  const Generator random(wish.seed);
  const Index count = wish.count.value_or(default_count(from));
  if (from.task && from.tokenizer && Options::peek(argc, argv, "--stop_token", "").empty())
    how.stop_token = from.tokenizer->special(end_of_text);
  const bool ask = from.tokenizer && wish.prompt.empty() && wish.ids.empty() && isatty(STDIN_FILENO) != 0 &&
                   isatty(STDOUT_FILENO) != 0;
  const std::vector<std::vector<Index>> begin = checked_usage([&] {
    const std::vector<std::vector<Index>> all = prompts(wish, from, random);
    // What it says of the options, before anything is printed.
    for (const std::vector<Index>& prompt : all) from.model.generate(stack_rows({prompt}), 0, how, random);
    return all;
  });
  if (ask)
    answer_lines(wish, from, count, how, random);
  else
    generate(from, begin, count, how, random);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] { return run_command(argc, argv); });
}
