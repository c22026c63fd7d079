// The last cell of the notebook of "Let's build GPT": four blocks of four heads learn the text in 5,000 steps.
#include "examples/lectures/characters.h"
#include "nn/nn.h"
#include "train/train.h"

using namespace mote;

namespace {

constexpr Index batch_size = 16, block_size = 32, n_embd = 64, heads = 4, layers = 4, vocab_size = 65;

/// A head of attention. The lecture divides scores by the square root of the model's width instead of the head's
/// width.
struct Head : Layer<Head> {
  Linear key, query, value;

  explicit Head(const Generator& random)
      : key(n_embd, n_embd / heads, random, false),
        query(n_embd, n_embd / heads, random, false),
        value(n_embd, n_embd / heads, random, false) {}
  Tensor forward(const Tensor& x) const {
    const Tensor q = query(x), k = key(x);
    return attention(q, k, value(x), {.causal = true, .scale = 1 / std::sqrt(static_cast<double>(n_embd))});
  }
  void visit(Visitor& v) override {
    v("key", key);
    v("query", query);
    v("value", value);
  }
};

struct Block : Layer<Block> {
  std::vector<Head> sa;
  Linear proj;
  Sequential ffwd;
  LayerNorm ln1, ln2;

  explicit Block(const Generator& random)
      : sa(module_list<Head>(heads, random)),
        proj(n_embd, n_embd, random),
        ffwd{Linear(n_embd, 4 * n_embd, random), ReLU(), Linear(4 * n_embd, n_embd, random)},
        ln1(n_embd),
        ln2(n_embd) {}
  Tensor forward(const Tensor& input) const {
    const Tensor normed = ln1(input);
    std::vector<Tensor> outputs;
    for (const Head& head : sa) outputs.push_back(head(normed));
    const Tensor x = input + proj(cat(outputs, -1));
    return x + ffwd(ln2(x));
  }
  void visit(Visitor& v) override {
    v("sa", sa);
    v("proj", proj);
    v("ffwd", ffwd);
    v("ln1", ln1);
    v("ln2", ln2);
  }
};

struct Model : Layer<Model> {
  Embedding token_embedding_table, position_embedding_table;
  std::vector<Block> blocks;
  LayerNorm ln_f;
  Linear lm_head;

  explicit Model(const Generator& random)
      : token_embedding_table(vocab_size, n_embd, random),
        position_embedding_table(block_size, n_embd, random),
        blocks(module_list<Block>(layers, random)),
        ln_f(n_embd),
        lm_head(n_embd, vocab_size, random) {}
  Tensor forward(const IntArray& ids) const {
    Tensor x = token_embedding_table(ids) + position_embedding_table(int_arange(ids.shape()[1]));
    for (const Block& block : blocks) x = block(x);
    return lm_head(ln_f(x));
  }
  void visit(Visitor& v) override {
    v("token_embedding_table", token_embedding_table);
    v("position_embedding_table", position_embedding_table);
    v("blocks", blocks);
    v("ln_f", ln_f);
    v("lm_head", lm_head);
  }
};

/// The mean of the losses of 200 batches, each loss rounded to float.
double estimate(const Model& model, const std::vector<Index>& data, const Generator& random) {
  const NoGrad no_grad;
  std::vector<double> losses;
  for (int k = 0; k < 200; ++k) {
    const Pieces b(data, batch_size, block_size, random);
    losses.push_back(static_cast<double>(cross_entropy(model(b.x), b.y).item()));
  }
  return static_cast<double>(mean(tensor(losses)).item());
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    std::string path;
    Index steps = 5000;
    read_data_words(argc, argv, "FILE: tiny Shakespeare, 1,115,394 bytes [STEPS]", path, steps);
    const Characters text(lecture_file(path, 1'115'394));
    Lines line("gpt_dev_gpt");
    const Generator random(1337);
    const Model model(random);
    line(repr(static_cast<double>(parameter_count(model)) / 1e6) + " M parameters");

    AdamW optimizer(all_parameters(model), {.lr = 1e-3});
    for (Index step = 0; step < steps; ++step) {
      if (step % 100 == 0 || step == 4999) {
        const double train = estimate(model, text.train, random);
        line(formatted("step %d: train loss %.4f, val loss %.4f", int(step), train, estimate(model, text.val, random)));
      }
      const Pieces b(text.train, batch_size, block_size, random);
      const Tensor loss = cross_entropy(model(b.x), b.y);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    return line.summary(false);
  });
}
