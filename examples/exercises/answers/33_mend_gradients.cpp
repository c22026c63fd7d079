// Checks 33: mend a loss that swings.

// hint: diagnose() would print "zero_grad() is missing: gradients add up". What does backward() do with old gradients?
// hint: Call optimizer.zero_grad() once in every step, but not between loss.backward() and optimizer.step().
// why: backward() adds gradients, because one step may use a parameter in several places or may use several batches.
// why: A gradient that is not set to 0 pushes again in every later step, so the line overshoots, as a swing does.
// why: Momentum adds up old gradients, too. But each counts half as much one step later, so old gradients die away.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Train = std::vector<double>(const Linear& line, const Tensor& x, const Tensor& y, int steps);

enum Kind { none, adds, bias_adds, drops, no_momentum, new_optimizers, slow };
/// Trains like train_line(), but with the mistake `kind`, and with gradients from formulas instead of backward(). The
/// loss, mse_loss, is the mean of all numbers of (x W^T + b - y)^2.
template <Kind kind>
static std::vector<double> by_hand(const Linear& line, const Tensor& x, const Tensor& y, int steps) {
  Tensor W = line.weight.value(), b = line.bias.value(), dW = W * 0, db = b * 0, vW = dW, vb = db;
  const bool keep = kind == adds || kind == new_optimizers;
  const double momentum = kind == no_momentum || kind == new_optimizers ? 0 : 0.5, lr = kind == slow ? 0.01 : 0.05;
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const Tensor off = matmul(x, transpose(W, 0, 1)) + b - y, slope = off * 2 / off.numel();
    dW = (keep ? dW : dW * 0) + matmul(transpose(slope, 0, 1), x);
    db = (keep || kind == bias_adds ? db : db * 0) + sum(slope, {0});
    if (kind != drops) {
      vW = vW * momentum + dW;
      vb = vb * momentum + db;
    }
    W = W - lr * vW;
    b = b - lr * vb;
    losses.push_back(mean(off * off).item());
  }
  line.weight.set(W.array());
  line.bias.set(b.array());
  return losses;
}

static void check(Train train) {
  for (const Index in : {1, 3}) {
    const Tensor x = randn({9, in}, Generator(1)) + 1, y = randn({9, 2}, Generator(2)) - 1;
    const Linear mended(in, 2, Generator(3)), right(in, 2, Generator(3));
    const std::vector<double> losses = train(mended, x, y, 4), wanted = by_hand<none>(right, x, y, 4);
    expect(losses.size() == 4, "train_line(line, x, y, 4) is to take 4 steps and to return 4 losses.");
    expect_close("The row of 4 losses", tensor(losses), tensor(wanted));
    expect_close("The weight after 4 steps", mended.weight, right.weight);
    expect_close("The bias after 4 steps", mended.bias, right.bias);
  }
}

static const Row<Train> rows[] = {
    {"adds", "The first step is right. But the second moves the weights further than its own gradient says.",
     by_hand<adds>},
    {"bias adds", "The weight now moves by its own gradient in every step, but that of the bias still grows and grows.",
     by_hand<bias_adds>},
    {"drops", "Now nothing is learned: the gradients are dropped before optimizer.step() has used them.",
     by_hand<drops>},
    {"no momentum", "The gradients are right now, but the momentum is lost. A new optimizer in every step has none.",
     by_hand<no_momentum>},
    {"new optimizers",
     "Without momentum (a new optimizer has none, either) gradients still add up: the parameters keep them.",
     by_hand<new_optimizers>},
    {"smaller steps", "Now even the first step is another one, but it was right: smaller steps only hide the swing.",
     by_hand<slow>},
    {"hard-coded", of_example,
     [](const Linear&, const Tensor&, const Tensor&, int) {
       return std::vector<double>{8.7, 0.4, 20.0, 0.4};
     }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
std::vector<double> train_line(const Linear& line, const Tensor& x, const Tensor& y, int steps) {
  SGD optimizer(all_parameters(line), {.lr = 0.05, .momentum = 0.5});
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    const Tensor loss = mse_loss(line(x), y);
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item());
  }
  return losses;
}
}  // namespace solution
static const Right right([] { check(solution::train_line); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(train_line); });
}
