// "Multi-Head from Scratch": shapes, the attention maps of 8 heads, the cost of each operation, one head of 64
// dimensions beside 8 heads of 8, the transformer block, output norms. `multi_head_from_scratch heads.svg` also draws
// the page's figure.
#include <iostream>

#include "engine/engine.h"
#include "engine/io/files/file.h"
#include "examples/lectures/tutorial.h"
#include "models/tutorials/multi_head_from_scratch.h"
#include "nn/embedding.h"
#include "nn/head_pictures.h"

using namespace mote;
using namespace mote::tutorials::multi_head_from_scratch;

namespace {

/// The attention weights of the first row of the batch, [heads, N, N].
Array maps(const MultiHeadAttention& mha, const Tensor& x) { return mha(x, x, x).second.array().select(0, 0); }

void lesson(const char* file) {
  const Generator random(123);
  const Tensor x = randn({2, 10, 512}, random);
  const MultiHeadAttention mha(512, 8, random);
  std::cout << "4. Step by step: from single to multi-head\n"
            << "1  project X -> Q, K, V         " << size(mha.W_q(x)) << "\n"
            << "2  split into h heads           " << size(mha.split_heads(mha.W_q(x))) << "\n";
  const Tensor q = mha.split_heads(mha.W_q(x)), k = mha.split_heads(mha.W_k(x)), v = mha.split_heads(mha.W_v(x));
  const Tensor heads = mha.scaled_dot_product(q, k, v).first;
  std::cout << "3  parallel attention           " << size(heads) << "\n4  concat + linear              "
            << size(mha.W_o(mha.combine_heads(heads))) << "\n\n6. Self-attention: mha(x, x, x)\n"
            << std::flush;
  Lines line("multi_head_from_scratch");
  line(text_of(mha(x, x, x).first.shape()));
  claim(line.summary() == 0, "the shape that the page promises");

  std::cout << "\n8. Multi-Head Attention Weights (8 Heads). Dropout is on: '.' may be dropped\n\n";
  const Tensor dummy = randn({1, 5, 64}, random);
  const Array weights = maps(MultiHeadAttention(64, 8, random), dummy);
  const std::vector<std::string> rows{"1", "2", "3", "4", "5"};
  std::vector<std::string> names;
  for (int i = 1; i <= 8; ++i) names.push_back("Head " + std::to_string(i));
  std::cout << attention_text(weights, rows, false, names);
  if (file) {  // as in seaborn, the colours go from the smallest weight of a head to its largest
    const Tensor low = min(Tensor(weights), {1, 2}, true), high = max(Tensor(weights), {1, 2}, true);
    const Array scaled = ((weights - low) / (high - low)).array();
    write_file(file, attention_svg(scaled, rows, rows, "Multi-Head Attention Weights (8 Heads)", names));
  }

  std::cout << "\n9. Efficiency: multiply-adds\n    N    d   h   projections 4 N d^2   attention 2 N^2 d   counted\n";
  bool as_told = true;
  for (const auto& [N, d, h] : {std::tuple<Index, Index, Index>{32, 512, 1}, {32, 512, 8}, {64, 512, 8}}) {
    const MultiHeadAttention layer(d, h, random);
    const Index linear = 4 * N * d * d, attend = 2 * N * N * d,
                counted = multiply_adds(layer, randn({1, N, d}, random));
    std::printf("%5d %4d %3d %21d %19d %9d\n", int(N), int(d), int(h), int(linear), int(attend), int(counted));
    as_told = as_told && counted == linear + attend;
  }
  claim(as_told, "O(N d^2) + O(N^2 d), whatever the number of heads: same complexity as single head");

  std::cout << "\n10. Single Head (64-dim), Multi-Head (8 x 8-dim): untrained, no head has specialized\n\n";
  const std::vector<std::string> words{"the", "cat", "sat", "on", "the", "mat"};
  const Tensor sentence = Embedding(5, 64, random)(ints({{0, 1, 2, 3, 0, 4}}));
  for (const Index h : {1, 8}) {
    MultiHeadAttention untrained(64, h, random);
    untrained.eval();
    std::cout << attention_text(maps(untrained, sentence), words, false) << "\n";
  }

  std::cout << "11. Full transformer block\n" << summary(TransformerBlock(512, 8, 2048, random));
  const auto [y, attn_weights] = TransformerBlock(512, 8, 2048, random)(x);
  std::cout << size(y) << ", weights " << size(attn_weights) << "\n\n12. Test: Multi-Head vs Single Head\n";
  const Tensor z = randn({1, 32, 512}, random);
  const MultiHeadAttention mha_8(512, 8, random), mha_1(512, 1, random);
  const auto norm = [&](const MultiHeadAttention& m) { return number(sqrt(sum(pow(m(z, z, z).first, 2)))); };
  std::printf("8 heads output norm: %.4f\n", norm(mha_8));
  std::printf("1 head output norm: %.4f\n", norm(mha_1));
}

}  // namespace

int main(int argc, char** argv) { return run_lesson(argc, argv, lesson); }
