// Lesson 17. The printed numbers of a book chapter (multi-head attention, seed 123) reproduced digit for digit: its
// three tables, the eleven steps of its last class, and everything else that the chapter prints.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>

#include "engine/engine.h"
#include "engine/watch/graph_text.h"
#include "examples/program.h"
#include "models/tutorials/book.h"

using namespace mote;
namespace book = tutorials::book;

namespace {

int mistakes = 0;

/// Prints `text` and counts a mistake if it is not what the chapter prints.
void print_and_compare(const std::string& text, const std::string& expected) {
  std::cout << text << "\n";
  if (text == expected) return;
  ++mistakes;
  std::cout << "THE CHAPTER PRINTS\n" << expected << "\n";
}

/// The first few values, four decimals each, as a row.
std::string first_values(const Tensor& x, std::size_t count) {
  std::string text;
  const std::vector<real> values = x.to_vector();
  for (std::size_t i = 0; i < std::min(count, values.size()); ++i) {
    char number[32];
    std::snprintf(number, sizeof number, "%7.4f ", static_cast<double>(values[i]));
    text += number;
  }
  return text;
}

/// One line of the step-by-step table.
void step(int number, const char* what, const Tensor& x, const std::string& expected) {
  std::ostringstream line;
  line << "step " << (number < 10 ? " " : "") << number << "  " << what
       << std::string(46 - std::string(what).size(), ' ') << x.shape()
       << std::string(14 - std::min<std::size_t>(13, text_of(x.shape()).size()), ' ');
  const std::string prefix = line.str();
  print_and_compare(prefix + first_values(x, 3), prefix + expected);
}

Tensor inputs() {
  return tensor({{0.43, 0.15, 0.89},    // Your     (x^1)
                 {0.55, 0.87, 0.66},    // journey  (x^2)
                 {0.57, 0.85, 0.64},    // starts   (x^3)
                 {0.22, 0.58, 0.33},    // with     (x^4)
                 {0.77, 0.25, 0.10},    // one      (x^5)
                 {0.05, 0.80, 0.55}});  // step     (x^6)
}

void two_heads_and_three() {
  const Tensor batch = stack({inputs(), inputs()});  // the same sentence twice: [2, 6, 3]
  const Index context_length = batch.size(1), d_in = 3, d_out = 2;

  std::cout << "Chapter 3 of S. Raschka's Build a Large Language Model (From Scratch): multi-head attention.\n"
               "Each word of \"Your journey starts with one step\" is a vector of three numbers:\n"
            << inputs() << "\n\nMultiHeadAttentionWrapper, 2 heads of width 2, on the sentence twice, seed 123\n";
  const book::MultiHeadAttentionWrapper two(d_in, d_out, context_length, 0.0, 2, Generator(123));
  print_and_compare(to_text(two(batch).array()), R"(tensor([[[-0.4519,  0.2216,  0.4772,  0.1063],
         [-0.5874,  0.0058,  0.5891,  0.3257],
         [-0.6300, -0.0632,  0.6202,  0.3860],
         [-0.5675, -0.0843,  0.5478,  0.3589],
         [-0.5526, -0.0981,  0.5321,  0.3428],
         [-0.5299, -0.1081,  0.5077,  0.3493]],

        [[-0.4519,  0.2216,  0.4772,  0.1063],
         [-0.5874,  0.0058,  0.5891,  0.3257],
         [-0.6300, -0.0632,  0.6202,  0.3860],
         [-0.5675, -0.0843,  0.5478,  0.3589],
         [-0.5526, -0.0981,  0.5321,  0.3428],
         [-0.5299, -0.1081,  0.5077,  0.3493]]]))");

  std::cout << "\n3 heads, seed 123 again: the third head draws after the first two, so their columns stay\n";
  const book::MultiHeadAttentionWrapper three(d_in, d_out, context_length, 0.0, 3, Generator(123));
  print_and_compare(to_text(three(batch).array()), R"(tensor([[[-0.4519,  0.2216,  0.4772,  0.1063,  0.4566,  0.2729],
         [-0.5874,  0.0058,  0.5891,  0.3257,  0.5792,  0.3011],
         [-0.6300, -0.0632,  0.6202,  0.3860,  0.6249,  0.3102],
         [-0.5675, -0.0843,  0.5478,  0.3589,  0.5691,  0.2785],
         [-0.5526, -0.0981,  0.5321,  0.3428,  0.5543,  0.2520],
         [-0.5299, -0.1081,  0.5077,  0.3493,  0.5337,  0.2499]],

        [[-0.4519,  0.2216,  0.4772,  0.1063,  0.4566,  0.2729],
         [-0.5874,  0.0058,  0.5891,  0.3257,  0.5792,  0.3011],
         [-0.6300, -0.0632,  0.6202,  0.3860,  0.6249,  0.3102],
         [-0.5675, -0.0843,  0.5478,  0.3589,  0.5691,  0.2785],
         [-0.5526, -0.0981,  0.5321,  0.3428,  0.5543,  0.2520],
         [-0.5299, -0.1081,  0.5077,  0.3493,  0.5337,  0.2499]]]))");
}

/// The forward pass of the weight-split class with every step named, as the chapter numbers them.
void eleven_steps() {
  const Tensor rows = tensor({{0.43, 0.15, 0.89, 0.55, 0.87, 0.66},
                              {0.57, 0.85, 0.64, 0.22, 0.58, 0.33},
                              {0.77, 0.25, 0.10, 0.05, 0.80, 0.55}});
  const Tensor batch = stack({rows, rows});
  const Index b = batch.size(0), num_tokens = batch.size(1), d_out = 6;
  std::cout << "\nMultiHeadAttention with weight splits, d_in = d_out = 6, 2 heads, seed 123, step by step\n"
               "(name, shape, first three numbers)\n";
  const book::MultiHeadAttention mha(batch.size(2), d_out, num_tokens, 0.0, 2, Generator(123));

  step(1, "width of a head = d_out / num_heads", Tensor(mha.head_dim), " 3.0000 ");
  step(2, "weight of the layer that combines heads", mha.out_proj.weight, " 0.2021 -0.0017  0.2898 ");
  const Tensor keys = mha.W_key(batch);
  step(3, "keys of all heads, (b, num_tokens, d_out)", keys, "-0.6179  0.0075  0.5595 ");
  const Tensor queries = mha.W_query(batch);
  const Tensor values = mha.W_value(batch);
  const Tensor unrolled = view(keys, {b, num_tokens, mha.num_heads, mha.head_dim});
  step(4, "the last axis as heads x width of a head", unrolled, "-0.6179  0.0075  0.5595 ");
  const Tensor k = transpose(unrolled, 1, 2);
  const Tensor q = split_heads(queries, mha.num_heads);  // steps 4 and 5 in one call
  const Tensor v = split_heads(values, mha.num_heads);
  step(5, "heads before tokens", k, "-0.6179  0.0075  0.5595 ");
  const Tensor attn_scores = matmul(q, transpose(k, 2, 3));
  step(6, "dot products, for each head", attn_scores, "-0.0917 -0.2250 -0.1210 ");
  const Tensor mask = mha.mask.slice(0, 0, num_tokens).slice(1, 0, num_tokens);
  step(7, "the mask, cut to the tokens there are", mask, " 0.0000  1.0000  1.0000 ");
  const Tensor masked = masked_fill(attn_scores, mask == Tensor(1), -std::numeric_limits<double>::infinity());
  step(8, "scores where the mask lets them", masked, "-0.0917    -inf    -inf ");
  const Tensor weights = mha.dropout(softmax(masked / std::sqrt(static_cast<real>(k.size(-1))), -1));
  std::cout << "    the weights of the first head, after softmax:\n" << select(select(weights, 0, 0), 0, 0) << "\n";
  const Tensor context = transpose(matmul(weights, v), 1, 2);
  step(9, "context vectors, tokens before heads again", context, "-0.1354  0.2538  0.1353 ");
  const Tensor joined = view(contiguous(context), {b, num_tokens, d_out});
  step(10, "heads side by side", joined, "-0.1354  0.2538  0.1353 ");
  const Tensor context_vecs = mha.out_proj(joined);
  step(11, "through the layer of step 2", context_vecs, " 0.1569 -0.0873  0.0210 ");

  print_and_compare(to_text(context_vecs.array()), R"(tensor([[[ 0.1569, -0.0873,  0.0210,  0.0215, -0.3243, -0.2518],
         [ 0.1117, -0.0547,  0.0406, -0.0213, -0.3251, -0.2993],
         [ 0.1196, -0.0491,  0.0318, -0.0635, -0.2788, -0.2578]],

        [[ 0.1569, -0.0873,  0.0210,  0.0215, -0.3243, -0.2518],
         [ 0.1117, -0.0547,  0.0406, -0.0213, -0.3251, -0.2993],
         [ 0.1196, -0.0491,  0.0318, -0.0635, -0.2788, -0.2578]]]))");
  const bool same = mha(batch).to_vector() == context_vecs.to_vector();
  std::cout << "calling mha(batch) does the same, bit for bit: " << (same ? "yes" : "NO") << "\n";
  mistakes += !same;
}

/// Median seconds of f().
template <class F>
double seconds(const F& f) {
  std::vector<double> times;
  for (int i = 0; i < 21; ++i) {
    const auto start = std::chrono::steady_clock::now();
    f();
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + 10, times.end());
  return times[10];
}

/// The weight-split class is the wrapper with its heads' weights stacked: the same sums in fewer products.
void wrapper_against_split() {
  const Index heads = 8, d_in = 256, head_dim = 32, T = 64;
  const Generator random(123);
  const book::MultiHeadAttentionWrapper wrapper(d_in, head_dim, T, 0.0, heads, random);
  const book::MultiHeadAttention split(d_in, heads * head_dim, T, 0.0, heads, random);
  std::vector<Tensor> query, key, value;
  for (const book::CausalAttention& head : wrapper.heads) {
    query.push_back(head.W_query.weight);
    key.push_back(head.W_key.weight);
    value.push_back(head.W_value.weight);
  }
  split.W_query.weight.set(cat(query).array());
  split.W_key.weight.set(cat(key).array());
  split.W_value.weight.set(cat(value).array());
  split.out_proj.weight.set(eye(heads * head_dim).array());  // the wrapper has no output layer: use the identity
  split.out_proj.bias.set(Array::zeros({heads * head_dim}));

  const Tensor x = randn({2, T, d_in}, random);
  const Tensor a = wrapper(x);
  const Tensor b = split(x);
  const bool same = a.to_vector() == b.to_vector();
  mistakes += !same;
  const auto products = [](const Tensor& y) {
    std::map<std::string, Index> counts = count_ops(y);
    return std::pair(counts["linear"], counts["matmul"]);
  };
  const auto [wrapper_linear, wrapper_matmul] = products(a);
  const auto [split_linear, split_matmul] = products(b);
  std::printf("\nWrapper and weight splits with the same weights, %d heads of %d: outputs equal, bit for bit: %s\n",
              static_cast<int>(heads), static_cast<int>(head_dim), same ? "yes" : "NO");
  std::printf(
      "products recorded        projections   scores and values\n"
      "  wrapper                %11d   %17d\n  weight splits          %11d   %17d   (one is the output layer)\n",
      static_cast<int>(wrapper_linear), static_cast<int>(wrapper_matmul), static_cast<int>(split_linear),
      static_cast<int>(split_matmul));
  mistakes += wrapper_linear != 3 * heads || split_linear != 4 || wrapper_matmul != 2 * heads || split_matmul != 2;

  const NoGrad no_grad;
  const auto project = [&](const auto& attention) {
    attention.W_query(x);
    attention.W_key(x);
    attention.W_value(x);
  };
  const double many = seconds([&] {
    for (const book::CausalAttention& head : wrapper.heads) project(head);
  });
  std::printf(
      "time of %d small projections over that of 3 large ones (on this machine, median of 21): %.2f.\n"
      "The multiply-adds are the same: near 1 means that starting a product costs little here; where it costs much\n"
      "(smaller heads, a GPU, a busy machine) the large ones win.\n",
      static_cast<int>(3 * heads), many / seconds([&] { project(split); }));
}

void other_numbers() {
  std::cout << "\nBatched products multiply head by head: a @ a^T for a [1, 2, 3, 4]\n";
  const Tensor a = tensor(
      {{{{0.2745, 0.6584, 0.2775, 0.8573}, {0.8993, 0.0390, 0.9268, 0.7388}, {0.7179, 0.7058, 0.9156, 0.4340}},
        {{0.0772, 0.3565, 0.1479, 0.5331}, {0.4066, 0.2318, 0.4545, 0.9737}, {0.4606, 0.5159, 0.4220, 0.5786}}}});
  print_and_compare(to_text(matmul(a, transpose(a, 2, 3)).array()), R"(tensor([[[[1.3208, 1.1631, 1.2879],
          [1.1631, 2.2150, 1.8424],
          [1.2879, 1.8424, 2.0402]],

         [[0.4391, 0.7003, 0.5903],
          [0.7003, 1.3737, 1.0620],
          [0.5903, 1.0620, 0.9912]]]]))");

  std::cout << "\nWeight splits with d_in 3 and d_out 2, seed 123: the first sentence of the batch\n";
  const book::MultiHeadAttention small(3, 2, 6, 0.0, 2, Generator(123));
  print_and_compare(to_text(small(stack({inputs(), inputs()})).array().select(0, 0)), R"(tensor([[0.3190, 0.4858],
        [0.2943, 0.3897],
        [0.2856, 0.3593],
        [0.2693, 0.3873],
        [0.2639, 0.3928],
        [0.2575, 0.4028]]))");

  std::cout << "\nOne head without a mask, Linear projections, seed 789\n";
  const Generator seed_789(789);
  const Linear W_query(3, 2, seed_789, false), W_key(3, 2, seed_789, false), W_value(3, 2, seed_789, false);
  const Tensor queries = W_query(inputs());
  const Tensor keys = W_key(inputs());
  const Tensor values = W_value(inputs());
  print_and_compare(to_text(attention(queries, keys, values).array()), R"(tensor([[-0.0739,  0.0713],
        [-0.0748,  0.0703],
        [-0.0749,  0.0702],
        [-0.0760,  0.0685],
        [-0.0763,  0.0679],
        [-0.0754,  0.0693]]))");
  const Tensor formula = plain_attention(queries, keys, values, Mask(), 1 / std::sqrt(real(2)));
  const bool same = formula.to_vector() == attention(queries, keys, values).to_vector();
  std::cout << "the formula in other ops, plain_attention(), has the same bits: " << (same ? "yes" : "NO") << "\n";
  mistakes += !same;

  std::cout << "\nThe query of the second token through torch.rand(3, 2), seed 123\n";
  const Tensor W = rand({3, 2}, Generator(123));
  print_and_compare(to_text(matmul(select(inputs(), 0, 1), W).array()), "tensor([0.4306, 1.4551])");

  std::cout << "\nDropout(0.5) of ones(6, 6), seed 123: which cells stay depends on the machine PyTorch ran on.\n"
               "Apple silicon, ARM, and mote unless told otherwise:\n";
  const Generator scalar(123), mkl(123);
  print_and_compare(to_text(dropout(ones({6, 6}), 0.5, scalar).array()), R"(tensor([[2., 2., 0., 2., 2., 0.],
        [0., 0., 0., 2., 0., 2.],
        [2., 2., 2., 2., 0., 2.],
        [0., 2., 2., 0., 0., 2.],
        [0., 2., 0., 2., 0., 2.],
        [0., 2., 2., 2., 2., 0.]]))");
  std::cout << "pip wheels on x86-64 and Colab, here after random.set_build({.mkl = true}):\n";
  mkl.set_build({.mkl = true});
  print_and_compare(to_text(dropout(ones({6, 6}), 0.5, mkl).array()), R"(tensor([[2., 2., 2., 2., 2., 2.],
        [0., 2., 0., 0., 0., 0.],
        [0., 0., 2., 0., 2., 0.],
        [2., 2., 0., 0., 0., 2.],
        [2., 0., 0., 0., 0., 2.],
        [0., 2., 0., 0., 0., 0.]]))");
}

/// Parameter counts of the attention layers and the whole model; the models would not fit on a small machine.
void gpt2_sizes() {
  std::cout << "\nGPT-2, in which d_in = d_out\n                layers  heads  width  width of a head  in one attention"
               "  in all\n";
  struct Size {
    const char* name;
    Index layers, heads, width, parameters;  // as their files have them
  };
  for (const Size& s :
       {Size{"smallest (117M)", 12, 12, 768, 124439808}, {"largest (1.5B) ", 48, 25, 1600, 1557611200}}) {
    const Index C = s.width, attention = 4 * (C * C + C);       // queries, keys, values, output: weight and bias each
    const Index block = attention + 8 * C * C + 5 * C + 4 * C;  // C -> 4C -> C, and two norms
    std::printf("%s %6d %6d %6d %16d %17lld  %lld\n", s.name, static_cast<int>(s.layers), static_cast<int>(s.heads),
                static_cast<int>(C), static_cast<int>(C / s.heads), static_cast<long long>(attention),
                static_cast<long long>(s.parameters));
    mistakes += 50257 * C + 1024 * C + s.layers * block + 2 * C != s.parameters;
  }
  std::cout << "(117M is what the paper says; its authors corrected it later to 124M)\n";
}

}  // namespace

int lesson() {
  two_heads_and_three();
  eleven_steps();
  wrapper_against_split();
  other_numbers();
  gpt2_sizes();
  if (mistakes == 0)
    std::cout << "\nEvery table and every step above has the digits that PyTorch printed.\n";
  else
    std::cout << "\n" << mistakes << " of the tables and claims above do NOT hold.\n";
  return mistakes == 0 ? 0 : 1;
}

int main(int, char** argv) { return run_program(argv[0], lesson); }
