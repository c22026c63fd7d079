// attention_maps trains a small model, then shows what its heads look at: scores for the heads of every layer, the most
// distinctive head of one layer as text, and all heads of that layer as one picture (SVG).
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/file.h"
#include "engine/io/xml.h"
#include "examples/options.h"
#include "models/gpt.h"
#include "models/inspect.h"
#include "train/tasks/copy.h"
#include "train/tasks/induction.h"

using namespace mote;

namespace {

/// What a model learns.
enum class Lesson { induction, copy, text };
constexpr auto words(Lesson) {
  return std::to_array<Word<Lesson>>(
      {{Lesson::induction, "induction"}, {Lesson::copy, "copy"}, {Lesson::text, "text"}});
}

struct LetterOptions {
  Index length = 24;
  template <class V>
  void visit(V& v) {
    v("length", length, "letters to copy, or the most letters before they come again");
  }
};

struct TextOptions {
  std::string text, sentence = "the head looks at what the sentence said before";
  Index block_size = 64;
  template <class V>
  void visit(V& v) {
    v("text", text, "a file to learn from; empty: a few sentences about heads");
    v("sentence", sentence, "what to look at, in characters that the text has");
    v("block_size", block_size, "longest context, in characters");
  }
};

struct Config {
  Lesson task = Lesson::induction;
  std::string output = "attention.svg", preset = "attention_only";
  Index layer = -1, n_layer = 2, n_head = 4, n_embd = 64, batch_size = 32, steps = 800, seed = 1;
  double learning_rate = 3e-3;
  template <class V>
  void visit(V& v) {
    v("task", task, "what to learn: rows that begin again somewhere, answers that repeat a question, or a text");
    v("output", output, "where the picture goes");
    v("preset", preset, "what kind of model (attention_only|gpt2|nanogpt|llama)");
    v("layer", layer, "whose heads to show, 0 for the first layer; -1: where induction is strongest");
    v("n_layer", n_layer, "blocks");
    v("n_head", n_head, "heads in each");
    v("n_embd", n_embd, "width");
    v("batch_size", batch_size, "rows per step");
    v("steps", steps, "training steps");
    v("learning_rate", learning_rate, "peak learning rate");
    v("seed", seed, "seed of weights and data");
  }
};

const char* const built_in_text =
    "a head looks back. it asks a question of every token that came before, and each token answers with a number. the "
    "larger the number, the more of that token the head takes with it. one head looks at the token just before. "
    "another looks at the first token of all, which is a way of looking nowhere. a third looks for a place where the "
    "same token stood before, and takes what came next: so it can say again what was said once. no head knows what the "
    "others do. what they found is laid side by side, mixed by one matrix, and added to what the token was. then the "
    "next layer asks its questions, of tokens that know more than they did. a sentence is read from left to right, and "
    "no token ever looks at what comes after it, because that is what the model has to guess. ";

/// What a model learns from, and what its heads are shown on.
struct Material {
  std::string title;
  Index vocab_size = 0, block_size = 0;
  std::function<Batch(Index rows, const Generator& random)> batch;
  IntArray shown;                   // [1, T]
  std::vector<std::string> labels;  // T
  std::string about;
};

std::string label_of(const std::string& character) {
  return character == " " ? "_" : character == "\n" ? "\\n" : character == "\t" ? "\\t" : character;
}

std::string read(const std::string& path) {
  const std::string text = read_file(path, std::uint64_t{1} << 30);
  check(!text.empty(), "cannot read '", path, "': it is empty");
  return text;
}

/// A text in little memory: four bytes for each of its characters.
struct Characters {
  std::map<std::string, std::int32_t, std::less<>> ids;  // 0, 1, ... in the order of their codes
  std::vector<std::int32_t> text;

  explicit Characters(const std::string& content) {
    std::size_t count = 0;
    each(content, [&](std::string_view x) {
      ++count;
      if (ids.find(x) == ids.end()) ids.emplace(x, 0);
    });
    std::int32_t next = 0;
    for (auto& [x, id] : ids) id = next++;
    text.reserve(count);
    each(content, [&](std::string_view x) { text.push_back(ids.find(x)->second); });
  }

 private:
  template <class See>
  static void each(const std::string& content, const See& see) {
    for (std::size_t i = 0, length = 0; i < content.size(); i += length) {
      length = detail::character_at(content, i).first;
      see(std::string_view(content).substr(i, length));
    }
  }
};

/// Rows from random positions of a text.
Material from_text(const TextOptions& c) {
  const auto known = std::make_shared<const Characters>(c.text.empty() ? built_in_text : read(c.text));
  const std::vector<std::int32_t>& text = known->text;
  check(static_cast<Index>(text.size()) > c.block_size, "characters in the text: ", text.size(),
        "; it needs more than block_size ", c.block_size);
  check(c.block_size >= 2, "block_size ", c.block_size, " must be at least 2");
  const std::vector<std::string> sentence = characters_of(c.sentence);
  check(sentence.size() >= 2 && static_cast<Index>(sentence.size()) <= c.block_size,
        "characters in the sentence: ", sentence.size(), "; there may be 2 to block_size ", c.block_size);
  Material m;
  m.title = c.sentence;
  m.vocab_size = static_cast<Index>(known->ids.size());
  m.block_size = c.block_size;
  m.batch = [known, length = c.block_size + 1](Index rows, const Generator& random) {
    const std::vector<std::int32_t>& ids = known->text;
    const IntArray starts = randint(0, static_cast<Index>(ids.size()) - length + 1, {rows}, random);
    IntArray drawn({rows, length});
    for (Index b = 0; b < rows; ++b) std::copy_n(ids.begin() + starts.data()[b], length, drawn.mutate() + b * length);
    return next_token_batch(drawn);
  };
  std::vector<Index> shown;
  for (const std::string& x : sentence) {
    const auto place = known->ids.find(x);
    check(place != known->ids.end(), "the sentence has '", label_of(x), "', which is not in the text");
    shown.push_back(place->second);
    m.labels.push_back(label_of(x));
  }
  m.shown = IntArray({1, static_cast<Index>(shown.size())}, shown);
  m.about = std::to_string(text.size()) + " characters, " + std::to_string(known->ids.size()) + " different";
  return m;
}

/// A task and a row of it to show.
Material from_task(std::shared_ptr<const Task> task, const std::vector<Index>& shown) {
  Material m;
  m.vocab_size = task->vocab_size();
  m.block_size = task->block_size();
  m.shown = stack_rows({shown});
  m.title = task->text(shown);
  for (const Index id : shown) m.labels.push_back(task->word(id));
  m.about = task->description();
  m.batch = [task](Index rows, const Generator& random) { return task->batch(rows, Split::train, random); };
  return m;
}

/// Shows a row that repeats after two thirds of `length`.
Material from_induction(const LetterOptions& c, const Generator& random) {
  check(c.length >= 3, "length ", c.length, " must be at least 3");
  const auto task = std::make_shared<InductionTask>(InductionOptions{.length = c.length});
  std::vector<Index> letters(static_cast<std::size_t>((2 * c.length + 2) / 3));
  random.randint(letters, 0, 26);
  std::vector<Index> shown = task->row(letters);
  shown.pop_back();
  return from_task(task, shown);
}

/// On the letters a to z; shows a held-out question and its answer.
Material from_copy(const LetterOptions& c, const Generator& random) {
  const auto task = std::make_shared<CopyTask>(AnswerOptions{.symbols = 26, .length = c.length});
  return from_task(task, row_of(task->batch(1, Split::test, random).ids, 0));
}

/// What the options describe.
struct Setup {
  Material material;
  std::unique_ptr<GPT> model;
  FitOptions fit;
  std::unique_ptr<Optimizer> optimizer;
};

/// Errors: options that do not go together.
Setup set_up(const Config& c, const LetterOptions& letters, const TextOptions& text) {
  check(c.layer >= -1 && c.layer < c.n_layer, "layer ", c.layer, " is out of range for n_layer ", c.n_layer,
        " (0 is the first)");
  check(c.seed >= 0 && c.seed <= 1'000'000'000'000'000'000, "seed ", c.seed, " must be 0 to 1000000000000000000");
  GPTConfig config = GPTConfig::preset(c.preset).resized(c.n_layer, c.n_head, c.n_embd);
  const Generator fresh(c.seed + 2);
  Setup s;
  s.material = c.task == Lesson::induction ? from_induction(letters, fresh)
               : c.task == Lesson::copy    ? from_copy(letters, fresh)
                                           : from_text(text);
  config.vocab_size = s.material.vocab_size;
  config.block_size = s.material.block_size;
  s.model = std::make_unique<GPT>(config, Generator(c.seed));
  const Recipe recipe{
      .steps = c.steps, .batch_size = c.batch_size, .learning_rate = c.learning_rate, .warmup = c.steps / 10};
  s.fit = fit_options(recipe);
  s.optimizer = make_optimizer(recipe, *s.model);
  return s;
}

void train(const Setup& s, const Config& c) {
  const Generator data(c.seed + 1);
  FitOptions options = s.fit;
  options.on_step = [&](const StepReport& r) {
    if (r.step % 100 == 0 || r.step + 1 == r.steps) {
      std::printf("step %4lld  loss %.4f\n", static_cast<long long>(r.step + 1), r.loss);
      flush_output();
    }
    return true;
  };
  options.on_warning = [](const std::string& text) { std::printf("warning: %s\n", text.c_str()); };
  fit(
      *s.optimizer,
      [&](Index) {
        const Batch batch = s.material.batch(c.batch_size, data);
        return s.model->loss(batch.ids, batch.targets);
      },
      options);
}

int run(const Config& c, const LetterOptions& letters, const TextOptions& text) {
  const Setup s = checked_usage([&] { return set_up(c, letters, text); });
  check_output(c.output, {text.text});  // better now than after the training
  const Material& material = s.material;
  GPT& model = *s.model;
  std::printf("%s\n%s: n_layer %lld, n_head %lld, n_embd %lld, %lld weights\n", material.about.c_str(),
              c.preset.c_str(), static_cast<long long>(c.n_layer), static_cast<long long>(c.n_head),
              static_cast<long long>(c.n_embd), static_cast<long long>(parameter_count(model)));
  flush_output();
  train(s, c);

  std::cout
      << "\nHow much of its attention each head gives to the token before, to the first one, and to what followed\n"
         "an earlier occurrence of the same token (induction); entropy 1 is an even look at everything.\n";
  if (c.task == Lesson::copy)
    std::cout << "Here that is always the same distance away: a head that looks there by place alone scores as well.\n";
  std::vector<std::vector<HeadScore>> scores;  // of each layer
  const std::vector<AttentionMap> maps = attention_maps(model, material.shown);
  for (std::size_t layer = 0; layer < maps.size(); ++layer) {
    scores.push_back(head_scores(maps[layer].weights, material.shown));
    std::cout << "\nlayer " << layer << "\n" << describe(scores.back());
  }
  const auto induction = [](const HeadScore& a, const HeadScore& b) { return a.induction < b.induction; };
  const auto most = [&](const std::vector<HeadScore>& heads) {
    return *std::max_element(heads.begin(), heads.end(), induction);
  };
  const auto best = std::max_element(scores.begin(), scores.end(),
                                     [&](const auto& a, const auto& b) { return induction(most(a), most(b)); });
  const Index layer = c.layer >= 0 ? c.layer : best - scores.begin();

  const std::vector<HeadScore>& shown = scores[static_cast<std::size_t>(layer)];
  const auto clearest = std::max_element(shown.begin(), shown.end(), [](const HeadScore& a, const HeadScore& b) {
    return std::max({a.previous, a.first, a.induction}) < std::max({b.previous, b.first, b.induction});
  });
  const Index head = clearest - shown.begin();
  const Array weights = maps[static_cast<std::size_t>(layer)].weights.select(0, 0);  // [H, T, T]
  std::cout << "\nlayer " << layer << " (0 is the first), head " << head + 1 << " of " << c.n_head
            << ". A row is a query, a column a key; '.' is a weight near 0, '@' near 1\n"
            << attention_text(weights.select(0, head), material.labels);
  write_file(c.output, attention_svg(weights, material.labels, material.labels,
                                     "Layer " + std::to_string(layer) + ": " + material.title));
  std::cout << "\nthe picture of all heads of layer " << layer << " is in " << c.output << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    Config c;
    LetterOptions letters;
    TextOptions text;
    const std::string task = Options::peek(argc, argv, "--task", text_of(c.task));
    Options options("Trains a small model and shows what its attention heads look at.");
    options.add("general options", c);
    if (task == text_of(Lesson::text))
      options.add("--task text", text);
    else
      options.add("--task " + task, letters);
    options.context(" for --task " + task);
    if (!options.parse(argc, argv)) return 0;
    return run(c, letters, text);
  });
}
