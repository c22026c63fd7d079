// microgpt: a GPT of 4,192 parameters, written in plain Python by its author. It trains on 1,000 names, one in each
// step, and then makes 20 names. All numbers are double, as in Python.
#include "examples/lectures/names.h"
#include "train/optim/adamw.h"

using namespace mote;

namespace {

constexpr Index n_embd = 16, n_head = 4, block_size = 16, vocab_size = 27, begin_or_end = 26;

Parameter drawn(Index rows, Index columns, PythonRandom& random) {
  std::vector<real> values;
  for (Index i = 0; i < rows * columns; ++i) values.push_back(static_cast<real>(random.gauss(0, 0.08)));
  return Parameter(Array({rows, columns}, values));
}

Tensor rmsnorm(const Tensor& x) { return x * pow(mean(x * x, -1, true) + 1e-5, -0.5); }

/// A model like GPT-2, with RMSNorm in place of layer norms, ReLU in place of GELU, and no biases.
struct Model {
  Parameter wte, wpe, lm_head, attn_wq, attn_wk, attn_wv, attn_wo, mlp_fc1, mlp_fc2;

  explicit Model(PythonRandom& random) {
    wte = drawn(vocab_size, n_embd, random);
    wpe = drawn(block_size, n_embd, random);
    lm_head = drawn(vocab_size, n_embd, random);
    attn_wq = drawn(n_embd, n_embd, random);
    attn_wk = drawn(n_embd, n_embd, random);
    attn_wv = drawn(n_embd, n_embd, random);
    attn_wo = drawn(n_embd, n_embd, random);
    mlp_fc1 = drawn(4 * n_embd, n_embd, random);
    mlp_fc2 = drawn(n_embd, 4 * n_embd, random);
  }
  /// The ids of T tokens -> the logits [T, V] of the token that follows each of them.
  Tensor logits(const std::vector<Index>& ids) const {
    const Index length = std::ssize(ids);
    Tensor x = rmsnorm(embedding(wte, IntArray({1, length}, ids)) + embedding(wpe, int_arange(length)));

    const Tensor before = rmsnorm(x);
    const Tensor q = linear(before, attn_wq), k = linear(before, attn_wk), v = linear(before, attn_wv);
    x = x + linear(attention(q, k, v, {n_head, n_head}, {.causal = true}), attn_wo);
    x = x + linear(relu(linear(rmsnorm(x), mlp_fc1)), mlp_fc2);
    return flatten(linear(x, lm_head), 0, 1);
  }
  std::vector<Parameter> parameters() const {
    return {wte, wpe, lm_head, attn_wq, attn_wk, attn_wv, attn_wo, mlp_fc1, mlp_fc2};
  }
};

/// The letters of a name as 0 to 25, between two tokens that mark the beginning and the end.
std::vector<Index> tokens_of(const std::string& name) {
  std::vector<Index> tokens{begin_or_end};
  for (const char c : name) tokens.push_back(c - 'a');
  tokens.push_back(begin_or_end);
  return tokens;
}

std::string new_name(const Model& model, PythonRandom& random) {
  const NoGrad no_grad;
  std::vector<Index> ids{begin_or_end};
  std::string name;
  while (std::ssize(ids) <= block_size) {
    const Tensor probs = softmax(index(model.logits(ids), {-1}) / 0.5, -1);
    const std::vector<real> weights = probs.to_vector();
    const auto id = static_cast<Index>(random.choice({weights.begin(), weights.end()}));
    if (id == begin_or_end) break;
    name += static_cast<char>('a' + id);
    ids.push_back(id);
  }
  return name;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    std::string path;
    read_data_words(argc, argv, "FILE: names.txt, 228,145 bytes", path);
    std::vector<std::string> docs = words_of(lecture_file(path, 228'145));
    Lines line("microgpt");
    PythonRandom random(42);
    random.shuffle(docs);
    line("num docs: " + std::to_string(docs.size()));
    line("vocab size: " + std::to_string(vocab_size));

    const Model model(random);
    Index count = 0;
    for (const Parameter& p : model.parameters()) count += p.numel();
    line("num params: " + std::to_string(count));

    constexpr int num_steps = 1000;
    Adam optimizer(model.parameters(), {.betas = {0.85, 0.99}});
    for (int step = 0; step < num_steps; ++step) {
      std::vector<Index> tokens = tokens_of(docs[static_cast<std::size_t>(step)]);
      const Index n = std::min(block_size, std::ssize(tokens) - 1);
      const std::vector<Index> inputs(tokens.begin(), tokens.begin() + n),
          targets(tokens.begin() + 1, tokens.begin() + 1 + n);
      const Tensor loss = cross_entropy(model.logits(inputs), IntArray({n}, targets));
      optimizer.zero_grad();
      loss.backward();
      optimizer.set_learning_rate(0.01 * (1 - static_cast<double>(step) / num_steps));
      optimizer.step();
      if (step < 13 || step + 1 == num_steps)
        line(formatted("step %4d / %4d | loss %.4f", step + 1, num_steps, static_cast<double>(loss.item())));
    }
    for (int i = 1; i <= 20; ++i) line(formatted("sample %2d: ", i) + new_name(model, random));
    return line.summary();
  });
}
