// Lesson 4. A classifier: softmax, cross-entropy, and two layers whose gradients are also computed by hand.
#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/engine.h"
#include "examples/lessons/lesson.h"
#include "models/mlp.h"
#include "train/optim/sgd.h"

using namespace mote;

namespace {
constexpr Index classes = 3, per_class = 100, points = classes * per_class;

struct Data {
  Tensor x;    // [300, 2]
  IntArray y;  // [300], the class of each point
};

/// Three classes of points, in three arms that wind around the origin. In the arm of class c, the point at radius r
/// has the angle 4 (c + r) plus some noise.
Data spirals(const Generator& random) {
  Array x = Array::zeros({points, 2});
  IntArray y({points});
  const Array noise = randn({points}, random).array();
  for (Index i = 0; i < points; ++i) {
    const Index c = i / per_class;
    const double r = static_cast<double>(i % per_class) / (per_class - 1);
    const double angle = 4 * (static_cast<double>(c) + r) + 0.2 * static_cast<double>(noise.data()[i]);
    x.mutate()[2 * i] = static_cast<real>(r * std::sin(angle));
    x.mutate()[2 * i + 1] = static_cast<real>(r * std::cos(angle));
    y.mutate()[i] = c;
  }
  return {x, y};
}

/// The mean loss of all points, computed by its formula. A classifier gives every class a score, called its logit.
/// Softmax turns the scores into shares, which are above 0 and sum to 1:
///   p_j = e^s_j / (e^s_1 + e^s_2 + e^s_3)
/// The loss of a point is -log of the share of its own class. This loss is called cross-entropy. The loss is 0 for a
/// share of 1, ln 3 for a share of a third, and more for a smaller share. Why the logarithm? A share is the
/// probability that the model gives to a class. The probability of answering all points right is the product of the
/// shares of their own classes. The logarithm of a product is a sum, so each point adds a loss of its own. And the
/// slope of -log p is -1 / p, so the loss is steepest where the model was sure and wrong. The logarithm also undoes
/// the exponential function of softmax. So the gradient of the scores is simply p - y, where y is 1 for the right
/// class and 0 for the others.
double loss_by_hand(const Tensor& scores, const IntArray& y) {
  const Tensor e = exp(scores), total = sum(e, {1}, true), p = e / total;  // true keeps the axis: [300, 1]
  double loss = 0;
  for (Index i = 0; i < points; ++i) loss -= std::log(static_cast<double>(p.array().at({i, y.at({i})})));
  return loss / points;
}

/// The gradients of a classifier of two layers, from the loss back to the first layer. The product A B of two
/// matrices has the elements sum_k A_ik B_kj. W^T is W with rows and columns exchanged. A point is a row x, so lesson
/// 3's sums over k of W_ik x_k are the row x W^T. The classifier computes
///   z = x W1^T + b1,   h = relu(z), which is z where z > 0, else 0,   s = h W2^T + b2,   the loss of softmax(s).
std::vector<Tensor> gradient_by_hand(const MLP& model, const Data& data) {
  const Linear &first = model.layers[0], &second = model.layers[1];
  const NoGrad by_hand;
  const Tensor z = first(data.x), h = relu(z), p = softmax(second(h));
  Array y = Array::zeros({points, classes});  // 1 at the right class of each point
  for (Index i = 0; i < points; ++i) y.mutate()[i * classes + data.y.at({i})] = 1;
  // The loss of a point is -log p_right = log(e^s_1 + e^s_2 + e^s_3) - s_right. The derivative of the logarithm with
  // respect to s_j is e^s_j divided by the sum, which is p_j. The derivative of s_right is 1 if j is the right class,
  // else 0. So the gradient of a point's loss is p - y, and the gradient of the mean loss is (p - y) / points.
  const Tensor ds = (p - Tensor(y)) / static_cast<real>(points);  // [300, 3]; Tensor(y) makes a tensor of an Array
  // The score s_ij = sum_k h_ik W2_jk + b2_j has the slope h_ik with respect to W2_jk, the slope W2_jk with respect to
  // h_ik, and the slope 1 with respect to b2_j. By the chain rule each of these slopes is multiplied by ds_ij, and the
  // products are added up. Take one score s = 2 w_1 + 3 w_2, with h = (2, 3). Then dw = ds h = (2 ds, 3 ds), and
  // dh = ds w. In general dh_ik = sum_j ds_ij W2_jk. This is the matrix product ds W2. And dW2_jk = sum_i ds_ij h_ik
  // sums over the first index of both factors. So dW2 is the matrix product ds^T h.
  const Tensor dW2 = matmul(transpose(ds, 0, 1), h), dh = matmul(ds, second.weight), db2 = sum(ds, {0});
  const Tensor dz = where(z > Tensor(0), dh, zeros({1}));  // relu passes on gradients only where z > 0
  const Tensor dW1 = matmul(transpose(dz, 0, 1), data.x), db1 = sum(dz, {0});
  return {dW1, db1, dW2, db2};
}

void by_hand(const Data& data) {
  const MLP model({2, 100, classes}, Generator(5), Activation::relu);
  const Tensor scores = model(data.x), loss = cross_entropy(scores, data.y);
  loss.backward();
  const std::vector<Tensor> ours = gradient_by_hand(model, data);
  const std::vector<Parameter> weights = parameters(model);
  double off = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) off += number(max(abs(ours[i] - Tensor(weights[i].grad()))));
  const double given = number(loss), guess = std::log(3.0);
  std::printf("1. Before training: a loss of %.4f; guessing among three classes is ln 3 = %.4f.\n", given, guess);
  claim(std::abs(given - guess) < 0.3, "who has learned nothing pays about as much as who guesses");
  claim(std::abs(given - loss_by_hand(scores, data.y)) < 1e-12, "cross_entropy() is the mean of -log p_right");
  claim(off < 1e-14, "backward() does what we do by hand, matrix by matrix");
}

template <class Model>
double train(const char* what, const Model& model, const Data& data, const Data& fresh) {
  SGD optimizer(all_parameters(model), {.lr = 1});
  for (int step = 0; step < 1500; ++step) {
    optimizer.zero_grad();
    cross_entropy(model(data.x), data.y).backward();
    optimizer.step();
  }
  const NoGrad no_grad;
  const auto right = [&model](const Data& d) { return number(mean(tensor(argmax(model(d.x)) == d.y))); };
  const double known = right(data), others = right(fresh);
  std::printf("   %-30s right for %3.0f %% of its points, %3.0f %% of fresh ones\n", what, 100 * known, 100 * others);
  return others;
}

/// Prints a map: the class that the model predicts at every place of the square around the spirals.
void map_of(const MLP& model) {
  constexpr Index wide = 49, high = 21;
  for (Index i = 0; i < high; ++i) {
    const Tensor across = linspace(-1.1, 1.1, wide);
    const Tensor down = full({wide}, 1.1 - 2.2 * static_cast<double>(i) / (high - 1));
    const IntArray said = argmax(model(stack({across, down}, 1)));
    for (Index j = 0; j < wide; ++j) std::printf(j == 0 ? "   %c" : "%c", "a.o"[said.at({j})]);
    std::printf("\n");
  }
}

void lesson() {
  const Generator random(1);
  const Data data = spirals(random), fresh = spirals(random);
  by_hand(data);
  std::printf("\n2. Which of three arms of a spiral, a . o, does a point belong to? The map: what two layers say.\n");
  const Linear linear(2, classes, random);
  const MLP hidden({2, 100, classes}, random, Activation::relu);
  const double straight = train("one layer", linear, data, fresh);
  const double bent = train("two, with relu between them", hidden, data, fresh);
  map_of(hidden);
  claim(straight < 0.65, "one layer divides the plane by straight lines, which cannot follow the arms");
  claim(bent > 0.95, "the first of two bends it, so that straight lines will do for the second");
  std::printf(
      "\nTry: derive tanh's line for dz, with Activation::tanh. Let two of the three arms be one class.\n"
      "Now read examples/lessons/05_bigrams.cpp: a language model is a classifier with a class for each symbol.\n");
}
}  // namespace

int main(int, char** argv) { return run_lesson(argv, lesson, "logits; softmax; cross-entropy; product of matrices"); }
