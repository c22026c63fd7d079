// The tutorial's attention classes: check_module, PyTorch's numbers with dropout and biases, what they promise about
// masks, lengths and heads, what they refuse.
#include "models/tutorials/book.h"

#include "engine/ops/reduce.h"
#include "nn/multi_head_attention.h"
#include "tests/nn/oracles.h"
#include "tests/vectors.h"

namespace mote::test::book_test {
namespace {

using tutorials::book::CausalAttention, tutorials::book::MultiHeadAttentionWrapper;
using SplitAttention = tutorials::book::MultiHeadAttention;

/// One head, from the weights under `prefix`: x [B, T, d_in] -> [B, T, d_out].
Row head_oracle(const Weights& w, const std::string& prefix, const Value& x, Index d_out) {
  const auto project = [&](const char* name) { return linear_oracle(w, prefix + name, x.x); };
  return attention_oracle(project("W_query."), project("W_key."), project("W_value."), x.shape[0], 1, x.shape[1], d_out,
                          causal());
}

/// [B, T, C] -> [B, heads, T, C / heads].
Row split_oracle(const Row& x, Index B, Index T, Index heads, Index C) {
  const Index D = C / heads;
  Row out;
  for (Index b = 0; b < B; ++b)
    for (Index h = 0; h < heads; ++h)
      for (Index t = 0; t < T; ++t)
        for (Index d = 0; d < D; ++d) out.push_back(x[at((b * T + t) * C + h * D + d)]);
  return out;
}

/// Without biases: a key's bias adds the same to all scores of a row, softmax takes that away again, and a gradient of
/// 0 cannot be told from a wrong one. PyTorch's numbers below have the biases.
std::vector<std::string> head_names(const std::string& prefix) {
  return {prefix + "W_query.weight", prefix + "W_key.weight", prefix + "W_value.weight"};
}

TEST_CASE("book::CausalAttention") {
  check_module(
      "CausalAttention", [](Generator& random) { return CausalAttention(4, 3, 5, 0.0, random); },
      [](const CausalAttention& m, In x) { return m(x[0]); },
      {.names = head_names(""),
       .inputs = {random_array({2, 3, 4}, 1)},
       .oracle = [](const Weights& w, const std::vector<Value>& x) { return head_oracle(w, "", x[0], 3); },
       .error =
           [](const CausalAttention& m) {
             m(Tensor(Array::zeros({1, 6, 4})));
           },
       .error_text = "CausalAttention: T = 6 is above context_length 5 (in CausalAttention)"});
}

TEST_CASE("book::MultiHeadAttentionWrapper") {
  std::vector<std::string> names = head_names("heads.0.");
  for (const std::string& name : head_names("heads.1.")) names.push_back(name);
  check_module(
      "MultiHeadAttentionWrapper", [](Generator& random) { return MultiHeadAttentionWrapper(4, 3, 5, 0.0, 2, random); },
      [](const MultiHeadAttentionWrapper& m, In x) { return m(x[0]); },
      {.names = names,
       .inputs = {random_array({2, 3, 4}, 1)},
       .oracle =
           [](const Weights& w, const std::vector<Value>& x) {
             const Row first = head_oracle(w, "heads.0.", x[0], 3), second = head_oracle(w, "heads.1.", x[0], 3);
             Row joined;
             for (std::size_t i = 0; i < first.size(); i += 3) {
               joined.insert(joined.end(), first.begin() + std::ptrdiff_t(i), first.begin() + std::ptrdiff_t(i + 3));
               joined.insert(joined.end(), second.begin() + std::ptrdiff_t(i), second.begin() + std::ptrdiff_t(i + 3));
             }
             return joined;
           },
       .error =
           [](const MultiHeadAttentionWrapper& m) {
             m(Tensor(Array::zeros({1, 3, 5})));
           },
       .error_text = "CausalAttention: x [1, 3, 5] must be [B, T, 4] (in heads.0)"});
}

TEST_CASE("book::MultiHeadAttention") {
  std::vector<std::string> names = head_names("");
  names.insert(names.end(), {"out_proj.weight", "out_proj.bias"});
  check_module(
      "MultiHeadAttention", [](Generator& random) { return SplitAttention(3, 4, 5, 0.0, 2, random); },
      [](const SplitAttention& m, In x) { return m(x[0]); },
      {.names = names,
       .inputs = {random_array({2, 3, 3}, 1)},
       .oracle =
           [](const Weights& w, const std::vector<Value>& x) {
             const auto heads = [&](const char* name) {
               return split_oracle(linear_oracle(w, name, x[0].x), 2, 3, 2, 4);
             };
             const Row y =
                 attention_oracle(heads("W_query."), heads("W_key."), heads("W_value."), 2, 2, 3, 2, causal());
             Row joined;
             for (Index b = 0; b < 2; ++b)
               for (Index t = 0; t < 3; ++t)
                 for (Index c = 0; c < 4; ++c) joined.push_back(y[at(((b * 2 + c / 2) * 3 + t) * 2 + c % 2)]);
             return linear_oracle(w, "out_proj.", joined);
           },
       .error =
           [](const SplitAttention& m) {
             m(Tensor(Array::zeros({1, 6, 3})));
           },
       .error_text = "MultiHeadAttention: T = 6 is above context_length 5 (in MultiHeadAttention)"});
}

TEST_CASE("book: all three with dropout") {
  check_module(
      "CausalAttention", [](Generator& random) { return CausalAttention(4, 3, 5, 0.4, random); },
      [](const CausalAttention& m, In x) { return m(x[0]); },
      {.names = head_names(""), .inputs = {random_array({2, 4, 4}, 1)}});
  check_module(
      "MultiHeadAttentionWrapper", [](Generator& random) { return MultiHeadAttentionWrapper(4, 3, 5, 0.4, 1, random); },
      [](const MultiHeadAttentionWrapper& m, In x) { return m(x[0]); },
      {.names = head_names("heads.0."), .inputs = {random_array({2, 4, 4}, 1)}});
  std::vector<std::string> names = head_names("");
  names.insert(names.end(), {"out_proj.weight", "out_proj.bias"});
  check_module(
      "MultiHeadAttention", [](Generator& random) { return SplitAttention(3, 4, 5, 0.4, 2, random); },
      [](const SplitAttention& m, In x) { return m(x[0]); }, {.names = names, .inputs = {random_array({2, 4, 3}, 1)}});
}

/// float32 numbers, digit by digit.
void check_float_digits(const Vector& expected, const Array& got) {
  const std::vector<real> wide = got.to_vector();
  check_digits(expected, std::vector<float>(wide.begin(), wide.end()));
}

/// The run `name` of the file, from the module to the next draw after it. Counts what it compared.
template <class M>
std::size_t check_run(const VectorFile& file, const std::string& name, const M& m, const Shape& shape,
                      const Generator& random) {
  const Tensor x = Tensor(Init(random).normal(shape, 0, 1)).requires_grad_();
  check_float_digits(file[name + ".input"], x.array());
  const std::vector<NamedParameter> named = named_parameters(m);
  for (const NamedParameter& p : named) check_float_digits(file[name + ".weight." + p.name], p.parameter.value());
  const Tensor output = m(x);
  check_near(file[name + ".output"], output.array(), 1e-6);
  const Tensor loss = mean(output * output);
  check_near(file[name + ".loss"], loss.array(), 1e-6);
  loss.backward();
  check_near(file[name + ".grad.input"], x.grad(), 1e-6);
  for (const NamedParameter& p : named) check_near(file[name + ".grad." + p.name], p.parameter.grad(), 1e-6);
  check_float_digits(file[name + ".next"], Init(random).uniform({3}, 0, 1));
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

TEST_CASE("book: the mask is a buffer, listed and copied, neither drawn nor trained") {
  const Generator random(1), again(1);
  MultiHeadAttentionWrapper m(3, 2, 4, 0.0, 2, random);
  for (int head = 0; head < 2; ++head)
    for (int projection = 0; projection < 3; ++projection) const Linear drawn(3, 2, again, false);
  CHECK(random.get_state() == again.get_state());

  const std::vector<NamedBuffer> buffers = named_buffers(m);
  REQUIRE(buffers.size() == 2);
  CHECK(buffers[0].name == "heads.0.mask");
  CHECK(buffers[1].name == "heads.1.mask");
  const Array future = array({4, 4}, {0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0});
  for (const NamedBuffer& b : buffers) CHECK(same_bits(*b.array, future));
  for (const NamedParameter& p : named_parameters(m)) CHECK(p.name.find("mask") == std::string::npos);
  CHECK(parameter_count(m) == 2 * 3 * 6);

  const SplitAttention split(3, 4, 2, 0.0, 2, random);
  REQUIRE(named_buffers(split).size() == 1);
  CHECK(named_buffers(split)[0].name == "mask");
  CHECK(same_bits(split.mask, array({2, 2}, {0, 1, 0, 0})));
  sum(split(random_array({1, 2, 3}, 1))).backward();
  CHECK(same_bits(split.mask, array({2, 2}, {0, 1, 0, 0})));
  SplitAttention other = split.clone();
  other.mask.mutate()[1] = 0;  // this one may look ahead
  const Array x = random_array({1, 2, 3}, 1);
  const Array expected = split(x).array();
  CHECK(!same_bits(other(x).array(), expected));
  copy_weights(split, other);
  CHECK(same_bits(other(x).array(), expected));
}

TEST_CASE("book: a shorter input is what the longer one begins with, whatever the context_length") {
  const Array x = random_array({2, 5, 3}, 1);
  const SplitAttention m(3, 4, 7, 0.0, 2, Generator(5));
  const CausalAttention one(3, 4, 7, 0.0, Generator(5));
  for (Index t = 1; t <= 5; ++t) {
    const Array begin = x.slice(1, 0, t).contiguous();
    const SplitAttention tight(3, 4, t, 0.0, 2, Generator(5));
    const Array y = m(begin).array();
    CHECK(same_bits(tight(begin).array(), y));
    const CausalAttention tight_one(3, 4, t, 0.0, Generator(5));
    const Array y_one = one(begin).array();
    CHECK(same_bits(tight_one(begin).array(), y_one));
    const Value whole(m(x).array().slice(1, 0, t));
    const Value whole_one(one(x).array().slice(1, 0, t));
    CHECK(distance(y.to_vector(), whole.x) < (f64 ? 1e-14 : 1e-6));
    CHECK(distance(y_one.to_vector(), whole_one.x) < (f64 ? 1e-14 : 1e-6));
  }
}

TEST_CASE("book: one more head leaves the columns of the others as they are") {
  const Array x = random_array({2, 4, 3}, 1);
  const Array two = MultiHeadAttentionWrapper(3, 2, 4, 0.0, 2, Generator(9))(x).array();
  const Array three = MultiHeadAttentionWrapper(3, 2, 4, 0.0, 3, Generator(9))(x).array();
  CHECK(three.shape() == Shape{2, 4, 6});
  CHECK(same_bits(three.slice(2, 0, 4), two));
  CHECK(!same_bits(three.slice(2, 4, 6), two.slice(2, 0, 2)));
  CHECK(same_bits(CausalAttention(3, 2, 4, 0.0, Generator(9))(x).array(), two.slice(2, 0, 2)));
}

TEST_CASE("book: weight splits are the wrapper, once the heads' weights stand one below the other") {
  const Array x = random_array({2, 4, 5}, 1);
  for (const bool bias : {false, true}) {
    const MultiHeadAttentionWrapper wrapper(5, 2, 4, 0.0, 3, Generator(9), bias);
    const SplitAttention split(5, 6, 4, 0.0, 3, Generator(10), bias);
    using Projection = Linear CausalAttention::*;
    const auto stack = [&](const Linear& whole, Projection projection) {
      std::vector<Tensor> weights, biases;
      for (const CausalAttention& head : wrapper.heads) {
        weights.push_back((head.*projection).weight);
        biases.push_back((head.*projection).bias);
      }
      whole.weight.set(cat(weights, 0).array());
      if (bias) whole.bias.set(cat(biases, 0).array());
    };
    stack(split.W_query, &CausalAttention::W_query);
    stack(split.W_key, &CausalAttention::W_key);
    stack(split.W_value, &CausalAttention::W_value);
    split.out_proj.weight.set(tril(triu(Array::full({6, 6}, 1)).array()).array());  // the identity
    init::constant(split.out_proj.bias, 0);
    const Value expected(wrapper(x).array());
    CHECK(distance(split(x).to_vector(), expected.x) < (f64 ? 1e-14 : 1e-6));
  }
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

TEST_CASE("book: dropout draws in training and only there, and only above 0") {
  const Array x = random_array({2, 4, 3}, 1);
  const Generator random(3);
  SplitAttention m(3, 4, 4, 0.5, 2, random), never(3, 4, 4, 0.0, 2, random);
  const GeneratorState start = random.get_state();
  never(x);
  m.eval();
  const Array calm = m(x).array();
  CHECK(random.get_state() == start);
  m.train();
  CHECK(!same_bits(m(x).array(), calm));
  CHECK(!(random.get_state() == start));
}

TEST_CASE("book: what the classes refuse") {
  const Generator random(1);
  CHECK(error_of([&] { SplitAttention(4, 6, 3, 0.0, 4, random); }) ==
        "MultiHeadAttention: d_out 6 is not divisible by num_heads 4");
  CHECK(error_of([&] { SplitAttention(4, 6, 3, 0.0, 0, random); }) ==
        "MultiHeadAttention: num_heads 0 must be at least 1");
  CHECK(error_of([&] { MultiHeadAttentionWrapper(4, 6, 3, 0.0, 0, random); }) ==
        "MultiHeadAttentionWrapper: num_heads 0 must be at least 1");
  CHECK(error_of([&] { CausalAttention(4, 6, 3, 1.5, random); }) == "Dropout: p = 1.5 is not a probability");
  const SplitAttention m(4, 6, 3, 0.0, 2, random);
  CHECK(error_of([&] {
          m(Array::zeros({2, 3, 5}));
        }) == "MultiHeadAttention: x [2, 3, 5] must be [B, T, 4] (in MultiHeadAttention)");
  CHECK(error_of([&] {
          m(Array::zeros({3, 4}));
        }) == "MultiHeadAttention: x [3, 4] must be [B, T, 4] (in MultiHeadAttention)");
  const MultiHeadAttentionWrapper wrapper(4, 6, 3, 0.0, 2, random);
  CHECK(error_of([&] {
          wrapper(Array::zeros({2, 4, 4}));
        }) == "CausalAttention: T = 4 is above context_length 3 (in heads.0)");
  CHECK(error_of([&] { CausalAttention(4, 0, 3, 0.0, random); }) ==
        "CausalAttention: d_in 4, d_out 0 and context_length 3 must be at least 1");
  CHECK(error_of([&] { CausalAttention(0, 4, 3, 0.0, random); }) ==
        "CausalAttention: d_in 0, d_out 4 and context_length 3 must be at least 1");
  CHECK(error_of([&] { MultiHeadAttentionWrapper(4, 4, 0, 0.0, 2, random); }) ==
        "CausalAttention: d_in 4, d_out 4 and context_length 0 must be at least 1");
  CHECK(error_of([&] { SplitAttention(4, 0, 3, 0.0, 2, random); }) ==
        "MultiHeadAttention: d_in 4, d_out 0 and context_length 3 must be at least 1");
}

}  // namespace
}  // namespace mote::test::book_test
