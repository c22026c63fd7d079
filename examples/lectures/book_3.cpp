// Chapter 3 of "Build a Large Language Model (From Scratch)": attention from a dot product to many heads.
#include "examples/lectures/book.h"

using namespace mote;
namespace book = mote::tutorials::book;

namespace {

/// The embeddings of six words, [6, 3].
Tensor sentence() {
  return tensor({{0.43, 0.15, 0.89},    // Your     (x^1)
                 {0.55, 0.87, 0.66},    // journey  (x^2)
                 {0.57, 0.85, 0.64},    // starts   (x^3)
                 {0.22, 0.58, 0.33},    // with     (x^4)
                 {0.77, 0.25, 0.10},    // one      (x^5)
                 {0.05, 0.80, 0.55}});  // step     (x^6)
}

void without_weights(Lines& line) {
  const Tensor inputs = sentence();
  const Tensor query = index(inputs, {1});
  const Tensor attn_scores_2 = matmul(inputs, query);
  line(plain(attn_scores_2));

  Tensor res = 0;
  for (Index i = 0; i < 3; ++i) res = res + index(inputs, {0, i}) * index(query, {i});
  line(plain(res));
  line(plain(matmul(index(inputs, {0}), query)));

  const auto weights_and_sum = [&](const Tensor& weights) {
    line("Attention weights: " + plain(weights));
    line("Sum: " + plain(sum(weights)));
  };
  weights_and_sum(attn_scores_2 / sum(attn_scores_2));
  weights_and_sum(exp(attn_scores_2) / sum(exp(attn_scores_2), 0));
  const Tensor attn_weights_2 = softmax(attn_scores_2, 0);
  weights_and_sum(attn_weights_2);

  Tensor context_vec_2 = zeros(query.shape());
  for (Index i = 0; i < 6; ++i) context_vec_2 += index(attn_weights_2, {i}) * index(inputs, {i});
  line(plain(context_vec_2));

  std::vector<Tensor> rows;
  for (Index i = 0; i < 6; ++i) rows.push_back(matmul(inputs, index(inputs, {i})));
  line.text(plain(stack(rows)));
  const Tensor attn_scores = matmul(inputs, transpose(inputs, 0, 1));
  line.text(plain(attn_scores));
  const Tensor attn_weights = softmax(attn_scores, -1);
  line.text(plain(attn_weights));
  line("All row sums: " + plain(sum(attn_weights, -1)));
  line.text(plain(matmul(attn_weights, inputs)));
  line("Previous 2nd context vector: " + plain(context_vec_2));
}

void with_weights(Lines& line) {
  const Tensor inputs = sentence();
  const Generator random(123);
  const Tensor W_query = rand({3, 2}, random), W_key = rand({3, 2}, random), W_value = rand({3, 2}, random);
  const Tensor query_2 = matmul(index(inputs, {1}), W_query);
  line(plain(query_2));
  const Tensor keys = matmul(inputs, W_key), values = matmul(inputs, W_value);
  line("keys.shape: " + size_text(keys.shape()));
  line("values.shape: " + size_text(values.shape()));
  line(plain(matmul(query_2, index(keys, {1}))));
  const Tensor attn_scores_2 = matmul(keys, query_2);
  line(plain(attn_scores_2));
  const Tensor attn_weights_2 = softmax(attn_scores_2 / std::sqrt(2.0), -1);
  line(plain(attn_weights_2));
  line(plain(matmul(attn_weights_2, values)));
  line.text(plain(attention(matmul(inputs, W_query), keys, values)));  // SelfAttention_v1
}

/// The causal mask in three ways: zeros after softmax with each row divided by its new sum, -infinity before softmax,
/// and the second way with dropout.
void masks(Lines& line) {
  const Tensor inputs = sentence();
  const Generator random(789);
  const Linear W_query(3, 2, random, false), W_key(3, 2, random, false), W_value(3, 2, random, false);
  const Tensor queries = W_query(inputs), keys = W_key(inputs);
  line.text(plain(attention(queries, keys, W_value(inputs))));  // SelfAttention_v2

  const Tensor attn_scores = matmul(queries, transpose(keys, 0, 1));
  const Tensor attn_weights = softmax(attn_scores / std::sqrt(2.0), -1);
  line.text(plain(attn_weights));
  const Tensor mask_simple = tril(ones({6, 6}));
  line.text(plain(mask_simple));
  const Tensor masked_simple = attn_weights * mask_simple;
  line.text(plain(masked_simple));
  line.text(plain(masked_simple / sum(masked_simple, -1, true)));

  const Mask future = triu(ones({6, 6}), 1) > 0;
  const Tensor masked = masked_fill(attn_scores, future, -std::numeric_limits<double>::infinity());
  line.text(plain(masked));
  const Tensor causal = softmax(masked / std::sqrt(2.0), -1);
  line.text(plain(causal));

  line.text(plain(dropout(ones({6, 6}), 0.5, Generator(123))));
  line.text(plain(dropout(causal, 0.5, Generator(123))));
}

void heads(Lines& line) {
  const Tensor inputs = sentence();
  const Tensor batch = stack({inputs, inputs});
  line(size_text(batch.shape()));
  const auto both = [&](const Tensor& context_vecs) {
    line.text(plain(context_vecs));
    line("context_vecs.shape: " + size_text(context_vecs.shape()));
  };
  both(book::CausalAttention(3, 2, 6, 0.0, Generator(123))(batch));
  both(book::MultiHeadAttentionWrapper(3, 2, 6, 0.0, 2, Generator(123))(batch));
  both(book::MultiHeadAttention(3, 2, 6, 0.0, 2, Generator(123))(batch));

  const Tensor a = tensor(
      {{{{0.2745, 0.6584, 0.2775, 0.8573}, {0.8993, 0.0390, 0.9268, 0.7388}, {0.7179, 0.7058, 0.9156, 0.4340}},
        {{0.0772, 0.3565, 0.1479, 0.5331}, {0.4066, 0.2318, 0.4545, 0.9737}, {0.4606, 0.5159, 0.4220, 0.5786}}}});
  line.text(plain(matmul(a, transpose(a, 2, 3))));
  const Tensor first = index(a, {0, 0}), second = index(a, {0, 1});
  line.text("First head:\n " + plain(matmul(first, transpose(first, 0, 1))));
  line.text("Second head:\n " + plain(matmul(second, transpose(second, 0, 1))));
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    read_words(argc, argv, "none");
    Lines line("book_3");
    without_weights(line);
    with_weights(line);
    masks(line);
    heads(line);
    return line.summary();
  });
}
