// The smallest adder, set by hand: one transformer block with ten parameters that one can read adds ten-digit numbers.
#include "engine/engine.h"
#include "examples/figures/record.h"
#include "examples/programs/program.h"
#include "nn/nn.h"
#include "train/tasks/adder10.h"

using namespace mote;
namespace {

/// A row is 0 a 0 0 b 0 sum, with the last digits first. So the two digits of one power of ten are 12 places apart,
/// and a rotary pair that turns once in 12 places cannot tell these two digits apart. Where digit i of the sum is
/// predicted, these two digits are 10 and 22 places back. The digits of the next lower power are 11 and 23 places
/// back. One head attends to the digits of this power and to those of the next lower power in the proportion of 10 to
/// 1. Its output is
///
///     y = a_i + b_i + (a_{i-1} + b_{i-1}) / 10.
///
/// The input at this place is s, the previous digit of the sum. It shows whether a 1 is carried, because a_{i-1} +
/// b_{i-1} - s is then 9 or 10, and otherwise 0 or -1. So y - s / 10 is the next digit or 10 more, and in both cases
/// may be a tenth less. Two neurons subtract 10 if the value is 9.9 or more. The result is z, and the digit e with the
/// largest 2 e z - e^2 is the closest to z.
struct ByHand : Layer<ByHand> {
  static constexpr Index first = 23, length = 34;          // first place that predicts the answer; the row's length
  Parameter one = number(1), step = number(1);             // the model represents a digit e by one and by e times step
  Parameter ahead = number(56.73), aside = number(69.31);  // query that fits best 10.31 places back; long, so sharp
  Parameter total = number(2.2);                           // scales values: attention weights become 1, 1, 0.1 and 0.1
  Parameter tenth = number(0.1);                           // the share of s that is subtracted
  Parameter above = number(9), from = number(9.9);         // the thresholds of the two neurons
  Parameter steep = number(10 / 0.9);                      // the subtracted number rises at this slope from 0 to 10
  Parameter two = number(2);                               // the 2 of the logits 2 e z - e^2
  Rotary rotary{4, {.base = 3.6476}, length};              // its second pair turns by base^(-1/2) = 2 pi / 12 per place

  static Parameter number(double x) { return Parameter(Array(static_cast<real>(x))); }
  /// ids [B, 34] -> logits [B, 11, 10] of the digits that follow ids[23], ... ids[33].
  Tensor forward(const IntArray& ids) const {
    const Tensor digits = arange(10) * step, x = embedding(unsqueeze(digits, 1), ids);  // [B, T, 1]
    const Tensor none = x * 0, all = none + one;
    const Tensor q = rotary(cat({none, all * ahead, none, all * aside}, -1), 0);
    const Tensor k = rotary(cat({none, all, none, none}, -1), 0), v = cat({x * total, none, none, none}, -1);
    const Tensor y = slice(attention(q, k, v, {.causal = true}), -1, 0, 1) - x * tenth;
    const Tensor high = relu(y - all * above), higher = relu(y - all * from);
    const Tensor z = y - (high - higher) * steep;
    return slice(z, 1, first, length) * digits * two - digits * digits;
  }
  void visit(Visitor& v) override {
    v("one", one);
    v("step", step);
    v("ahead", ahead);
    v("aside", aside);
    v("total", total);
    v("tenth", tenth);
    v("above", above);
    v("from", from);
    v("steep", steep);
    v("two", two);
  }
};

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    read_words(argc, argv, "none");
    const ByHand model;
    const Questions board = Adder10Task().evaluation(10'010);
    const NoGrad no_grad;
    const double begin = seconds_now();
    Index right = 0;
    for (Index row = 0; row < 10'010; row += 1001) {
      const IntArray answers = board.answers.slice(0, row, row + 1001);
      const IntArray ids = concat({board.prompts.slice(0, row, row + 1001), answers.slice(1, 0, 10)}, 1);
      const Tensor hits = tensor(argmax(model(ids), -1) == answers);
      right += static_cast<Index>(sum(min(hits, {1})).item());
    }
    std::printf("%d parameters: %d of 10,010 sums right, in %.2f s\n", static_cast<int>(parameter_count(model)),
                static_cast<int>(right), seconds_now() - begin);
    return right == 10'010 ? 0 : 1;
  });
}
