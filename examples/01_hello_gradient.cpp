// Lesson 1. An expression of two numbers, the graph it leaves behind, and its gradient.
#include <cmath>
#include <cstdio>
#include <iostream>

#include "engine/engine.h"
#include "engine/watch/graph_text.h"
#include "examples/program.h"

using namespace mote;

/// The expression that micrograd's README made famous.
Tensor expression(const Tensor& a, const Tensor& b) {
  Tensor c = a + b;
  const Tensor product = a * b;  // one recorded step per statement: C++ does not order operands
  const Tensor cube = pow(b, 3);
  Tensor d = product + cube;
  c += c + 1;
  const Tensor one_more = 1 + c;
  c += one_more + (-a);
  const Tensor twice = d * 2;
  d += twice + relu(b + a);
  const Tensor thrice = 3 * d;
  d += thrice + relu(b - a);
  const Tensor e = c - d;
  const Tensor f = pow(e, 2);
  Tensor g = f / 2;
  g += 10 / f;
  return g;
}

int lesson() {
  Tensor a = tensor(-4.0).requires_grad_();
  Tensor b = tensor(2.0).requires_grad_();

  const Tensor g = expression(a, b);
  std::printf("g = %.4f\n\n", static_cast<double>(g.item()));

  std::cout << "What was recorded on the way, one line per step. %1 and %2 are a and b; every line names the\n"
               "lines it was made from, which is all that the gradient needs:\n\n"
            << graph_text(g) << "\n";

  g.backward();  // walks these lines from the last to the first and applies the chain rule at each
  const double da = static_cast<double>(a.grad().item()), db = static_cast<double>(b.grad().item());
  std::printf("dg/da = %.4f\ndg/db = %.4f\n\n", da, db);

  // The same slope without any graph: change a slightly and compare.
  const real step = 0.01;
  const NoGrad just_numbers;
  const Tensor above = expression(a + step, b);
  const Tensor below = expression(a - step, b);
  const double slope = static_cast<double>((above.item() - below.item()) / (2 * step));
  std::printf("(g(a + 0.01) - g(a - 0.01)) / 0.02 = %.2f, close to dg/da: the gradient is the slope\n", slope);
  return std::abs(da - 138.8338) < 5e-5 && std::abs(db - 645.5773) < 5e-5 ? 0 : 1;
}

int main(int, char** argv) { return run_program(argv[0], lesson); }
