// The smallest adder, by hand: one block whose ten numbers one can read adds numbers of ten digits.
#include "engine/engine.h"
#include "examples/figures/record.h"
#include "examples/programs/program.h"
#include "nn/nn.h"
#include "train/tasks/adder10.h"

using namespace mote;
namespace {

/// A row is 0 a 0 0 b 0 sum, the last digits first, so both digits of one power of ten are 12 places apart, and a
/// rotary pair that turns once in 12 places cannot tell them apart. Where the sum's digit i is asked for, both stand 10
/// and 22 places back, those of the power before 11 and 23; one head looks at them in the proportion of 10 to 1:
///
///     y = a_i + b_i + (a_{i-1} + b_{i-1}) / 10.
///
/// The digit that it reads is the sum's last, s. Whether a 1 is carried, s knows: a_{i-1} + b_{i-1} - s is 9 or 10 if
/// so, else 0 or -1. So y - s / 10 is the next digit, or 10 more, or a tenth less than these: two neurons take 10 away
/// from 9.9 on, and the digit e for which 2 e z - e^2 is largest is the closest to what is left, z.
struct ByHand : Layer<ByHand> {
  static constexpr Index first = 23, length = 34;          // where the answer is asked for, and how long a row is
  Parameter one = number(1), step = number(1);             // of a digit e the model knows one and e times step
  Parameter ahead = number(56.73), aside = number(69.31);  // the query: 10.31 twelfths of a turn back, and how narrowly
  Parameter total = number(2.2);                           // the value, a digit times the sum of 1, 1, 1/10 and 1/10
  Parameter tenth = number(0.1);                           // of the last digit, to be taken away
  Parameter above = number(9), from = number(9.9);         // where the two neurons begin,
  Parameter steep = number(10 / 0.9);                      // and what they take away between these and the next
  Parameter two = number(2);                               // of the logits 2 e z - e^2
  Rotary rotary{4, {.base = 3.6476}, length};              // its second pair turns by base^(-1/2) = 2 pi / 12

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
