// Part 5 of makemore: a model reads eight letters of context two by two, in a hierarchy like WaveNet's. It trains for
// 200,000 steps and then makes names.
#include "examples/lectures/batch_norm.h"
#include "examples/lectures/names.h"

using namespace mote;

namespace {

constexpr Index block_size = 8, n_embd = 24, n_hidden = 128, vocab_size = 27;

/// The lecture's layer: weight [in, out] from N(0, 1 / in), without a bias.
Parameter linear_weight(Index in, Index out, const Generator& random) {
  return Parameter(randn({in, out}, random).array() / std::sqrt(static_cast<real>(in)));
}

/// Joins every two neighbours, then applies a linear layer, the norm and tanh: [B, T, C] -> [B, T / 2, hidden], or [B,
/// hidden] if T is 2.
struct Fuse {
  Parameter weight;
  LectureBatchNorm norm;

  Fuse(Index in, const Generator& random) : weight(linear_weight(2 * in, n_hidden, random)), norm(n_hidden) {}
  Tensor operator()(const Tensor& x, bool training) {
    const Shape pairs{x.size(0), x.size(1) / 2, 2 * x.size(2)};
    const Tensor y = x.size(1) == 2 ? reshape(x, {pairs[0], pairs[2]}) : reshape(x, pairs);
    return tanh(norm(matmul(y, weight), training));
  }
};

struct Model {
  Parameter embeddings, out_weight, out_bias;
  std::vector<Fuse> layers;

  explicit Model(const Generator& random) : embeddings(randn({vocab_size, n_embd}, random).array()) {
    for (const Index in : {n_embd, n_hidden, n_hidden}) layers.emplace_back(in, random);
    out_weight = Parameter(linear_weight(n_hidden, vocab_size, random).value() * 0.1);  // less confident at first
    out_bias = Parameter(Array::zeros({vocab_size}));
  }
  Tensor logits(const IntArray& x, bool training) {
    Tensor h = embedding(embeddings, x);
    for (Fuse& layer : layers) h = layer(h, training);
    return matmul(h, out_weight) + out_bias;
  }
  std::vector<Parameter> parameters() const {
    std::vector<Parameter> all{embeddings};
    for (const Fuse& layer : layers) all.insert(all.end(), {layer.weight, layer.norm.gamma, layer.norm.beta});
    all.insert(all.end(), {out_weight, out_bias});
    return all;
  }
  double split_loss(const Contexts& split) {
    const NoGrad no_grad;
    return static_cast<double>(cross_entropy(logits(split.x, false), split.y).item());
  }
  std::string name(const Generator& random) {
    return new_name(block_size, random, [&](const IntArray& context) { return logits(context, false); });
  }
};

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    std::string path;
    Index steps = 200'000;
    read_data_words(argc, argv, "FILE: names.txt, 228,145 bytes [STEPS]", path, steps);
    std::vector<std::string> words = words_of(lecture_file(path, 228'145));
    PythonRandom(42).shuffle(words);
    const SplitNames names(words, block_size);

    Lines line("makemore_5");
    for (Index row = 0; row < 20; ++row) {
      std::string context;
      for (Index i = 0; i < block_size; ++i) context += letter(names.train.x.at({row, i}));
      line(context + " --> " + letter(names.train.y.at({row})));
    }

    const Generator random(42);
    Model model(random);
    const std::vector<Parameter> parameters = model.parameters();
    Index count = 0;
    for (const Parameter& p : parameters) count += p.numel();
    line(std::to_string(count));

    for (Index i = 0; i < steps; ++i) {
      const std::vector<Index> ix = randint(0, names.train.y.numel(), {32}, random).to_vector();
      const Tensor loss = cross_entropy(model.logits(take_rows(names.train.x, ix), true), take_rows(names.train.y, ix));
      for (const Parameter& p : parameters) p.zero_grad();
      loss.backward();
      const double lr = i < 150'000 ? 0.1 : 0.01;
      for (const Parameter& p : parameters) p.set(p.value() - p.grad() * lr);
      if (i % 10'000 == 0) line(progress(i, loss));
    }
    if (steps >= 200'000) {
      line("train " + repr(model.split_loss(names.train)));
      line("val " + repr(model.split_loss(names.dev)));
      for (int i = 0; i < 20; ++i) line(model.name(random));
    }
    return line.summary(steps >= 200'000);
  });
}
