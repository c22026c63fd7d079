// Three runs of the tutorial's attention classes against PyTorch's: initial weights digit by digit, every value on the
// way, outputs, losses, gradients. `lectures/book_3_heads` prints the tables.
#include <map>

#include "engine/ops/reduce.h"
#include "models/tutorials/book.h"
#include "tests/tools.h"
#include "tests/vectors.h"

namespace mote::test::notebook_vectors_test {
namespace {

/// What mote computed, under the names of tests/vectors/notebook.txt.
using Computed = std::map<std::string, Array>;

/// Two equal rows of the batch, in float32, also where `real` is wider: the notebook's inputs.
Array twice(const Shape& shape, const std::vector<float>& one) {
  std::vector<real> both(one.begin(), one.end());
  both.insert(both.end(), one.begin(), one.end());
  return Array(shape, both);
}
const Array six_words = twice({2, 6, 3}, {0.43F, 0.15F, 0.89F, 0.55F, 0.87F, 0.66F, 0.57F, 0.85F, 0.64F,  //
                                          0.22F, 0.58F, 0.33F, 0.77F, 0.25F, 0.10F, 0.05F, 0.80F, 0.55F});
const Array three_rows = six_words.reshape({2, 3, 6});  // the same numbers, cut otherwise

/// Queries, keys, values [..., T, d], and what becomes of them. `m` has the mask and the dropout. The weights come out
/// of the module's own formula: their product with the identity.
template <class M>
Tensor note_attention(Computed& got, const std::string& prefix, const M& m, const Tensor& q, const Tensor& k,
                      const Tensor& v) {
  got[prefix + "queries"] = q.array();
  got[prefix + "keys"] = k.array();
  got[prefix + "values"] = v.array();
  got[prefix + "scores"] = matmul(q, transpose(k, -2, -1)).array();
  const Index T = q.size(-2);
  const Array identity = triu(tril(Array::full({T, T}, 1)).array()).array();
  got[prefix + "weights"] = tutorials::book::attend(q, k, identity, m.mask, m.dropout).array();
  const Tensor context = tutorials::book::attend(q, k, v, m.mask, m.dropout);
  got[prefix + "context"] = context.array();
  return context;
}

void note_middle(Computed& got, const std::string& name, const tutorials::book::MultiHeadAttentionWrapper& m,
                 const Tensor& x) {
  for (std::size_t i = 0; i < m.heads.size(); ++i) {
    const tutorials::book::CausalAttention& head = m.heads[i];
    const Tensor q = head.W_query(x);
    const Tensor k = head.W_key(x);
    const Tensor v = head.W_value(x);
    note_attention(got, name + ".mid.heads." + std::to_string(i) + ".", head, q, k, v);
  }
}
void note_middle(Computed& got, const std::string& name, const tutorials::book::MultiHeadAttention& m,
                 const Tensor& x) {
  const Tensor q = split_heads(m.W_query(x), m.num_heads);
  const Tensor k = split_heads(m.W_key(x), m.num_heads);
  const Tensor v = split_heads(m.W_value(x), m.num_heads);
  const Tensor context = note_attention(got, name + ".mid.", m, q, k, v);
  got[name + ".mid.joined"] = join_heads(context).array();
}

/// Everything the file has about one model and one input.
template <class M>
void note(Computed& got, const std::string& name, const M& m, const Array& input) {
  got[name + ".input"] = input;
  for (const NamedParameter& p : named_parameters(m)) got[name + ".weight." + p.name] = p.parameter.value();
  note_middle(got, name, m, input);
  const Tensor output = m(input);
  got[name + ".output"] = got[name + ".output_float64"] = output.array();
  const Tensor loss = mean(output * output);
  got[name + ".loss"] = loss.array();
  loss.backward();
  for (const NamedParameter& p : named_parameters(m)) got[name + ".grad." + p.name] = p.parameter.grad();
}

tutorials::book::MultiHeadAttentionWrapper wrapper(Index heads) { return {3, 2, 6, 0.0, heads, Generator(123)}; }
tutorials::book::MultiHeadAttention multi_head() { return {6, 6, 3, 0.0, 2, Generator(123)}; }

/// What the file's `v` is compared with, and how closely.
void compare(const Vector& v, const Array& got) {
  if (v.name.find(".input") != std::string::npos || v.name.find(".weight.") != std::string::npos) {
    check_digits(v, got);
  } else if (v.name.ends_with(".output_float64")) {
    check_near(v, got, f64 ? 1e-15 : 1e-6);
  } else {
    check_near(v, got, 1e-6);
  }
}

TEST_CASE("notebook: the tutorial's three models have PyTorch's weights, values, outputs, losses and gradients") {
  Computed got;
  note(got, "wrapper2", wrapper(2), six_words);
  note(got, "wrapper3", wrapper(3), six_words);
  note(got, "multihead", multi_head(), three_rows);
  compare_all(VectorFile("notebook.txt"), got, compare);
}

}  // namespace
}  // namespace mote::test::notebook_vectors_test
