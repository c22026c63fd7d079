// Lesson 2. A small network learns a sine wave: model, loss, backward, step, and nothing else.
#include <cstdio>
#include <numbers>
#include <string>

#include "engine/engine.h"
#include "examples/program.h"
#include "models/mlp.h"
#include "train/adamw.h"

using namespace mote;

/// A line of text with '*' where y is, y from -1.2 to 1.2.
std::string plot(double y, char mark, std::string line = std::string(49, ' ')) {
  line[static_cast<std::size_t>(std::clamp(std::lround((y + 1.2) * 20), 0L, 48L))] = mark;
  return line;
}

int lesson() {
  Generator random(1);
  MLP model({1, 32, 32, 1}, random, Activation::tanh);
  std::printf("%s\n", summary(model).c_str());

  const Tensor x = reshape(arange(-1, 1.0001, 1.0 / 64), {-1, 1});  // 129 points, one per row
  const Tensor y = sin(x * (2 * std::numbers::pi_v<real>));

  Adam optimizer(all_parameters(model), {.lr = 1e-2});
  double first = 0, last = 0;
  for (int step = 0; step <= 500; ++step) {
    optimizer.zero_grad();
    const Tensor loss = mse_loss(model(x), y);  // the mean of (prediction - y)^2
    loss.backward();                            // fills the gradient of every parameter
    optimizer.step();                           // moves each slightly against its gradient
    last = static_cast<double>(loss.item());
    if (step == 0) first = last;
    if (step % 100 == 0) std::printf("step %3d  loss %.6f\n", step, last);
  }

  std::printf("\no the curve, * what the network says\n");
  const NoGrad just_numbers;
  const Tensor prediction = model(x);
  for (Index i = 0; i < x.numel(); i += 4) {
    const double want = static_cast<double>(y.array().at({i, 0})),
                 got = static_cast<double>(prediction.array().at({i, 0}));
    std::printf("%6.2f |%s|\n", static_cast<double>(x.array().at({i, 0})), plot(got, '*', plot(want, 'o')).c_str());
  }
  return last < 1e-3 && last < first / 100 ? 0 : 1;
}

int main(int, char** argv) { return run_program(argv[0], lesson); }
