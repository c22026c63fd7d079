// Lesson 1. An autograd engine by hand. Each number remembers the numbers it was computed from, so that gradients can
// be sent back to them.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "engine/engine.h"  // mote itself, for the comparison at the end
#include "engine/watch/graph_picture.h"
#include "examples/lessons/lesson.h"

namespace {
/// A number that remembers its inputs, the numbers it was computed from, and its slope with respect to each input. A
/// number without inputs is called a leaf. All numbers together with their inputs are called the graph.
struct Value {
  struct Input {
    std::shared_ptr<Value> value;
    double slope;  ///< d(this) / d(value): if `value` grows by a small h, this number grows by slope * h
  };
  double data;
  std::vector<Input> made_of;
  double grad = 0;  ///< d(result) / d(this), which is called the gradient; backward() computes it
};
using Number = std::shared_ptr<Value>;

Number number(double x, std::vector<Value::Input> made_of = {}) {
  return std::make_shared<Value>(Value{x, std::move(made_of)});
}
/// a + b grows by 1 if a grows by 1, and also if b grows by 1. So both slopes are 1.
Number operator+(const Number& a, const Number& b) { return number(a->data + b->data, {{a, 1}, {b, 1}}); }
/// a * b grows by b if a grows by 1, since (a + 1) * b = a * b + b. Likewise a * b grows by a if b grows by 1.
Number operator*(const Number& a, const Number& b) { return number(a->data * b->data, {{a, b->data}, {b, a->data}}); }

/// Sends the gradient of y back to each input x of y by the chain rule. The result has the slope y->grad with respect
/// to y, and y has the slope `slope` with respect to x. So along the path through y, the result has the slope
/// y->grad * slope with respect to x. This product is added to x->grad, because there may be other paths from x to the
/// result, which do not pass through y.
void send_back(const Number& y) {
  for (const auto& [x, slope] : y->made_of) x->grad += y->grad * slope;
}

/// A way to send gradients back that seems natural but is wrong. Each visit to x sends on all of x->grad, even the
/// part that an earlier visit to x has already sent on.
void recursion(const Number& y) {
  for (const auto& [x, slope] : y->made_of) {
    x->grad += y->grad * slope;
    recursion(x);
  }
}

/// Appends y and all numbers that y depends on to `order`, each once. Every number comes after its inputs, so y comes
/// last. This is called a topological order.
void collect(const Number& y, std::vector<Number>& order) {
  if (std::find(order.begin(), order.end(), y) != order.end()) return;
  for (const auto& input : y->made_of) collect(input.value, order);
  order.push_back(y);
}
/// Computes the gradients of all numbers, from the last number to the first. When a number sends its gradient back,
/// all numbers that were computed from it have already sent theirs. So its gradient is complete.
void backward(const Number& y) {
  std::vector<Number> order;
  collect(y, order);
  y->grad = 1;
  std::for_each(order.rbegin(), order.rend(), send_back);
}

void lesson(const char* file) {
  const Number a = number(2), b = number(3);
  const Number c = a * b, d = c + a, e = c * d;  // e = ab (ab + a)
  const std::vector<Number> all{a, b, c, d, e};
  const char* const names[] = {"a", "b", "c = a * b", "d = c + a", "e = c * d"};

  std::vector<double> wrong;
  e->grad = 1;
  recursion(e);
  for (const Number& x : all) wrong.push_back(std::exchange(x->grad, 0));
  backward(e);
  std::printf("             value   recursion   last to first: d(e) / d(this)\n");
  for (std::size_t i = 0; i < all.size(); ++i)
    std::printf("%-11s %6g %11g %15g\n", names[i], all[i]->data, wrong[i], all[i]->grad);
  std::printf(
      "\nc is used twice, in d and in e. Recursion sends back what c has when it comes by: 8, and then 14, in\n"
      "which the 8 are once more. To send only what is new would be right, but would walk once along every way\n"
      "from e to a leaf, and these may double with each number. From last to first, c has both when it sends.\n\n");
  // By hand: e = a^2 b^2 + a^2 b, so de/da = 2 a b^2 + 2 a b = 36 + 12 and de/db = 2 a^2 b + a^2 = 24 + 4.
  claim(a->grad == 48 && b->grad == 28, "from the last to the first: de/da = 48 and de/db = 28, as by hand");
  claim(wrong[0] == 72 && wrong[1] == 44, "recursion: 72 and 44, too much");

  const auto e_at = [](double x) { return x * 3 * (x * 3 + x); };
  const double slope = (e_at(2.001) - e_at(1.999)) / 0.002;
  claim(std::abs(slope - a->grad) < 1e-6, "so it is: between a = 1.999 and 2.001, e rises 48 times as fast as a");

  // To learn means to change every number a little against its gradient, so that the result falls.
  const Number a2 = number(a->data - 0.01 * a->grad), b2 = number(b->data - 0.01 * b->grad);
  const Number c2 = a2 * b2, d2 = c2 + a2, e2 = c2 * d2;
  std::printf("\na and b moved by -0.01 times their gradients: e falls from %g to %g\n", e->data, e2->data);
  claim(e2->data < e->data, "a step against the gradient makes the result smaller");

  const mote::Tensor A = mote::tensor(2).requires_grad_(), B = mote::tensor(3).requires_grad_();
  mote::GraphRecorder seen;
  const mote::Tensor C = A * B, D = C + A, E = C * D;
  E.backward();
  claim(static_cast<double>(A.grad().item()) == a->grad && static_cast<double>(B.grad().item()) == b->grad,
        "mote, which does the same with whole arrays of numbers, has the same gradients");
  seen.name(A, "a").name(B, "b").name(C, "c").name(D, "d").name(E, "e");
  if (file) mote::write_file(file, mote::graph_svg(E, seen));
  std::printf(
      "\nGiven the name of a file, 01_engine_by_hand graph.svg, it draws there how e was made and what came back.\n"
      "Try: add a - b and a / b, with a claim for each. backward(e) twice gives a 162, not twice 48: why?\n"
      "Now read examples/lessons/02_gradient.cpp: the same with mote.\n");
}
}  // namespace

int main(int argc, char** argv) {
  return run_lesson(argc, argv, lesson, "graph; leaf; gradient; chain rule; backward");
}
