// Part 3 of makemore, continued. A model of six layers with batch norm trains for 1,001 steps. The program prints how
// large its outputs and gradients are, and 20 names. Then it prints these sizes for one layer of width 1,000, with and
// without the norm.
#include "examples/lectures/batch_norm.h"
#include "examples/lectures/names.h"

using namespace mote;

namespace {

constexpr Index block_size = 3, n_embd = 10, n_hidden = 100, vocab_size = 27;

struct Model {
  Parameter C;
  std::vector<Parameter> weights;
  std::vector<LectureBatchNorm> norms;
  std::vector<Tensor> tanhs;  ///< the output of each tanh in the last call of logits()

  explicit Model(const Generator& g) : C(randn({vocab_size, n_embd}, g).array()) {
    Index in = n_embd * block_size;
    for (int layer = 0; layer < 6; ++layer) {
      const bool last = layer == 5;
      const Index out = last ? vocab_size : n_hidden;
      weights.emplace_back(randn({in, out}, g).array() / std::sqrt(static_cast<real>(in)));
      norms.emplace_back(out, last ? 0.1 : 1);  // a small gain makes the first predictions less confident
      in = out;
    }
  }
  Tensor logits(const IntArray& x, bool training) {
    tanhs.clear();
    Tensor h = flatten(embedding(C, x), 1);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      h = norms[i](matmul(h, weights[i]), training);
      if (i + 1 == weights.size()) break;
      h = tanh(h);
      if (training) h.retain_grad();
      tanhs.push_back(h);
    }
    return h;
  }
  std::vector<Parameter> parameters() const {
    std::vector<Parameter> all{C};
    for (std::size_t i = 0; i < weights.size(); ++i) all.insert(all.end(), {weights[i], norms[i].gamma, norms[i].beta});
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

double number(const Tensor& x) { return static_cast<double>(x.item()); }

void train(Model& model, const Contexts& names, const Generator& g, Lines& line) {
  for (Index i = 0; i <= 1000; ++i) {
    const std::vector<Index> ix = randint(0, names.y.numel(), {32}, g).to_vector();
    const Tensor loss = cross_entropy(model.logits(take_rows(names.x, ix), true), take_rows(names.y, ix));
    for (const Parameter& p : model.parameters()) p.zero_grad();
    loss.backward();
    for (const Parameter& p : model.parameters()) p.set(p.value() - p.grad() * 0.1);
    if (i == 0) line(progress(i, loss));
  }
}

void sizes(const Model& model, Lines& line) {
  for (std::size_t i = 0; i < model.tanhs.size(); ++i) {
    const Tensor t = model.tanhs[i].detach();
    const double saturated = number(mean(tensor(abs(t) > 0.97))) * 100;
    line(formatted("layer %zu (      Tanh): mean %+.2f, std %.2f, saturated: %.2f%%", 3 * i + 2, number(mean(t)),
                   number(stddev(t)), saturated));
  }
  for (std::size_t i = 0; i < model.tanhs.size(); ++i) {
    const Tensor t = model.tanhs[i].grad();
    line(formatted("layer %zu (      Tanh): mean %+f, std %e", 3 * i + 2, number(mean(t)), number(stddev(t))));
  }
  for (const Parameter& p : model.parameters()) {
    if (p.shape().rank() != 2) continue;
    const std::string shape = "(" + std::to_string(p.shape()[0]) + ", " + std::to_string(p.shape()[1]) + ")";
    const Tensor t = p.grad();
    const double ratio = number(stddev(t) / stddev(Tensor(p.value())));
    line(formatted("weight %10s | mean %+f | std %e | grad:data ratio %e", shape.c_str(), number(mean(t)),
                   number(stddev(t)), ratio));
  }
}

void one_layer(Lines& line) {
  const auto std_of = [](const Tensor& x) { return repr(static_cast<float>(stddev(x).item())); };
  {
    const Generator g(2147483647);
    const Tensor a = randn({1000, 1}, g).requires_grad_(), b = randn({1000, 1000}, g).requires_grad_();
    Tensor c = matmul(b, a);
    c.retain_grad();
    matmul(randn({1000}, g), c).backward();
    line("a std: " + std_of(a));
    line("b std: " + std_of(b));
    line("c std: " + std_of(c));
    line("c grad std: " + std_of(c.grad()));
    line("a grad std: " + std_of(a.grad()));
    line("b grad std: " + std_of(b.grad()));
  }
  const Generator g(2147483647);
  const Tensor inp = randn({1000}, g).requires_grad_(), w = randn({1000, 1000}, g).requires_grad_();
  Tensor x = matmul(w, inp);
  x.retain_grad();
  Tensor out = (x - mean(x)) / sqrt(var(x) + 1e-5);
  out.retain_grad();
  matmul(out, randn({1000}, g)).backward();
  line("inp std:  " + std_of(inp));
  line("w std:  " + std_of(w));
  line("x std:  " + std_of(x));
  line("out std:  " + std_of(out));
  line("out grad std:  " + std_of(out.grad()));
  line("x grad std:  " + std_of(x.grad()));
  line("w grad std:  " + std_of(w.grad()));
  line("inp grad std:  " + std_of(inp.grad()));
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    std::string path;
    read_data_words(argc, argv, "FILE: names.txt, 228,145 bytes", path);
    std::vector<std::string> words = words_of(lecture_file(path, 228'145));
    PythonRandom(42).shuffle(words);
    const SplitNames names(words, block_size);

    Lines line("makemore_3_deep");
    const Generator g(2147483647);
    Model model(g);
    Index count = 0;
    for (const Parameter& p : model.parameters()) count += p.numel();
    line(std::to_string(count));
    train(model, names.train, g, line);
    sizes(model, line);
    line("train " + repr(model.split_loss(names.train)));
    line("val " + repr(model.split_loss(names.dev)));
    const Generator samples(2147483647L + 10);
    for (int i = 0; i < 20; ++i) line(model.name(samples));
    one_layer(line);
    constexpr int gradients_after_1000_steps = 5;  // these lines differ in their sixth digit
    return line.summary(true, gradients_after_1000_steps);
  });
}
