// Chapter 5 of "Build a Large Language Model (From Scratch)": a GPT of 124 million parameters is trained on a story for
// ten epochs, and sampled from.
#include "examples/lectures/book.h"
#include "train/optim/adamw.h"

using namespace mote;
namespace book = mote::tutorials::book;

namespace {

const book::Config config{.context_length = 256};
constexpr const char* start_context = "Every effort moves you";

/// The loss of two short texts, step by step.
void loss_by_hand(const book::Story& story, const book::GPTModel& model, Lines& line) {
  line.text("Output text:\n " +
            story.decode(book::generate_text_simple(model, story.row(start_context), 10).to_vector()));

  const NoGrad no_grad;
  const IntArray inputs = ints({{16833, 3626, 6100}, {40, 1107, 588}});
  const IntArray targets = ints({{3626, 6100, 345}, {1107, 588, 11311}});
  const Tensor logits = model(inputs), probas = softmax(logits, -1);
  line(size_text(probas.shape()));
  const IntArray token_ids = argmax(probas, -1, true);
  line.text("Token IDs:\n " + to_text(token_ids));
  line("Targets batch 1: " + story.decode(index(targets, {0}).to_vector()));
  line("Outputs batch 1: " + story.decode(index(token_ids, {0}).to_vector()));

  const auto target_probas = [&](Index row) { return index(probas, {row, ints({0, 1, 2}), index(targets, {row})}); };
  line("Text 1: " + plain(target_probas(0)));
  line("Text 2: " + plain(target_probas(1)));
  const Tensor log_probas = log(cat({target_probas(0), target_probas(1)}));
  line(plain(log_probas));
  line(plain(mean(log_probas)));
  line(plain(mean(log_probas) * -1));
  line("Logits shape: " + size_text(logits.shape()));
  line("Targets shape: " + size_text(targets.shape()));
  const Tensor loss = cross_entropy(logits, targets);
  line("Flattened logits: " + size_text(flatten(logits, 0, 1).shape()));
  line("Flattened targets: " + size_text(Shape{targets.numel()}));
  line(plain(loss));
  line(plain(exp(loss)));
}

void about_the_data(const book::Story& story, Lines& line) {
  line(story.text.substr(0, 99));
  line(story.text.substr(story.text.size() - 99));
  line("Characters: " + std::to_string(story.text.size()));
  line("Tokens: " + std::to_string(story.encode(story.text).size()));

  const book::Loaders data(story, Generator(123));
  Index numbers = 0;
  const auto print = [&](const char* title, const book::Pieces& pieces, const DataLoader& loader) {
    line(title);
    Index tokens = 0;
    for (const std::vector<Index>& rows : loader) {
      const IntArray x = take_rows(pieces.inputs, rows), y = take_rows(pieces.targets, rows);
      line(size_text(x.shape()) + " " + size_text(y.shape()));
      tokens += x.numel();
    }
    numbers += tokens;
    return tokens;
  };
  const Index train = print("Train loader:", data.train, data.train_loader);
  const Index val = print("Validation loader:", data.val, data.val_loader);
  line("Training tokens: " + std::to_string(train));
  line("Validation tokens: " + std::to_string(val));
  line("All tokens: " + std::to_string(numbers));
}

book::GPTModel trained(const book::Story& story, Index epochs, Lines& line) {
  const Generator random(123);
  book::GPTModel model(config, random);
  const book::Loaders data(story, random);
  AdamW optimizer(all_parameters(model), {.lr = 0.0004, .weight_decay = 0.1});
  Index step = 0;
  for (Index epoch = 1; epoch <= epochs; ++epoch) {
    for (const std::vector<Index>& rows : data.train_loader) {
      optimizer.zero_grad();
      book::calc_loss_batch(model, data.train, rows).backward();
      optimizer.step();
      if (step % 5 == 0)
        line(formatted("Ep %d (Step %06d): ", int(epoch), int(step)) + book::evaluate_model(model, data, 5));
      ++step;
    }
    line(book::sample(model, story));
  }
  model.eval();
  return model;
}

const std::vector<const char*> vocab{"closer", "every", "effort", "forward", "inches",
                                     "moves",  "pizza", "toward", "you"};

void print_sampled_tokens(const Tensor& probas, Lines& line) {
  const Generator random(123);
  std::vector<Index> sampled;
  for (int i = 0; i < 1000; ++i) sampled.push_back(multinomial(probas, 1, random).item());
  const IntArray counts = bincount(IntArray({1000}, sampled), probas.numel());
  for (std::size_t i = 0; i < vocab.size(); ++i) line(std::to_string(counts.at({Index(i)})) + " x " + vocab[i]);
}

void temperature_and_top_k(Lines& line) {
  const Tensor next_token_logits = tensor({4.51, 0.89, -1.90, 6.75, 1.63, -1.62, -1.89, 6.28, 1.79});
  const Tensor probas = softmax(next_token_logits, 0);
  const auto word = [&](const IntArray& id) { line(vocab[static_cast<std::size_t>(id.item())]); };
  word(argmax(probas));
  word(multinomial(probas, 1, Generator(123)));
  print_sampled_tokens(probas, line);
  print_sampled_tokens(softmax(next_token_logits / 0.1, 0), line);
  print_sampled_tokens(softmax(next_token_logits / 5, 0), line);

  const auto [top_logits, top_pos] = topk(next_token_logits, 3);
  line("Top logits: " + plain(top_logits));
  line("Top positions: " + to_text(top_pos));
  const Mask lower = next_token_logits < index(top_logits, {-1});
  const Tensor new_logits = masked_fill(next_token_logits, lower, -std::numeric_limits<double>::infinity());
  line(plain(new_logits));
  line(plain(softmax(new_logits, 0)));
}

/// The book's generate(), which samples from the `top_k` likeliest tokens with a temperature.
IntArray generate(const book::GPTModel& model, IntArray ids, Index count, double temperature, Index top_k,
                  const Generator& random) {
  const NoGrad no_grad;
  for (Index i = 0; i < count; ++i) {
    Tensor logits = index(model(ids), {Slice(), -1});
    const Tensor smallest = index(topk(logits, top_k).values, {Slice(), Slice(-1)});
    logits = masked_fill(logits, logits < smallest, -std::numeric_limits<double>::infinity()) / temperature;
    ids = cat({ids, multinomial(softmax(logits, -1), 1, random)}, 1);
  }
  return ids;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    std::string folder;
    Index epochs = 10;
    read_data_words(argc, argv, "FOLDER: with the-verdict.txt, gpt2-vocab.json and gpt2-merges.txt [EPOCHS]", folder,
                    epochs);
    check(epochs >= 0 && epochs <= 10, "EPOCHS ", epochs, " must be 0 to 10");
    const book::Story story(folder);
    Lines line("book_5");
    temperature_and_top_k(line);
    about_the_data(story, line);
    {
      const Generator random(123);
      book::GPTModel model(config, random);
      model.eval();
      loss_by_hand(story, model, line);
      if (epochs > 0) {
        const book::Loaders data(story, Generator(123));
        line("Training loss: " + repr(book::calc_loss_loader(model, data.train, data.train_loader, 9)));
        line("Validation loss: " + repr(book::calc_loss_loader(model, data.val, data.val_loader, 1)));
      }
    }
    if (epochs == 0) return line.summary(false);
    const book::GPTModel model = trained(story, epochs, line);
    if (epochs < 10) return line.summary(false);
    const IntArray start = story.row(start_context);
    line.text("Output text:\n " + story.decode(book::generate_text_simple(model, start, 25).to_vector()));
    line.text("Output text:\n " + story.decode(generate(model, start, 15, 1.4, 25, Generator(123)).to_vector()));
    return line.summary();
  });
}
