// "LLM from scratch 1.3, Multi Head Self Attention": the shapes that the page's class prints, a check that three heads
// are three attentions side by side, and the attention weights of all heads. The weights are printed without the mask
// and with the mask, which is commented out in the page's code.
#include <iostream>

#include "engine/engine.h"
#include "examples/lectures/tutorial.h"
#include "models/tutorials/llm_from_scratch.h"
#include "nn/head_pictures.h"

using namespace mote;
namespace page = tutorials::llm_from_scratch;

namespace {

/// Concat(head_1, ..., head_h) W^O with head_i = Attention(x W_i^Q, x W_i^K, x W_i^V), computed one head after the
/// other.
Tensor formula(const page::MultiHeadSelfAttention& layer, const Tensor& x) {
  const Index D = layer.d_model, width = layer.d_head;
  const auto project = [&](Index which, Index head) {  // rows of qkv.weight; which: 0 query, 1 key, 2 value
    const Index row = which * D + head * width;
    return matmul(x, transpose(slice(Tensor(layer.qkv.weight), 0, row, row + width), 0, 1));
  };
  std::vector<Tensor> heads;
  for (Index i = 0; i < layer.n_head; ++i) {
    const Tensor q = project(0, i);
    const Tensor k = project(1, i);
    heads.push_back(attention(q, k, project(2, i)));
    std::cout << "   head_" << i + 1 << ": " << size(heads.back()) << "\n";
  }
  const Tensor joined = cat(heads, -1);
  std::cout << "   Concat(head_1, head_2, head_3): " << size(joined) << "\n";
  return layer.proj(joined);
}

void lesson() {
  const Generator random(123);
  page::MultiHeadSelfAttention layer(3, 12, random);  // n_head, d_model; trace_shapes is on
  const Tensor x = randn({2, 5, 12}, random);
  std::cout << "1. What is multi head self attention?\n   X (B, T, D_model): " << size(x)
            << "\n   n_head = " << layer.n_head << ", D_head = D_model / n_head = " << layer.d_head
            << "\n\n3. The formula\n";
  const Tensor by_formula = formula(layer, x);

  std::cout << "\n4. The code: what MultiHeadSelfAttention prints of itself\n";
  const auto [out, w] = layer(x);
  claim(number(max(abs(out - by_formula))) < 1e-6,
        "one fused projection and one batched product: the formula's result");
  claim(number(max(abs(sum(w, {-1}) - 1))) < 1e-6, "each row of the weights that it returns sums to 1");
  const std::vector<std::string> tokens{"x1", "x2", "x3", "x4", "x5"};
  std::cout << "\nThe weights of the first row of the batch: a line is a query, '.' a weight near 0, '@' near 1\n\n"
            << attention_text(w.array().select(0, 0), tokens, false)
            << "\nWith the two lines that the page comments out, where true blocks: causal_mask(T)\n\n"
            << page::causal_mask(5).mask << "\n";
  layer.trace_shapes = false;
  const Tensor causal = layer(x, page::causal_mask(5)).second;
  std::cout << "\n" << attention_text(causal.array().select(0, 0), tokens) << "\n";
  claim(number(max(abs(triu(causal, 1)))) == 0, "no token attends to a later one");
}

}  // namespace

int main(int, char** argv) { return run_lesson(argv, lesson); }
