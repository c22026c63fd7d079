// The notebook of "Let's build GPT". It reads a batch of characters, and trains a bigram model for 100 steps. It
// averages the tokens so far in three ways. Then come one head of attention, the scale of its scores, and a layer
// norm.
#include "examples/lectures/characters.h"
#include "nn/nn.h"
#include "train/train.h"

using namespace mote;

namespace {

/// Generates `count` characters. The row of a character in the table has the logits of the next character.
IntArray generate(const Embedding& table, IntArray idx, Index count, const Generator& random) {
  const NoGrad no_grad;
  for (Index i = 0; i < count; ++i) {
    const Tensor logits = index(table(idx), {Slice(), -1});
    idx = cat({idx, multinomial(softmax(logits, -1), 1, random)}, 1);
  }
  return idx;
}

void bigrams(const Characters& text, Lines& line) {
  const Pieces first(text.train, 4, 8, Generator(1337));
  line.text(to_text(first.x));
  line.text(to_text(first.y));

  const Generator random(1337);
  const Embedding table(65, 65, random);
  const auto loss_of = [&](const Pieces& b) { return cross_entropy(table(b.x), b.y); };
  line("torch.Size(" + text_of(flatten(table(first.x), 0, 1).shape()) + ")");
  line(to_text(loss_of(first).array()));
  line.text(text.decode(generate(table, IntArray({1, 1}), 100, random).to_vector()));

  AdamW optimizer(all_parameters(table), {.lr = 1e-3});
  double last = 0;
  for (int step = 0; step < 100; ++step) {
    const Tensor loss = loss_of(Pieces(text.train, 32, 8, random));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = static_cast<double>(loss.item());
  }
  line(repr(last));
  line.text(text.decode(generate(table, IntArray({1, 1}), 500, random).to_vector()));
}

void weighted_means(Lines& line) {
  const Tensor ones_below = tril(ones({3, 3}));
  const Tensor a = ones_below / sum(ones_below, 1, true);
  const Tensor b = tensor(randint(0, 10, {3, 2}, Generator(42)));
  line.text(to_text(a.array()));
  line.text(to_text(b.array()));
  line.text(to_text(matmul(a, b).array()));

  const Index B = 4, T = 8, C = 2;
  const Tensor x = randn({B, T, C}, Generator(1337));
  std::vector<Tensor> means;
  for (Index t = 0; t < T; ++t) means.push_back(mean(slice(x, 1, 0, t + 1), 1));
  const Tensor by_loop = stack(means, 1);

  Tensor weights = tril(ones({T, T}));
  weights = weights / sum(weights, 1, true);
  line(allclose(by_loop, matmul(weights, x), 1e-5, 1e-7) ? "True" : "False");

  const double minus_infinity = -std::numeric_limits<double>::infinity();
  const Tensor by_softmax = softmax(masked_fill(zeros({T, T}), tril(ones({T, T})) == 0, minus_infinity), -1);
  line(allclose(by_loop, matmul(by_softmax, x), 1e-5, 1e-7) ? "True" : "False");
}

void one_head(Lines& line) {
  const Index B = 4, T = 8, C = 32, head_size = 16;
  const Generator random(1337);
  const Tensor x = randn({B, T, C}, random);
  const Linear key(C, head_size, random, false), query(C, head_size, random, false), value(C, head_size, random, false);
  const Tensor scores = matmul(query(x), transpose(key(x), -2, -1));
  const Tensor weights = softmax(masked_fill(scores, ~causal_mask(T), -std::numeric_limits<double>::infinity()), -1);
  line.text(to_text(index(weights, {0}).array()));

  const Tensor k = randn({B, T, head_size}, random), q = randn({B, T, head_size}, random);
  const Tensor scaled = matmul(q, transpose(k, -2, -1)) * std::pow(static_cast<double>(head_size), -0.5);
  line(to_text(var(k).array()));
  line(to_text(var(q).array()));
  line(to_text(var(scaled).array()));

  const Tensor logits = tensor({0.1, -0.2, 0.3, -0.2, 0.5});
  line(to_text(softmax(logits, -1).array()));
  line(to_text(softmax(logits * 8, -1).array()));
}

void layer_norm_of_the_lecture(Lines& line) {
  const Tensor x = randn({32, 100}, Generator(1337));
  const Tensor y = (x - mean(x, 1, true)) / sqrt(var(x, 1, 1, true) + 1e-5);
  const Tensor feature = index(y, {Slice(), 0}), row = index(y, {0});
  line("(" + to_text(mean(feature).array()) + ", " + to_text(stddev(feature).array()) + ")");
  line(to_text(stddev(row).array()));
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    std::string path;
    read_data_words(argc, argv, "FILE: tiny Shakespeare, 1,115,394 bytes", path);
    const Characters text(lecture_file(path, 1'115'394));
    Lines line("gpt_dev");
    bigrams(text, line);
    weighted_means(line);
    one_head(line);
    layer_norm_of_the_lecture(line);
    return line.summary();
  });
}
