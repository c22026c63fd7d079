// Part 3 of makemore: an MLP with batch norm, written without layers, learns names in 200,000 steps of gradient
// descent.
#include "examples/lectures/names.h"

using namespace mote;

namespace {

constexpr Index block_size = 3, n_embd = 10, n_hidden = 200, vocab_size = 27;

struct Model {
  Parameter C, W1, W2, b2, bngain, bnbias;
  Array bnmean_running = Array::zeros({1, n_hidden}), bnstd_running = Array::full({1, n_hidden}, 1);

  explicit Model(const Generator& g) {
    const auto drawn = [&](const Shape& shape) { return randn(shape, g).array(); };
    C = Parameter(drawn({vocab_size, n_embd}));
    W1 = Parameter(drawn({n_embd * block_size, n_hidden}) * (5.0 / 3) / std::sqrt(n_embd * block_size * 1.0));
    W2 = Parameter(drawn({n_hidden, vocab_size}) * 0.01);
    b2 = Parameter(drawn({vocab_size}) * 0);
    bngain = Parameter(Array::full({1, n_hidden}, 1));
    bnbias = Parameter(Array::zeros({1, n_hidden}));
  }
  std::vector<Parameter> parameters() const { return {C, W1, W2, b2, bngain, bnbias}; }

  /// The hidden layer before the norm, [B, hidden].
  Tensor hidden(const IntArray& x) const { return matmul(flatten(embedding(C, x), 1), W1); }
  Tensor logits(const Tensor& hpreact, const Tensor& mean, const Tensor& std) const {
    const Tensor normed = bngain * (hpreact - mean) / std + bnbias;
    return matmul(tanh(normed), W2) + b2;
  }
  Tensor loss(const IntArray& x, const IntArray& y) {
    const Tensor hpreact = hidden(x), bnmeani = mean(hpreact, 0, true), bnstdi = stddev(hpreact, 0, 1, true);
    bnmean_running = bnmean_running * 0.999 + bnmeani.array() * 0.001;
    bnstd_running = bnstd_running * 0.999 + bnstdi.array() * 0.001;
    return cross_entropy(logits(hpreact, bnmeani, bnstdi), y);
  }
  double split_loss(const Contexts& split) const {
    const NoGrad no_grad;
    return static_cast<double>(cross_entropy(logits(hidden(split.x), bnmean_running, bnstd_running), split.y).item());
  }
};

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    std::string path;
    Index steps = 200'000;
    read_data_words(argc, argv, "FILE: names.txt, 228,145 bytes [STEPS]", path, steps);
    std::vector<std::string> words = words_of(lecture_file(path, 228'145));
    Lines line("makemore_3");
    line(std::to_string(words.size()));
    PythonRandom(42).shuffle(words);
    const SplitNames names(words, block_size);
    for (const Contexts* part : {&names.train, &names.dev, &names.test})
      line("torch.Size(" + text_of(part->x.shape()) + ") torch.Size(" + text_of(part->y.shape()) + ")");

    const Generator g(2147483647);
    Model model(g);
    Index count = 0;
    for (const Parameter& p : model.parameters()) count += p.numel();
    line(std::to_string(count));

    for (Index i = 0; i < steps; ++i) {
      const std::vector<Index> ix = randint(0, names.train.y.numel(), {32}, g).to_vector();
      const Tensor loss = model.loss(take_rows(names.train.x, ix), take_rows(names.train.y, ix));
      for (const Parameter& p : model.parameters()) p.zero_grad();
      loss.backward();
      const double lr = i < 100'000 ? 0.1 : 0.01;
      for (const Parameter& p : model.parameters()) p.set(p.value() - p.grad() * lr);
      if (i % 10'000 == 0) line(progress(i, loss));
    }
    if (steps >= 200'000) {
      line("train " + repr(model.split_loss(names.train)));
      line("val " + repr(model.split_loss(names.dev)));
    }
    return line.summary(steps >= 200'000);
  });
}
