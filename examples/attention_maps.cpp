// What is here: attention_maps: trains a small model on a text, then shows what every head looks at in a sentence: as
//   text heatmaps, as scores, and as one picture (SVG).
// What is not: the picture and the scores themselves (models/inspect.h), which take any model's weights.
// Read next: ../models/inspect.h.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "examples/heatmap.h"
#include "examples/options.h"
#include "models/gpt.h"
#include "models/inspect.h"
#include "train/adamw.h"
#include "train/fit.h"
#include "train/schedule.h"

using namespace mote;

namespace {

struct Config {
  std::string text, sentence = "the head looks at what the sentence said before", output = "attention.svg";
  std::string preset = "attention_only";
  Index layer = 1, n_layer = 2, n_head = 8, n_embd = 64, block_size = 64, batch_size = 16, steps = 400, seed = 1;
  double learning_rate = 3e-3;
};

const char* const built_in_text =
    "a head looks back. it asks a question of every token that came before, and each token answers with a number. the "
    "larger the number, the more of that token the head takes with it. one head looks at the token just before. "
    "another looks at the first token of all, which is a way of looking nowhere. a third looks for a place where the "
    "same token stood before, and takes what came next: so it can say again what was said once. no head knows what the "
    "others do. what they found is laid side by side, mixed by one matrix, and added to what the token was. then the "
    "next layer asks its questions, of tokens that know more than they did. a sentence is read from left to right, and "
    "no token ever looks at what comes after it, because that is what the model has to guess. ";

/// The characters of a text as ids 0, 1, ... in the order of their codes.
struct Characters {
  std::string all;
  explicit Characters(std::string text) : all(std::move(text)) {
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  }
  Index size() const { return static_cast<Index>(all.size()); }
  Index id(char c) const {
    const std::size_t place = all.find(c);
    check_in("attention_maps", place != std::string::npos, "'", c, "' does not occur in the text the model learned");
    return static_cast<Index>(place);
  }
};

/// Rows of `length` + 1 characters from random places of the text, as inputs and targets.
void draw(const std::vector<Index>& text, Index rows, Index length, const Generator& random, Tokens& ids,
          Tokens& targets) {
  const Tokens starts = randint(0, static_cast<Index>(text.size()) - length, {rows}, random);
  ids = Tokens({rows, length}), targets = Tokens({rows, length});
  for (Index b = 0; b < rows; ++b) {
    const Index* const from = text.data() + starts.data()[b];
    std::copy_n(from, length, ids.mutate() + b * length);
    std::copy_n(from + 1, length, targets.mutate() + b * length);
  }
}

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  check_in("attention_maps", static_cast<bool>(in), "cannot read ", path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Writes the file whole or not at all: under another name first, which then takes the place of the old one.
void write(const std::string& path, const std::string& content) {
  const std::string unfinished = path + ".part";
  std::ofstream out(unfinished, std::ios::binary);
  out << content;
  out.close();
  check_in("attention_maps", static_cast<bool>(out), "cannot write ", unfinished);
  std::filesystem::rename(unfinished, path);
}

int run(const Config& c) {
  const std::string source = c.text.empty() ? built_in_text : read(c.text);
  const Characters characters(source);
  std::vector<Index> text;
  for (const char x : source) text.push_back(characters.id(x));
  check_in("attention_maps", static_cast<Index>(text.size()) > c.block_size + 1, "the text has ", text.size(),
           " characters; it needs more than block_size ", c.block_size);
  std::vector<Index> sentence;
  std::vector<std::string> labels;
  for (const char x : c.sentence) sentence.push_back(characters.id(x)), labels.emplace_back(1, x == ' ' ? '_' : x);
  check_in("attention_maps", sentence.size() >= 2 && static_cast<Index>(sentence.size()) <= c.block_size,
           "the sentence has ", sentence.size(), " characters; it may have 2 to block_size ", c.block_size);

  GPTConfig config = GPTConfig::preset(c.preset);
  config.vocab_size = characters.size(), config.block_size = c.block_size, config.n_layer = c.n_layer;
  config.n_head = c.n_head, config.n_embd = c.n_embd;
  if (c.n_head % std::max<Index>(1, config.n_kv_head) != 0) config.n_kv_head = 0;
  check_in("attention_maps", c.layer < c.n_layer, "layer ", c.layer, " is not one of ", c.n_layer, " (0 is the first)");
  const Generator random(c.seed), data(c.seed + 1);
  GPT model(config, random);
  AdamW optimizer(decay_groups(model, 0.1), {.lr = c.learning_rate});
  std::printf("%s of %lld layers, %lld heads, width %lld, on %zu characters (%lld different)\n", c.preset.c_str(),
              static_cast<long long>(c.n_layer), static_cast<long long>(c.n_head), static_cast<long long>(c.n_embd),
              text.size(), static_cast<long long>(characters.size()));
  Tokens ids, targets;
  fit(optimizer,
      [&](Index) {
        draw(text, c.batch_size, c.block_size, data, ids, targets);
        return model.loss(ids, targets);
      },
      {.steps = c.steps,
       .schedule =
           [&](Index step) {
             return warmup_cosine(step,
                                  {.max_lr = c.learning_rate, .warmup_steps = c.steps / 10, .total_steps = c.steps});
           },
       .on_step =
           [&](const StepReport& r) {
             if (r.step % 100 == 0 || r.step + 1 == r.steps)
               std::printf("step %4lld  loss %.4f\n", static_cast<long long>(r.step + 1), r.loss), std::fflush(stdout);
             return true;
           }});

  const Tokens asked({1, static_cast<Index>(sentence.size())}, sentence);
  const Array weights = model.attention_weights(asked, c.layer).select(0, 0);  // [H, T, T]
  std::printf("\nlayer %lld on \"%s\"; a row is a query, a column a key\n", static_cast<long long>(c.layer),
              c.sentence.c_str());
  for (Index h = 0; h < c.n_head; ++h) {
    std::printf("\nhead %lld\n", static_cast<long long>(h + 1));
    std::fflush(stdout);
    print_heatmap(std::cout, weights.select(0, h), labels);
  }
  std::cout << "\n" << describe(head_scores(weights, asked)) << "\n";
  write(c.output, attention_svg(weights, labels, labels, "Layer " + std::to_string(c.layer) + ": " + c.sentence));
  std::cout << "the picture of all heads is in " << c.output << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Config c;
  Options options("Trains a small model on characters and shows what its attention heads look at.");
  options.add("--text", c.text, "a file to learn from; empty: a few sentences about heads");
  options.add("--sentence", c.sentence, "what to look at, in characters that the text has");
  options.add("--output", c.output, "where the picture goes");
  options.add("--preset", c.preset, "what kind of model", {"attention_only", "gpt2", "nanogpt", "llama"});
  options.add("--layer", c.layer, "whose heads to show, 0 for the first layer");
  options.add("--n_layer", c.n_layer, "blocks", 1);
  options.add("--n_head", c.n_head, "heads in each", 1);
  options.add("--n_embd", c.n_embd, "width", 1);
  options.add("--block_size", c.block_size, "longest context, in characters", 2);
  options.add("--batch_size", c.batch_size, "rows per step", 1);
  options.add("--steps", c.steps, "training steps");
  options.add("--learning_rate", c.learning_rate, "peak learning rate");
  options.add("--seed", c.seed, "seed of weights and data");
  options.parse_or_exit(argc, argv);
  try {
    return run(c);
  } catch (const std::exception& e) {
    std::cerr << argv[0] << ": " << e.what() << "\n";
    return 1;
  }
}
