// Lesson 10. A softmax classifier: its loss, its gradient by hand and checked, trained on three spirals that no
// straight line separates; and what one hidden layer changes.
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/io/pictures/curve.h"
#include "engine/watch/gradcheck.h"
#include "examples/program.h"
#include "models/mlp.h"
#include "train/fit.h"
#include "train/sgd.h"

using namespace mote;

namespace {

bool as_told = true;
constexpr Index classes = 3, per_class = 100, points = classes * per_class;
constexpr double decay = 1e-3;  // the weight of |W|^2 / 2 in the loss

struct Data {
  Tensor x;    // [300, 2]
  IntArray y;  // [300]
};

/// Three arms that wind around the origin: class c at radius r stands at the angle 4 (c + r), with some noise.
Data spirals(const Generator& random) {
  Array x({points, 2}, std::vector<real>(points * 2));
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

/// The mean of -log p(right class), and decay / 2 times the sum of all squared weights.
template <class Model>
Tensor loss_of(const Model& model, const Data& data) {
  const Tensor logits = model(data.x);
  Tensor loss = cross_entropy(logits, data.y);
  for (const Parameter& p : parameters(model))
    if (p.shape().rank() == 2) loss = loss + sum(p * p) * static_cast<real>(decay / 2);
  return loss;
}

/// By hand: the gradient of the mean loss with respect to the scores is (p - 1 where the class is right) / N, so that
/// of the weights [3, 2] is its transpose times x, plus decay W; compared with backward() and with differences.
void gradient(const Data& data) {
  const Linear linear(2, classes, Generator(5));
  const Tensor loss = loss_of(linear, data);
  loss.backward();
  Array d = softmax(linear(data.x)).array().contiguous();
  for (Index i = 0; i < points; ++i) d.mutate()[i * classes + data.y.data()[i]] -= 1;
  const Tensor mean = matmul(transpose(Tensor(d), 0, 1), data.x) / static_cast<real>(points);
  const Tensor by_hand = mean + Tensor(linear.weight.value()) * static_cast<real>(decay);
  const double off = static_cast<double>(max(abs(by_hand - Tensor(linear.weight.grad()))).item());
  const GradcheckResult check =
      gradcheck([&] { return loss_of(linear, data); }, {{"weight", linear.weight}, {"bias", linear.bias}});
  std::printf(
      "1. With small weights all classes are about equally likely: the loss is %.4f, and ln 3 = %.4f.\n"
      "   Its gradient by hand differs from backward()'s by %.0e, and backward()'s from differences by %.0e.\n\n",
      static_cast<double>(loss.item()), std::log(3.0), off, check.worst);
  as_told = as_told && off < 1e-12 && check.ok && std::abs(static_cast<double>(loss.item()) - std::log(3.0)) < 0.3;
}

template <class Model>
double right(const Model& model, const Data& data) {
  const NoGrad no_grad;
  const IntArray said = argmax(model(data.x));
  Index hits = 0;
  for (Index i = 0; i < points; ++i) hits += said.data()[i] == data.y.data()[i];
  return static_cast<double>(hits) / points;
}

/// What the model says at every place of the square: '.', '-' or '+'. The points stand there as letters.
template <class Model>
void map_of(const Model& model, const Data& data) {
  constexpr Index wide = 49, high = 25;
  const auto at = [](Index i, Index n) { return 2.2 * static_cast<double>(i) / static_cast<double>(n - 1) - 1.1; };
  Array x({wide * high, 2}, std::vector<real>(wide * high * 2));
  for (Index i = 0; i < wide * high; ++i) {
    x.mutate()[2 * i] = static_cast<real>(at(i % wide, wide));
    x.mutate()[2 * i + 1] = static_cast<real>(-at(i / wide, high));
  }
  const NoGrad no_grad;
  const IntArray said = argmax(model(x));
  std::vector<std::string> rows(high, std::string(wide, ' '));
  for (Index i = 0; i < wide * high; ++i)
    rows[static_cast<std::size_t>(i / wide)][static_cast<std::size_t>(i % wide)] = ".-+"[said.data()[i]];
  for (Index i = 0; i < points; ++i) {
    const double column = (static_cast<double>(data.x.array().at({i, 0})) + 1.1) / 2.2 * (wide - 1);
    const double row = (1.1 - static_cast<double>(data.x.array().at({i, 1}))) / 2.2 * (high - 1);
    rows[static_cast<std::size_t>(std::lround(row))][static_cast<std::size_t>(std::lround(column))] =
        "ABC"[data.y.data()[i]];
  }
  for (const std::string& row : rows) std::printf("   %s\n", row.c_str());
}

template <class Model>
double train(const char* what, const Model& model, const Data& data, const Data& fresh, Index steps) {
  SGD optimizer(all_parameters(model), {.lr = 1});
  std::vector<double> losses;
  fit(optimizer, [&](Index) { return loss_of(model, data); },
      {.steps = steps, .grad_clip = 0, .on_step = [&](const StepReport& r) {
         losses.push_back(r.loss);
         return true;
       }});
  std::printf("%s, %lld weights, %lld steps: loss %.4f, right %.0f %% of its points and %.0f %% of fresh ones\n\n",
              what, static_cast<long long>(parameter_count(model)), static_cast<long long>(steps), losses.back(),
              100 * right(model, data), 100 * right(model, fresh));
  std::printf("%s\n", curve_text(losses, {.title = "   loss", .width = 60, .height = 6}).c_str());
  map_of(model, data);
  std::printf("\n");
  return right(model, fresh);
}

}  // namespace

int lesson() {
  const Generator random(1);
  const Data data = spirals(random), fresh = spirals(random);
  std::printf(
      "Three arms of 100 points each, after \"CS231n\": which arm does a point belong to? A softmax classifier gives "
      "every\n"
      "class a score, p = softmax(scores), and pays -log p(right class), plus a little for large weights.\n\n");
  gradient(data);
  const Linear linear(2, classes, random);
  const double straight = train("2. Scores that are linear in x", linear, data, fresh, 200);
  const MLP hidden({2, 100, classes}, random, Activation::relu);
  const double bent = train("3. One hidden layer of 100 relus", hidden, data, fresh, 2000);
  std::printf(
      "A, B, C are points, '.', '-', '+' what the classifier says where none is. Linear scores divide the plane by\n"
      "straight lines, three sectors, however long they train; the hidden layer first bends it, and the last layer is\n"
      "the same softmax classifier on what the bending made. A language model ends in it, too: one class per token.\n");
  as_told = as_told && straight < 0.65 && bent > 0.95;
  if (!as_told) std::printf("\nNot all of this came out as the text says: see above.\n");
  return as_told ? 0 : 1;
}

int main(int, char** argv) { return run_program(argv[0], lesson); }
