// Lesson 5. Inside one attention layer: its shapes, its counted costs, a whole transformer block as a tree; why scores
// are divided by sqrt(d), what a fused projection is, and what the output projection is for.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <tuple>
#include <utility>

#include "engine/engine.h"
#include "examples/program.h"
#include "models/tutorials/llm_from_scratch.h"
#include "nn/multi_head_attention.h"
#include "nn/trace.h"
#include "nn/transformer_block.h"

using namespace mote;

namespace {

int mistakes = 0;

/// "counted" beside the value of the formula; the lesson fails if they differ.
void row(const char* what, Index counted, Index formula) {
  std::printf("  %-34s %14lld %14lld%s\n", what, static_cast<long long>(counted), static_cast<long long>(formula),
              counted == formula ? "" : "   DIFFERENT");
  mistakes += counted != formula;
}

void shapes() {
  std::cout
      << "1. What the class of \"LLM from scratch 1.3\" prints: B = 1, T = 5, d_model = 12, 3 heads. One projection's\n"
         "   columns, seen as five axes, come apart into q, k and v:\n\n";
  tutorials::llm_from_scratch::MultiHeadSelfAttention tutorial(3, 12, Generator(1));
  std::ostringstream lines;
  tutorial.trace_to = &lines;  // std::cout, unless set
  const Generator data(2);
  const Tensor x = randn({1, 5, 12}, data);
  const auto [out, weights] = tutorial(x);
  std::cout << lines.str() << "\n";
  mistakes += lines.str() !=
              "qkv view: [1, 5, 3, 3, 4]\n"
              "q: [1, 3, 5, 4] k: [1, 3, 5, 4] v: [1, 3, 5, 4]\n"
              "weights: [1, 3, 5, 5] ctx: [1, 3, 5, 4]\n"
              "out: [1, 5, 12]\n";
  const SelfAttention own(12, 3, Generator(1), {.causal = false}, {.bias = false});
  const double off = static_cast<double>(max(abs(own(x) - out)).item());
  std::printf(
      "   Every head got 4 of the 12 columns and a square of weights of its own; joined, they are 12 again.\n"
      "   mote's SelfAttention draws the same weights from the same seed and computes the same: the largest\n"
      "   difference is %.0e. It prints nothing: a Trace watches it.\n\n",
      off);
  mistakes += off > 1e-6;
}

void tree() {
  std::cout
      << "2. The whole of it: a transformer block, every op with its inputs and its result. A multiply-add is two\n"
         "   FLOPs. Bytes are those of fresh results: cutting into heads is a view of numbers that are there.\n\n";
  TransformerBlock block(12, 3, Generator(1), {.attention = {.causal = false}});
  const Generator data(2);
  const Tensor x = randn({1, 5, 12}, data);
  const Trace trace;
  block(x);
  trace.print(std::cout, {.times = false});  // std::cout << trace adds a column of microseconds
  std::cout << "\n";
  mistakes += trace.total().parameters != parameter_count(block);
}

struct Cost {
  Index projections, attention, weights;  // FLOPs, FLOPs, elements
};

/// Counts one pass of N tokens through h heads of d / h columns.
Cost count(Index n, Index d, Index heads) {
  const SelfAttention attention(d, heads, Generator(1), {.causal = false}, {.bias = false});
  const Tensor x = Array::full({1, n, d}, 1);
  const NoGrad just_numbers;
  const Trace trace;
  attention(x);
  Cost cost{};
  for (const TraceEvent& e : trace.events()) {
    if (e.is_op && e.name == "linear") cost.projections += e.flops;
    if (e.is_op && e.name == "attention") cost.attention += e.flops, cost.weights += e.notes[0].second.numel();
  }
  return cost;
}

void table() {
  std::cout << "3. The cost table of \"Multi-Head from Scratch\", counted. N tokens, width d, h heads; FLOPs.\n\n";
  std::printf("  %-34s %14s %14s\n", "", "counted", "formula");
  for (const auto& [n, d] : {std::pair<Index, Index>{64, 64}, {128, 64}, {256, 64}, {64, 128}, {512, 64}}) {
    const Index h = 8;
    const Cost cost = count(n, d, h);
    std::printf("  N = %lld, d = %lld, h = %lld\n", static_cast<long long>(n), static_cast<long long>(d),
                static_cast<long long>(h));
    row("  four projections: 8 N d^2", cost.projections, 8 * n * d * d);
    row("  one head: N^2 (4 d/h + 6)", cost.attention / h, n * n * (4 * d / h + 6));
    row("  all heads: N^2 (4 d + 6 h)", cost.attention, n * n * (4 * d + 6 * h));
  }
  const Cost small = count(64, 64, 8), longer = count(128, 64, 8), wider = count(64, 128, 8);
  std::printf("\n   Twice the tokens: projections x %.2f, attention x %.2f. Twice the width: x %.2f and x %.2f.\n",
              static_cast<double>(longer.projections) / static_cast<double>(small.projections),
              static_cast<double>(longer.attention) / static_cast<double>(small.attention),
              static_cast<double>(wider.projections) / static_cast<double>(small.projections),
              static_cast<double>(wider.attention) / static_cast<double>(small.attention));
  mistakes += longer.projections != 2 * small.projections || longer.attention != 4 * small.attention ||
              wider.projections != 4 * small.projections;
  std::cout << "   So the table's rows are right: O(N d^2) for the projections, O(N^2 d/h) for a head. Its total,\n"
               "   O(N^2 d), leaves out the projections, and they are the larger part until N comes near 2 d: the\n"
               "   true total is O(N d^2 + N^2 d).\n\n"
               "   Memory: the weights are h squares, O(h N^2) numbers if somebody stores them. mote makes them a few\n"
               "   rows at a time and keeps none:\n\n";
  const Index n = 512, d = 64, h = 8;
  const SelfAttention attention(d, h, Generator(1), {.causal = false}, {.bias = false});
  const Tensor x = Array::full({1, n, d}, 1);
  const NoGrad just_numbers;
  const Trace trace;
  attention(x);
  const Index size = static_cast<Index>(sizeof(real));
  row("bytes of all results: 5 N d", trace.total().bytes, 5 * n * d * size);  // q, k, v; the heads' output; the layer's
  std::printf("  %-34s %14s %14lld\n\n", "stored weights would add: h N^2", "",
              static_cast<long long>(h * n * n * size));
}

void one_head_or_eight() {
  std::cout
      << "4. \"Total cost is close to that of one head of full width\" (Vaswani et al. 2017), counted for N = 128,\n"
         "   d = 64: the same products either way, cut differently. Only scaling and softmax, 6 for every weight,\n"
         "   are done once per head.\n\n";
  const Index n = 128, d = 64;
  std::printf("  %-34s %14s %14s\n", "", "counted", "formula");
  for (const Index h : {1, 8}) {
    const Cost cost = count(n, d, h);
    row(h == 1 ? "1 head:  8 N d^2 + N^2 (4 d + 6)" : "8 heads: 8 N d^2 + N^2 (4 d + 48)",
        cost.projections + cost.attention, 8 * n * d * d + n * n * (4 * d + 6 * h));
  }
  const Cost one = count(n, d, 1), eight = count(n, d, 8);
  std::printf("\n   8 heads cost %.2f times one.\n", static_cast<double>(eight.projections + eight.attention) /
                                                         static_cast<double>(one.projections + one.attention));
}

/// Queries and keys with independent N(0, 1) elements: 64 of each, of width d.
struct Saturation {
  double variance = 0, largest = 0, slope = 0;  // of a score; of a row's weights, on average
};
Saturation saturation(Index d, bool scaled) {
  const Generator random(5);
  const Tensor q = randn({1, 64, d}, random);
  const Tensor k = randn({1, 64, d}, random);
  const double scale = scaled ? 1 / std::sqrt(static_cast<double>(d)) : 1;
  const Tensor scores = matmul(q, transpose(k, -2, -1)) * scale;
  const AttentionWeights seen;
  attention(q, k, k, {.scale = scale});
  const Array weights = seen.maps().back().weights;
  Saturation s;
  s.variance = static_cast<double>(var(reshape(scores, {-1})).item());
  s.largest = static_cast<double>(mean(max(Tensor(weights), {-1})).item());
  s.slope = static_cast<double>(mean(sum(Tensor(weights * (-weights + real(1))), {-1})).item());
  return s;
}

void why_scale() {
  std::cout
      << "\n5. Why scores are divided by sqrt(d). A score is a sum of d products; with numbers of variance 1 its\n"
         "   variance is d. The softmax of large scores is nearly one 1 and many 0s, and there it is flat: the sum\n"
         "   of p (1 - p), its slope, is what is left of the gradient. 64 keys; an even look gives each 0.02.\n\n"
         "           variance of a score     largest weight of a row     slope\n"
         "       d    as it is   divided      as it is   divided     as it is   divided\n";
  for (const Index d : {4, 16, 64, 512}) {
    const Saturation plain = saturation(d, false), divided = saturation(d, true);
    std::printf("  %6d   %9.2f %9.2f     %9.2f %9.2f    %9.2f %9.2f\n", static_cast<int>(d), plain.variance,
                divided.variance, plain.largest, divided.largest, plain.slope, divided.slope);
    mistakes += divided.variance > 1.5 || plain.variance < 0.5 * static_cast<double>(d);
    mistakes += d == 512 && (plain.largest < 0.9 || divided.largest > 0.3 || plain.slope > 0.3 * divided.slope);
  }
  std::cout << "\n   Divided, every width starts alike, and all weights can still learn.\n";
}

/// Columns that differ in any row.
int columns_changed(const Array& a, const Array& b) {
  const Index C = a.shape()[-1];
  int changed = 0;
  for (Index c = 0; c < C; ++c) changed += a.select(-1, c).to_vector() != b.select(-1, c).to_vector();
  return changed;
}

void fused_and_joined() {
  const Generator random(1), data(2);
  const Tensor x = randn({1, 5, 12}, data);
  const SelfAttention fused(12, 3, random, {.causal = false});
  const MultiHeadAttention separate(12, 3, random);
  const auto rows = [&](Index part) {  // c_attn's weight and bias are [q | k | v], one above the other
    return std::pair(fused.c_attn.weight.value().slice(0, 12 * part, 12 * (part + 1)),
                     fused.c_attn.bias.value().slice(0, 12 * part, 12 * (part + 1)));
  };
  Index part = 0;
  for (const Linear* projection : {&separate.q_proj, &separate.k_proj, &separate.v_proj}) {
    const auto [weight, bias] = rows(part++);
    projection->weight.set(weight);
    projection->bias.set(bias);
  }
  separate.o_proj.weight.set(fused.c_proj.weight.value());
  separate.o_proj.bias.set(fused.c_proj.bias.value());
  const NoGrad just_numbers;
  const auto run = [&](const auto& attention) {
    const Trace trace;
    const Array y = attention(x).array();
    const auto is_product = [](const TraceEvent& e) { return e.is_op && e.name == "linear"; };
    const auto products = std::count_if(trace.events().begin(), trace.events().end(), is_product);
    return std::tuple(y, products, trace.total().flops);
  };
  const auto [one, products_one, flops_one] = run(fused);
  const auto [three, products_three, flops_three] = run(separate);
  const bool equal = one.to_vector() == three.to_vector();
  std::printf(
      "\n6. One fused projection or three? The rows of the fused weight [36, 12], cut in three, make the separate\n"
      "   layers: %d against %d matrix products, %lld against %lld FLOPs, and results that are %s.\n"
      "   Fusing is a matter of speed (one large product instead of three small ones), not of theory.\n",
      static_cast<int>(products_one), static_cast<int>(products_three), static_cast<long long>(flops_one),
      static_cast<long long>(flops_three), equal ? "equal in every bit" : "NOT EQUAL");
  mistakes += !equal || products_one != 2 || products_three != 4 || flops_one != flops_three;

  // A head's output reaches only its own columns, until the output projection mixes them.
  MultiHeadAttention apart = separate.clone();
  Array identity = Array::zeros({12, 12});
  for (Index i = 0; i < 12; ++i) identity.mutate()[13 * i] = 1;
  apart.o_proj.weight.set(identity);
  const Array before_apart = apart(x).array(), before = separate(x).array();
  Array values = separate.v_proj.weight.value();
  std::fill_n(values.mutate(), 4 * 12, real(0));  // the first head's values: rows 0 to 3
  separate.v_proj.weight.set(values);
  apart.v_proj.weight.set(values);
  const int alone = columns_changed(apart(x).array(), before_apart),
            mixed = columns_changed(separate(x).array(), before);
  std::printf(
      "\n7. What the output projection is for. Silence the values of head 0 of 3: without an output projection %d of\n"
      "   the 12 columns change, its own; with it %d do. It mixes what the heads found, so that every column of the\n"
      "   result can use all of them.\n",
      alone, mixed);
  mistakes += alone != 4 || mixed != 12;
}

}  // namespace

int lesson() {
  shapes();
  tree();
  table();
  one_head_or_eight();
  why_scale();
  fused_and_joined();
  if (mistakes > 0) std::cout << "\n" << mistakes << " of the claims above do NOT hold.\n";
  return mistakes == 0 ? 0 : 1;
}

int main(int, char** argv) { return run_program(argv[0], lesson); }
