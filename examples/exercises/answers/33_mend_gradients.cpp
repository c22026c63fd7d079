// Checks 33: mend a loss that swings.

// hint: diagnose() would say: LOOK ... zero_grad() is missing: gradients add up. What does backward() do with the old?
// hint: optimizer.zero_grad(), once in every step, anywhere but between loss.backward() and optimizer.step().
// why: backward() adds, since a parameter may be used in several places, and several batches may make one step.
// why: Gradients that stay are pushes that never end: the line overshoots, like a swing without friction.
// why: Momentum adds up old gradients, too, but each counts half as much a step later, so that they die away.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Train = std::vector<double>(const Linear& line, const Tensor& x, const Tensor& y, int steps);
enum Mistake { none, adds, bias_adds, drops, forgets, renews, slow, constant };
static const std::map<Mistake, std::string> sentences = {
    {adds, "The first step is right. But the second moves the weights further than its own gradient says."},
    {bias_adds, "The weight now moves by its own gradient in every step, but that of the bias still grows and grows."},
    {drops, "Now nothing is learned: the gradients are dropped before optimizer.step() has used them."},
    {forgets, "The gradients are right now, but the momentum is lost, as in every step by a new optimizer."},
    {renews, "Without momentum (a new optimizer has none, either) gradients still add up: the parameters keep them."},
};

/// The training by its formulas, without backward(): mse_loss is the mean of (x W^T + b - y)^2 over all its numbers.
static std::vector<double> by_hand(const Linear& line, const Tensor& x, const Tensor& y, int steps, Mistake mistake) {
  if (mistake == constant) return {8.7, 0.4, 20.0, 0.4};
  Tensor W = line.weight.value(), b = line.bias.value(), dW = W * 0, db = b * 0, vW = dW, vb = db;
  const bool keep = mistake == adds || mistake == renews || mistake == slow;
  const double momentum = mistake == forgets || mistake == renews ? 0 : 0.5, lr = mistake == slow ? 0.01 : 0.05;
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const Tensor off = matmul(x, transpose(W, 0, 1)) + b - y, slope = off * 2 / off.numel();
    dW = (keep ? dW : dW * 0) + matmul(transpose(slope, 0, 1), x);
    db = (keep || mistake == bias_adds ? db : db * 0) + sum(slope, {0});
    if (mistake != drops) vW = vW * momentum + dW, vb = vb * momentum + db;
    W = W - lr * vW, b = b - lr * vb;
    losses.push_back(mean(off * off).item());
  }
  line.weight.set(W.array()), line.bias.set(b.array());
  return losses;
}

static void check(Train train) {
  for (const Index in : {1, 3}) {
    const Tensor x = randn({9, in}, Generator(1)) + 1, y = randn({9, 2}, Generator(2)) - 1;
    const Linear line(in, 2, Generator(3)), mended = line.clone();
    const std::vector<double> losses = train(mended, x, y, 4);
    expect(losses.size() == 4, "train_line(line, x, y, 4) is to take 4 steps and to return 4 losses.");
    for (const auto& [mistake, sentence] : sentences)
      expect_not(tensor(losses), tensor(by_hand(line.clone(), x, y, 4, mistake)), sentence);
    const Linear right = line.clone();
    const std::vector<double> wanted = by_hand(right, x, y, 4, none);
    expect_close("The loss before the first step", losses[0], wanted[0]);
    expect(close(losses[1], wanted[1]),
           "Now even the first step is another one, but it was right: smaller steps only hide the swing.");
    expect_close("The row of 4 losses", tensor(losses), tensor(wanted));
    expect_close("The weight after 4 steps", mended.weight, right.weight);
    expect_close("The bias after 4 steps", mended.bias, right.bias);
  }
}

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

template <Mistake mistake>
void wrongly() {
  check([](const Linear& line, const Tensor& x, const Tensor& y, int n) { return by_hand(line, x, y, n, mistake); });
}
static const Tried tried[] = {
    {"solution", "", [] { check(solution::train_line); }},
    {"drops before the step", "nothing is learned", wrongly<drops>},
    {"the weight alone", "that of the bias", wrongly<bias_adds>},
    {"drops, new optimizers", "momentum is lost", wrongly<forgets>},
    {"new optimizers", "has none, either", wrongly<renews>},
    {"smaller steps", "hide the swing", wrongly<slow>},
    {"hard-coded", "before the first step", wrongly<constant>},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(train_line); });
}
