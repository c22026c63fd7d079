// The tutorial's attention classes: check_module, PyTorch's numbers with dropout and biases, their masks, what they
// refuse.
#include "models/tutorials/book.h"

#include "engine/ops/create.h"
#include "engine/ops/reduce.h"
#include "engine/watch/graph_text.h"
#include "nn/multi_head_attention.h"
#include "tests/nn/oracles.h"
#include "tests/sentences.h"
#include "tests/vectors.h"

namespace mote::test::book_test {
namespace {

using tutorials::book::CausalAttention, tutorials::book::MultiHeadAttentionWrapper;
using SplitAttention = tutorials::book::MultiHeadAttention;

/// Without biases: a key's bias adds the same to all scores of a row, softmax takes that away again, and a gradient of
/// 0 cannot be told from a wrong one. PyTorch's numbers below have the biases.
std::vector<std::string> head_names(const std::string& prefix) {
  return {prefix + "W_query.weight", prefix + "W_key.weight", prefix + "W_value.weight"};
}

/// With dropout; the values are held against PyTorch's, here and in notebook_vectors_test.
template <class M, class... Heads>
void check_class(const std::string& name, const std::vector<std::string>& names, const std::string& error,
                 Heads... heads) {
  check_module(
      name, [=](Generator& random) { return M(4, 6, 5, 0.4, heads..., random); },
      [](const M& m, In x) { return m(x[0]); },
      {.names = names,
       .inputs = {random_array({2, 4, 4}, 1)},
       .error = [](const M& m) { m(Tensor(zeros_of(1, 6, 4))); },
       .error_text = error});
}

TEST_CASE("book: CausalAttention, MultiHeadAttentionWrapper, MultiHeadAttention") {
  const std::string too_long = ": the length T = 6 is above context_length 5 (in ";
  std::vector<std::string> two = head_names("heads.0."), split = head_names("");
  for (const std::string& name : head_names("heads.1.")) two.push_back(name);
  split.insert(split.end(), {"out_proj.weight", "out_proj.bias"});
  check_class<CausalAttention>("CausalAttention", head_names(""), "CausalAttention" + too_long + "CausalAttention)");
  check_class<MultiHeadAttentionWrapper>("Wrapper", two, "CausalAttention" + too_long + "heads.0)", Index(2));
  check_class<SplitAttention>("MultiHeadAttention", split, "MultiHeadAttention" + too_long + "MultiHeadAttention)",
                              Index(2));
}

/// The run `name` of the file, from the module to the next draw after it. Counts what it compared.
template <class M>
std::size_t check_run(const VectorFile& file, const std::string& name, const M& m, const Shape& shape,
                      const Generator& random) {
  const Tensor x = Tensor(Init(random).normal(shape, 0, 1)).requires_grad_();
  check_digits(file[name + ".input"], x.array());
  const std::vector<NamedParameter> named = named_parameters(m);
  for (const NamedParameter& p : named) check_digits(file[name + ".weight." + p.name], p.parameter.value());
  const Tensor output = m(x);
  check_near(file[name + ".output"], output.array(), 1e-6);
  const Tensor loss = mean(output * output);
  check_near(file[name + ".loss"], loss.array(), 1e-6);
  loss.backward();
  check_near(file[name + ".grad.input"], x.grad(), 1e-6);
  for (const NamedParameter& p : named) check_near(file[name + ".grad." + p.name], p.parameter.grad(), 1e-6);
  check_digits(file[name + ".next"], Init(random).uniform({3}, 0, 1));
  return 5 + 2 * named.size();
}

TEST_CASE("book: with dropout, biases and d_in other than d_out, PyTorch's weights, outputs and gradients") {
  const VectorFile file("tutorial_classes.txt");
  std::size_t compared = 0;
  {
    const Generator random(2024);
    compared += check_run(file, "causal", CausalAttention(5, 3, 6, 0.1, random), {2, 4, 5}, random);
  }
  {
    const Generator random(7);
    const MultiHeadAttentionWrapper m(4, 3, 5, 0.5, 2, random, true);
    compared += check_run(file, "wrapper", m, {2, 5, 4}, random);
  }
  {
    const Generator random(11);
    compared += check_run(file, "split", SplitAttention(5, 6, 6, 0.5, 3, random, true), {2, 4, 5}, random);
  }
  CHECK(compared == file.all().size());  // nothing in the file is left out
}

TEST_CASE("book: the mask is a buffer, listed and copied, not trained") {
  const Generator random(1);
  const MultiHeadAttentionWrapper m(3, 2, 4, 0.0, 2, random);
  const std::vector<NamedConstBuffer> buffers = named_buffers(m);
  REQUIRE(buffers.size() == 2);
  CHECK((buffers[0].name == "heads.0.mask" && buffers[1].name == "heads.1.mask"));
  const Array future = array({4, 4}, {0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0});
  for (const NamedConstBuffer& b : buffers) CHECK(same_bits(*b.array, future));
  CHECK(parameter_count(m) == 2 * 3 * 6);

  const SplitAttention split(3, 4, 2, 0.0, 2, random);
  CHECK((split.d_out == 4 && split.num_heads == 2 && split.head_dim == 2));
  SplitAttention other = split.clone();
  other.mask.mutate()[1] = 0;  // this one may look ahead
  const Array x = random_array({1, 2, 3}, 1);
  const Array expected = split(x).array();
  CHECK(!same_bits(other(x).array(), expected));
  copy_weights(split, other);
  CHECK(same_bits(other(x).array(), expected));
}

TEST_CASE("book: with equal draws mote's MultiHeadAttention computes the same, dropout included") {
  const Generator random(9), again(9);
  const SplitAttention tutorial(5, 6, 7, 0.3, 3, random);
  const MultiHeadAttention own(6, 3, again, {.causal = true, .dropout = 0.3},
                               {.bias = false, .out_bias = true, .block_size = 7, .d_in = 5});
  const Array x = random_array({2, 4, 5}, 1);
  const Value expected(own(x).array());
  CHECK(distance(tutorial(x).to_vector(), expected.x) < (f64 ? 1e-14 : 1e-6));
  CHECK(random.get_state() == again.get_state());
}

TEST_CASE("book: the wrapper's weights, stacked, make weight splits equal it in every bit, in fewer products") {
  const Index heads = 8, d_in = 256, width = 32, T = 64;
  const Generator random(123);
  const MultiHeadAttentionWrapper wrapper(d_in, width, T, 0.0, heads, random);
  const SplitAttention split(d_in, heads * width, T, 0.0, heads, random);
  std::vector<Tensor> query, key, value;
  for (const CausalAttention& head : wrapper.heads) {
    query.push_back(head.W_query.weight);
    key.push_back(head.W_key.weight);
    value.push_back(head.W_value.weight);
  }
  split.W_query.weight.set(cat(query).array());
  split.W_key.weight.set(cat(key).array());
  split.W_value.weight.set(cat(value).array());
  split.out_proj.weight.set(eye(heads * width).array());  // the wrapper has no output layer
  split.out_proj.bias.set(Array::zeros({heads * width}));
  const Tensor x = random_array({2, T, d_in}, 1), a = wrapper(x), b = split(x);
  CHECK(same_bits(a.array(), b.array()));
  std::map<std::string, Index> many = count_ops(a), few = count_ops(b);
  CHECK((many["linear"] == 3 * heads && many["matmul"] == 2 * heads));
  CHECK((few["linear"] == 4 && few["matmul"] == 2));
}

TEST_CASE("book: what the classes refuse") {
  const Generator random(1);
  REFUSES(SplitAttention(4, 6, 3, 0.0, 4, random));
  REFUSES(SplitAttention(4, 6, 3, 0.0, 0, random));
  REFUSES(MultiHeadAttentionWrapper(4, 6, 3, 0.0, 0, random));
  const SplitAttention m(4, 6, 3, 0.0, 2, random);
  REFUSES(m(zeros_of(2, 3, 5)));
  REFUSES(CausalAttention(4, 0, 3, 0.0, random));
  REFUSES(MultiHeadAttentionWrapper(4, 4, 0, 0.0, 2, random));
  REFUSES(SplitAttention(4, 0, 3, 0.0, 2, random));
}

}  // namespace
}  // namespace mote::test::book_test
