// Lesson 1. An engine by hand: numbers that remember what they were made of, and how a gradient finds its way back.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "engine/engine.h"  // mote itself, for the comparison at the end
#include "engine/watch/graph_picture.h"
#include "examples/lessons/lesson.h"

namespace {
/// A number that remembers which numbers it was made of, and how fast it changes with each of them. One that was made
/// of none is a leaf; all of them, with what they were made of, are the graph.
struct Value {
  struct Input {
    std::shared_ptr<Value> value;
    double slope;  ///< d(this) / d(value): how many times as fast as `value` this number changes
  };
  double data;
  std::vector<Input> made_of;
  double grad = 0;  ///< d(result) / d(this), once backward() has come by
};
using Number = std::shared_ptr<Value>;

Number number(double x, std::vector<Value::Input> made_of = {}) {
  return std::make_shared<Value>(Value{x, std::move(made_of)});
}
/// a + b grows by 1 when a or b does.
Number operator+(const Number& a, const Number& b) { return number(a->data + b->data, {{a, 1}, {b, 1}}); }
/// a * b grows by b when a grows by 1, since (a + 1) * b = a * b + b; and by a when b does.
Number operator*(const Number& a, const Number& b) { return number(a->data * b->data, {{a, b->data}, {b, a->data}}); }

/// The chain rule. If the result grows y.grad times as fast as y, and y grows `slope` times as fast as x, then through
/// y the result grows y.grad * slope times as fast as x. Added, as x may reach the result on other ways as well.
void send_back(const Number& y) {
  for (const auto& [x, slope] : y->made_of) x->grad += y->grad * slope;
}

/// What seems natural, and is wrong: it hands on all of x->grad, also what an earlier visit has handed on already.
void recursion(const Number& y) {
  for (const auto& [x, slope] : y->made_of) {
    x->grad += y->grad * slope;
    recursion(x);
  }
}

/// All that y was made of, each once and before whatever was made of it; y itself comes last.
void collect(const Number& y, std::vector<Number>& order) {
  if (std::find(order.begin(), order.end(), y) != order.end()) return;
  for (const auto& input : y->made_of) collect(input.value, order);
  order.push_back(y);
}
/// From the last to the first: when a number's turn comes, all that was made of it has had its turn before.
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

  // Learning is this: change every number a little against its gradient, and the result falls.
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
