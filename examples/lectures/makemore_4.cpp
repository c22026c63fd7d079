// Part 4 of makemore: every gradient of an MLP with batch norm, computed by hand and equal to backward() bit for bit.
#include "examples/lectures/names.h"

using namespace mote;

namespace {

constexpr Index block_size = 3, n_embd = 10, n_hidden = 64, vocab_size = 27, n = 32;

/// Prints whether a gradient by hand equals the gradient of backward().
void cmp(Lines& line, const std::string& name, const Tensor& by_hand, const Array& grad) {
  const auto yes = [](bool holds) { return std::string(holds ? "True " : "False"); };
  const Tensor of_backward(grad);
  const double maxdiff = static_cast<double>(max(abs(by_hand - of_backward)).item());
  std::string text = repr(maxdiff);
  if (text.find('.') == text.npos && text.find('e') == text.npos) text += ".0";
  line(name + std::string(15 - name.size(), ' ') + " | exact: " + yes(equal(by_hand, of_backward)) +
       " | approximate: " + yes(allclose(by_hand, of_backward)) + " | maxdiff: " + text);
}

void lesson(const std::string& path, Lines& line) {
  std::vector<std::string> words = words_of(lecture_file(path, 228'145));
  PythonRandom(42).shuffle(words);
  const SplitNames names(words, block_size);

  const Generator g(2147483647), unseeded;
  const auto leaf = [](const Tensor& x) { return Tensor(x.array()).requires_grad_(); };
  const Tensor C = leaf(randn({vocab_size, n_embd}, g));
  const Tensor W1 =
      leaf(randn({n_embd * block_size, n_hidden}, g) * ((5.0 / 3) / std::sqrt(n_embd * block_size * 1.0)));
  const Tensor b1 = leaf(randn({n_hidden}, g) * 0.1);
  const Tensor W2 = leaf(randn({n_hidden, vocab_size}, g) * 0.1), b2 = leaf(randn({vocab_size}, g) * 0.1);
  const Tensor bngain = leaf(randn({1, n_hidden}, unseeded) * 0.1 + 1.0);
  const Tensor bnbias = leaf(randn({1, n_hidden}, unseeded) * 0.1);
  Index count = 0;
  for (const Tensor& p : {C, W1, b1, W2, b2, bngain, bnbias}) count += p.numel();
  line(std::to_string(count));

  const std::vector<Index> rows = randint(0, names.train.y.numel(), {n}, g).to_vector();
  const IntArray Xb = take_rows(names.train.x, rows), Yb = take_rows(names.train.y, rows);

  // The forward pass, in steps so small that the backward pass can take one at a time.
  Tensor emb = embedding(C, Xb);
  Tensor embcat = flatten(emb, 1);
  Tensor hprebn = matmul(embcat, W1) + b1;
  Tensor bnmeani = sum(hprebn, 0, true) * (1.0 / n);
  Tensor bndiff = hprebn - bnmeani;
  Tensor bndiff2 = pow(bndiff, 2);
  Tensor bnvar = sum(bndiff2, 0, true) * (1.0 / (n - 1));
  Tensor bnvar_inv = pow(bnvar + 1e-5, -0.5);
  Tensor bnraw = bndiff * bnvar_inv;
  Tensor hpreact = bngain * bnraw + bnbias;
  Tensor h = tanh(hpreact);
  Tensor logits = matmul(h, W2) + b2;
  Tensor logit_maxes = max(logits, 1, true).values;
  Tensor norm_logits = logits - logit_maxes;
  Tensor counts = exp(norm_logits);
  Tensor counts_sum = sum(counts, 1, true);
  Tensor counts_sum_inv = pow(counts_sum, -1);
  Tensor probs = counts * counts_sum_inv;
  Tensor logprobs = log(probs);
  const Tensor loss = -mean(index(logprobs, {int_arange(n), Yb}));
  for (Tensor* const t :
       {&logprobs, &probs, &counts, &counts_sum, &counts_sum_inv, &norm_logits, &logit_maxes, &logits, &h, &hpreact,
        &bnraw, &bnvar_inv, &bnvar, &bndiff2, &bndiff, &hprebn, &bnmeani, &embcat, &emb})
    t->retain_grad();
  loss.backward();

  // The backward pass, by hand.
  const NoGrad no_grad;
  const Tensor dlogprobs = -tensor(one_hot(Yb, vocab_size)) * (1.0 / n);
  const Tensor dprobs = 1.0 / probs * dlogprobs;
  const Tensor dcounts_sum_inv = sum(counts * dprobs, 1, true);
  const Tensor dcounts_sum = -pow(counts_sum, -2) * dcounts_sum_inv;
  const Tensor dcounts = counts_sum_inv * dprobs + ones_like(counts) * dcounts_sum;
  const Tensor dnorm_logits = counts * dcounts;
  const Tensor dlogit_maxes = sum(-dnorm_logits, 1, true);
  const Tensor dlogits = dnorm_logits + tensor(one_hot(argmax(logits), vocab_size)) * dlogit_maxes;
  const Tensor dh = matmul(dlogits, transpose(W2, 0, 1));
  const Tensor dW2 = matmul(transpose(h, 0, 1), dlogits);
  const Tensor db2 = sum(dlogits, 0);
  const Tensor dhpreact = (1.0 - pow(h, 2)) * dh;
  const Tensor dbngain = sum(bnraw * dhpreact, 0, true);
  const Tensor dbnraw = bngain * dhpreact;
  const Tensor dbnbias = sum(dhpreact, 0, true);
  const Tensor dbnvar_inv = sum(bndiff * dbnraw, 0, true);
  const Tensor dbnvar = pow(bnvar + 1e-5, -1.5) * -0.5 * dbnvar_inv;
  const Tensor dbndiff2 = ones_like(bndiff2) * (1.0 / (n - 1)) * dbnvar;
  const Tensor dbndiff = bnvar_inv * dbnraw + bndiff * 2 * dbndiff2;
  const Tensor dbnmeani = sum(-dbndiff, 0, true);
  const Tensor dhprebn = dbndiff + ones_like(hprebn) * dbnmeani * (1.0 / n);
  const Tensor dembcat = matmul(dhprebn, transpose(W1, 0, 1));
  const Tensor dW1 = matmul(transpose(embcat, 0, 1), dhprebn);
  const Tensor db1 = sum(dhprebn, 0);
  const Tensor demb = reshape(dembcat, emb.shape());
  const Tensor dC = index_add(zeros_like(C), 0, Xb.reshape({-1}), reshape(demb, {n * block_size, n_embd}));

  cmp(line, "logprobs", dlogprobs, logprobs.grad());
  cmp(line, "probs", dprobs, probs.grad());
  cmp(line, "counts_sum_inv", dcounts_sum_inv, counts_sum_inv.grad());
  cmp(line, "counts_sum", dcounts_sum, counts_sum.grad());
  cmp(line, "counts", dcounts, counts.grad());
  cmp(line, "norm_logits", dnorm_logits, norm_logits.grad());
  cmp(line, "logit_maxes", dlogit_maxes, logit_maxes.grad());
  cmp(line, "logits", dlogits, logits.grad());
  cmp(line, "h", dh, h.grad());
  cmp(line, "W2", dW2, W2.grad());
  cmp(line, "b2", db2, b2.grad());
  cmp(line, "hpreact", dhpreact, hpreact.grad());
  cmp(line, "bngain", dbngain, bngain.grad());
  cmp(line, "bnbias", dbnbias, bnbias.grad());
  cmp(line, "bnraw", dbnraw, bnraw.grad());
  cmp(line, "bnvar_inv", dbnvar_inv, bnvar_inv.grad());
  cmp(line, "bnvar", dbnvar, bnvar.grad());
  cmp(line, "bndiff2", dbndiff2, bndiff2.grad());
  cmp(line, "bndiff", dbndiff, bndiff.grad());
  cmp(line, "bnmeani", dbnmeani, bnmeani.grad());
  cmp(line, "hprebn", dhprebn, hprebn.grad());
  cmp(line, "embcat", dembcat, embcat.grad());
  cmp(line, "W1", dW1, W1.grad());
  cmp(line, "b1", db1, b1.grad());
  cmp(line, "emb", demb, emb.grad());
  cmp(line, "C", dC, C.grad());
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    std::string path;
    read_data_words(argc, argv, "FILE: names.txt, 228,145 bytes", path);
    Lines line("makemore_4");
    lesson(path, line);
    return line.summary();
  });
}
