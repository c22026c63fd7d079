// A page on multi-head attention that follows "Build a Large Language Model (From Scratch)": every tensor that the
// page prints, the eleven steps of its last class, why weight splits are faster, and GPT-2's sizes.
#include <cmath>

#include "engine/engine.h"
#include "engine/watch/graph_text.h"
#include "examples/lectures/tutorial.h"
#include "models/tutorials/book.h"

using namespace mote;
namespace book = tutorials::book;

namespace {

/// Runs the forward pass of MultiHeadAttention in the page's eleven steps. Prints the shape and the first numbers of
/// each result.
void eleven_steps(const book::MultiHeadAttention& mha, const Tensor& x) {
  int n = 0;
  const auto step = [&](const char* what, const Tensor& y) {
    std::printf("Step %2d  %-42s %-26s", ++n, what, size(y).c_str());
    for (Index i = 0; i < 3 && i < y.numel(); ++i) std::printf(" %7.4f", number(select(reshape(y, {-1}), 0, i)));
    std::printf("\n");
    return y;
  };
  step("head_dim = d_out // num_heads", Tensor(mha.head_dim));
  step("out_proj.weight", mha.out_proj.weight);
  const Tensor keys = step("keys (b, num_tokens, d_out)", mha.W_key(x)), queries = mha.W_query(x);
  const Tensor unrolled = view(keys, {x.size(0), x.size(1), mha.num_heads, mha.head_dim});
  step("(b, num_tokens, num_heads, head_dim)", unrolled);
  const Tensor k = step("(b, num_heads, num_tokens, head_dim)", transpose(unrolled, 1, 2));
  // Queries and values are cut into heads as the keys are in steps 4 and 5, without a printed line.
  const Tensor q = split_heads(queries, mha.num_heads), v = split_heads(mha.W_value(x), mha.num_heads);
  const Tensor scores = step("attn_scores, dot products for each head", matmul(q, transpose(k, 2, 3)));
  const Mask blocked = step("mask, cut to the tokens there are", mha.mask) == Tensor(1);
  const Tensor masked = step("attn_scores, -inf where the mask is 1", masked_fill(scores, blocked, -INFINITY));
  const Tensor weights = softmax(masked / std::sqrt(static_cast<real>(mha.head_dim)), -1);
  const Tensor context = step("(b, num_tokens, n_heads, head_dim)", transpose(matmul(weights, v), 1, 2));
  const Tensor joined = step("heads side by side", reshape(context, x.shape()));
  const Tensor context_vecs = step("out_proj: context_vecs", mha.out_proj(joined));
  claim(context_vecs.to_vector() == mha(x).to_vector(), "the steps are the call, to the last bit");
}

void lesson() {
  const Tensor inputs = tensor({{0.43, 0.15, 0.89},    // Your     (x^1)
                                {0.55, 0.87, 0.66},    // journey  (x^2)
                                {0.57, 0.85, 0.64},    // starts   (x^3)
                                {0.22, 0.58, 0.33},    // with     (x^4)
                                {0.77, 0.25, 0.10},    // one      (x^5)
                                {0.05, 0.80, 0.55}});  // step     (x^6)
  const Tensor batch = stack({inputs, inputs});
  Lines line("book_3_heads");
  const auto print = [&](const Tensor& context_vecs) {
    line.text(plain(context_vecs));
    line("context_vecs.shape: " + size(context_vecs));
  };
  for (const Index heads : {2, 3}) {
    line(size(batch));
    print(book::MultiHeadAttentionWrapper(3, 2, 6, 0.0, heads, Generator(123))(batch));
  }
  const Tensor rows = reshape(inputs, {3, 6}), batch_of_rows = stack({rows, rows});  // the second input: 3 rows of 6
  line(size(batch_of_rows));
  const book::MultiHeadAttention mha(6, 6, 3, 0.0, 2, Generator(123));
  print(mha(batch_of_rows));
  claim(line.summary() == 0, "the tensors that the page prints");
  std::printf("\n");
  eleven_steps(mha, batch_of_rows);

  const auto products = [](const Tensor& y) { return count_ops(y)["linear"] + count_ops(y)["matmul"]; };
  claim(products(book::MultiHeadAttentionWrapper(3, 2, 6, 0.0, 8, Generator(1))(batch)) == 40 &&
            products(book::MultiHeadAttention(3, 16, 6, 0.0, 8, Generator(1))(batch)) == 6,
        "eight heads take 40 matrix products by themselves, 6 with weight splits");
  std::printf("\nGPT-2           heads   embedding size   width of a head   parameters of one attention\n");
  for (const auto& [name, heads, width] : {std::tuple("smallest, 117M", 12, 768), {"largest, 1.5B ", 25, 1600}})
    std::printf("%s %6d %16d %17d %29d\n", name, heads, width, width / heads, 4 * (width * width + width));
}

}  // namespace

int main(int, char** argv) { return run_lesson(argv, lesson); }
