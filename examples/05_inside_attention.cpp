// What is here: lesson 5. One attention layer looked at from inside: the shapes that a tutorial prints, a whole
//   transformer block as a tree, and the cost table of another tutorial, found by counting.
// What is not: what the heads learn (04_repeat_demo.cpp); times, which depend on the machine.
// Read next: ../nn/trace.h. Put const Trace trace; before any model of yours, and print it afterwards.
#include <cstdio>
#include <iostream>

#include "engine/ops/sample.h"
#include "nn/trace.h"
#include "nn/transformer_block.h"

using namespace mote;

namespace {

int mistakes = 0;

/// "counted" beside the formula's number; the lesson fails if they differ.
void row(const char* what, Index counted, Index formula) {
  std::printf("  %-34s %14lld %14lld%s\n", what, static_cast<long long>(counted), static_cast<long long>(formula),
              counted == formula ? "" : "   DIFFERENT");
  mistakes += counted != formula;
}

void shapes() {
  std::cout
      << "1. What \"LLM from scratch 1.3\" prints while trace_shapes is on: B = 1, T = 5, d_model = 12, 3 heads.\n"
         "   The layer knows nothing of it. A Trace watched, and these four lines are one filter of what it saw:\n\n";
  const MultiHeadAttention attention(12, 3, Generator(1), {.bias = false});
  const Generator data(2);
  const Tensor x = randn({1, 5, 12}, data);
  const Trace trace;
  attention(x);
  const std::string lines = attention_shapes(trace);
  std::cout << lines << "\n";
  mistakes += lines !=
              "qkv view: [1, 5, 3, 3, 4]\n"
              "q: [1, 3, 5, 4] k: [1, 3, 5, 4] v: [1, 3, 5, 4]\n"
              "weights: [1, 3, 5, 5] ctx: [1, 3, 5, 4]\n"
              "out: [1, 5, 12]\n";
  std::cout
      << "   Every head got 4 of the 12 columns and a square of weights of its own; joined, they are 12 again.\n\n";
}

void tree() {
  std::cout
      << "2. The whole of it: a transformer block, every op with its inputs and its result. A multiply-add is two\n"
         "   FLOPs. Bytes are those of fresh results: cutting into heads is a view of numbers that are there.\n\n";
  TransformerBlock block(12, 3, Generator(1), {.causal = false});
  const Generator data(2);
  const Tensor x = randn({1, 5, 12}, data);
  const Trace trace;
  block(x);
  trace.print(std::cout, {.times = false});  // std::cout << trace adds a column of microseconds
  std::cout << "\n";
  mistakes += trace.total().parameters != parameter_count(block);
}

struct Cost {
  Index projections, attention, weights;  // FLOPs, FLOPs, numbers
};

/// Counts one pass of N tokens through h heads of d / h columns.
Cost count(Index n, Index d, Index heads) {
  const MultiHeadAttention attention(d, heads, Generator(1), {.bias = false});
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
  const MultiHeadAttention attention(d, h, Generator(1), {.bias = false});
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

}  // namespace

int main() {
  shapes();
  tree();
  table();
  one_head_or_eight();
  return mistakes == 0 ? 0 : 1;
}
