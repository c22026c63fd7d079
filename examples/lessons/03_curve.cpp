// Lesson 3. A small network learns a curve. Training needs a model, a loss, backward() and a step, and nothing else.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "examples/lessons/lesson.h"
#include "models/mlp.h"
#include "train/optim/adamw.h"
#include "train/optim/sgd.h"

using namespace mote;

namespace {
struct Curve {
  Tensor x, y;  // [129, 1] each: 129 points, one per row
};

/// The network of this lesson has three layers: from x to 32 numbers, from 32 numbers to 32 others, and from 32
/// numbers to one. Between two layers each number goes through tanh, whose curve is bent like an S. Layers one after
/// the other with such a bend between them are called an MLP, a "multi-layer perceptron".
MLP network() { return MLP({1, 32, 32, 1}, Generator(1), Activation::tanh); }

/// Prints a summary of the network, and computes its second layer by hand. A layer Linear(in, out) has a weight W_ik
/// for each output i and each input k, and a bias b_i for each output:
///   y_i = W_i1 x_1 + W_i2 x_2 + ... + b_i
/// Weights and biases together are called parameters. Parameters are the numbers that are learned, and begin as small
/// random numbers.
void parts(const Curve& curve) {
  const MLP model = network();
  std::printf("%s\n", summary(model).c_str());
  const Linear& layer = model.layers[1];
  const Tensor point = select(curve.x, 0, 40);    // row 40; axis 0 counts the rows
  const Tensor x = tanh(model.layers[0](point));  // 32 numbers, computed from this point
  const Tensor y = layer(x);                      // 32 others, computed from x
  // Tensor(layer.weight) is the value of a parameter as a tensor, to compute with. The sum over axis 1 adds up the
  // numbers of each row.
  const Tensor by_hand = sum(Tensor(layer.weight) * x, {1}) + Tensor(layer.bias);
  claim(number(max(abs(y - by_hand))) < 1e-6, "a layer computes sums of its inputs, each times a weight, and a bias");
}

/// Trains the model, and this is all of the training. The loss is one number that says how wrong the predictions are.
/// backward() computes the gradient of the loss for every parameter of the model. The optimizer was given the same
/// parameters, and its step moves every parameter a little against the parameter's gradient, as lesson 1 moved a and
/// b. Returns the losses of all steps.
std::vector<double> train(const std::function<Tensor(const Tensor&)>& model, Optimizer& optimizer, const Curve& curve) {
  std::vector<double> losses;
  for (int step = 0; step <= 500; ++step) {
    optimizer.zero_grad();                                  // otherwise gradients would add up: lesson 2
    const Tensor loss = mse_loss(model(curve.x), curve.y);  // the mean of (prediction - y)^2
    loss.backward();
    optimizer.step();
    losses.push_back(number(loss));
  }
  return losses;
}

/// The prediction of the same layers without tanh between them. Two such layers can do no more than one, because
/// W2 (W1 x + b1) + b2 is (W2 W1) x + (W2 b1 + b2), which is again x times weights, plus biases. So all layers
/// together are a straight line. tanh, which is called the activation, bends the lines between two layers. A sum of
/// many bent lines can follow any curve.
Tensor without_tanh(const MLP& model, const Tensor& x) {
  Tensor y = x;
  for (const Linear& layer : model.layers) y = layer(y);
  return y;
}

/// The loss of the best straight line, y = a x. At the best a, the derivative of the sum of (a x - y)^2 with respect
/// to a is 0, so a = sum(x y) / sum(x^2). The line needs no bias, because the curve lies as much above 0 as below.
double best_line(const Curve& curve) {
  const Tensor xy = sum(curve.x * curve.y), xx = sum(curve.x * curve.x);
  return number(mse_loss(curve.x * (xy / xx), curve.y));
}

void fit_and_plot(const Curve& curve) {
  const MLP model = network(), straight = network();
  // all_parameters() lists a model's parameters by name. Adam is an optimizer that finds a step size for each
  // parameter. Adam is lesson 14's AdamW without weight decay.
  Adam optimizer(all_parameters(model), {.lr = 1e-2}), other(all_parameters(straight), {.lr = 1e-2});
  const auto losses = train([&](const Tensor& x) { return model(x); }, optimizer, curve);
  const auto line = train([&](const Tensor& x) { return without_tanh(straight, x); }, other, curve);
  std::printf("\n             loss   without tanh\n");
  for (const std::size_t i : {0u, 100u, 500u}) std::printf("step %3zu %8.5f %14.8f\n", i, losses[i], line[i]);
  claim(losses.back() < 1e-3 && losses.back() < losses[0] / 100, "the network has learned the curve");
  claim(std::abs(line.back() - best_line(curve)) < 1e-6,
        "without tanh it pays what the best straight line pays, " + std::to_string(best_line(curve)));
  std::printf("\no the curve, * what the network says, - what it says without tanh\n");
  const NoGrad no_grad;
  const Array said = model(curve.x).array(), said_straight = without_tanh(straight, curve.x).array();
  for (Index i = 0; i < said.numel(); i += 8) {
    std::string row(49, ' ');
    for (const auto& [y, mark] : {std::pair(curve.y.array(), 'o'), std::pair(said_straight, '-'), std::pair(said, '*')})
      row[static_cast<std::size_t>(std::clamp(std::lround((y.at({i, 0}) + real(1.2)) * 20), 0L, 48L))] = mark;
    std::printf("%6.2f |%s|\n", static_cast<double>(curve.x.array().at({i, 0})), row.c_str());
  }
}

/// Trains with three learning rates. SGD takes lesson 1's plain step: w becomes w - rate * gradient, with the same
/// learning rate for all parameters. As an example take a single w and the loss (w - 3)^2, whose gradient is
/// 2 (w - 3). Each step multiplies w - 3, the distance from the minimum, by 1 - 2 rate. With a tiny rate the distance
/// hardly shrinks. With a rate above 1/2 every step jumps over the minimum. With a rate of 1 or more w comes no nearer
/// to the minimum.
void learning_rates(const Curve& curve) {
  std::printf("\nPlain steps. learning rate   loss before, after 3 and after 500 steps\n");
  std::vector<double> left;  // for each rate, the share of the first loss that is left
  for (const double rate : {0.00001, 0.05, 10.0}) {
    const MLP model = network();
    SGD optimizer(all_parameters(model), {.lr = rate});
    const auto losses = train([&](const Tensor& x) { return model(x); }, optimizer, curve);
    std::printf("%26.5f %13.4g %8.4g %8.4g\n", rate, losses[0], losses[3], losses[500]);
    left.push_back(losses[500] / losses[0]);
  }
  claim(left[0] > 0.9 && left[0] < 1, "too small: it crawls; after 500 steps nearly all of the loss is still there");
  claim(left[1] < 0.5, "in between: it learns; less than half of the loss is left");
  claim(!std::isfinite(left[2]), "too large: it jumps farther and farther, until numbers are too large to be kept");
}

void lesson() {
  const Tensor x = reshape(arange(-1, 1.0001, 1.0 / 64), {-1, 1});  // [129, 1]; -1 lets reshape count the rows
  const Curve curve{x, sin(x * std::numbers::pi)};
  parts(curve);
  fit_and_plot(curve);
  learning_rates(curve);
  std::printf(
      "\nTry: sin(8 pi x): how many steps does it need, and how many lines the picture (i += 8)? Learn from two "
      "points,\n"
      "and print what is said between and beyond them.\n"
      "Now read examples/lessons/04_classifier.cpp: what if the answer is no number, but one of several classes?\n");
}
}  // namespace

int main(int, char** argv) {
  return run_lesson(argv, lesson, "axis; parameter; layer; activation; MLP; loss; SGD; learning rate");
}
