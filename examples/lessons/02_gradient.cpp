// Lesson 2. Gradients with mote: what a Tensor records about its computation, how to read the record, and how the
// gradient comes back along it.
#include <cmath>
#include <sstream>
#include <vector>

#include "engine/engine.h"
#include "engine/watch/graph_picture.h"
#include "engine/watch/graph_text.h"
#include "examples/lessons/lesson.h"

using namespace mote;

namespace {
/// Lesson 1's expression, e = ab (ab + a). A Tensor is an array of numbers; here each array has one number.
Tensor expression(const Tensor& a, const Tensor& b) {
  const Tensor c = a * b;
  const Tensor d = c + a;
  return c * d;
}

void recorded() {
  // requires_grad_() says that the gradients of a and b will be wanted. From now on every operation on a and b, or on
  // their results, is recorded together with the operations that its inputs came from. This record is lesson 1's
  // made_of.
  const Tensor a = tensor(2).requires_grad_(), b = tensor(3).requires_grad_();
  Tensor c = a * b, d = c + a, e = c * d;
  // a and b are made of no other tensors, so they are leaves. Only leaves keep their gradients, unless retain_grad()
  // asks another tensor to keep its gradient.
  for (Tensor* result : {&c, &d, &e}) result->retain_grad();
  std::istringstream graph(graph_text(e));  // before backward(), which uses up the graph
  e.backward();                             // goes from the last operation to the first, as in lesson 1

  std::printf(
      "1. What was recorded, an operation on each line; beside it the numbers.\n\n"
      "        operation                 value   gradient: d(e) / d(this)\n");
  const std::vector<std::pair<const char*, Tensor>> all{{"a", a}, {"b", b}, {"c", c}, {"d", d}, {"e", e}};
  std::string line;
  for (const auto& [name, x] : all) {
    std::getline(graph, line);
    std::printf("   %s    %-22s %8g %10g\n", name, line.c_str(), number(x), number(x.grad()));
  }
  std::printf(
      "\n   %%3 = mul(%%1, %%2) [] says: number 3 is the product of numbers 1 and 2, and has the shape [], so it\n"
      "   is a single one. An operation also keeps what its slopes need: mul keeps both factors.\n");
  claim(line == "%5 = mul(%3, %4) []", "the last line says that e was made of 3 and 4, which are c and d");
  claim(number(c.grad()) == 14, "c gets d = 8 from line 5 and 6 from line 4, and sends back their sum, 14");
  claim(number(a.grad()) == 48 && number(b.grad()) == 28, "a and b have lesson 1's gradients, 48 and 28");
}

void arrays(const char* file) {
  const Tensor x = tensor({1, 2, 3}).requires_grad_();  // of shape [3]: three numbers in a row
  const Tensor shift = tensor(1).requires_grad_();      // of shape []: a single number
  GraphRecorder seen;          // keeps all values, for a picture; a graph keeps only the values that slopes need
  const Tensor y = x + shift;  // the one number is added to each of the three; this is called broadcasting
  const Tensor total = sum(y * y);
  total.backward();
  if (file) write_file(file, graph_svg(total, seen.name(x, "x").name(shift, "shift").name(y, "y")));
  // By hand: total = y_1^2 + y_2^2 + y_3^2 has the slope 2 y_i with respect to y_i, and y_i has the slope 1 with
  // respect to x_i. So the gradient of x_i is 2 y_i. If the shift grows by 1, all three y_i grow by 1. So the gradient
  // of the shift is 2 y_1 + 2 y_2 + 2 y_3. (y.array() is an Array: the numbers of y without their graph.)
  std::cout << "\n2. y = x + shift is " << y.array() << ". The gradients of y_1^2 + y_2^2 + y_3^2:\n"
            << "   x      " << x.grad() << "\n   shift  " << shift.grad() << "\n";
  claim(x.grad().to_vector() == std::vector<real>{4, 6, 8}, "every x_i has its own gradient, 2 y_i");
  claim(number(shift.grad()) == 4 + 6 + 8, "a number that was added to three has the sum of their gradients");
}

void added_up() {
  Tensor a = tensor(2).requires_grad_();
  const Tensor b = tensor(3);  // no gradient of b is wanted
  expression(a, b).backward();
  const double once = number(a.grad());
  expression(a, b).backward();
  const double twice = number(a.grad());
  a.zero_grad();
  expression(a, b).backward();
  const double afresh = number(a.grad());
  std::printf(
      "\n3. backward() adds to what is there. The gradient of a: %g; after another backward(): %g;\n"
      "   after zero_grad() and a third one: %g\n",
      once, twice, afresh);
  claim(twice == 2 * once, "gradients add up, over backward() as within it");
  claim(afresh == once, "zero_grad() begins at nothing again");  // each training step calls zero_grad(), see lesson 3
}

/// The expression in the README of micrograd, an autograd engine in Python. If a line of that README has an operator
/// with computations on both sides, each side gets a name of its own here. The reason is that C++ does not say which
/// side of an operator is computed first.
Tensor famous(const Tensor& a, const Tensor& b) {
  Tensor c = a + b;
  const Tensor product = a * b;
  const Tensor cube = pow(b, 3);
  Tensor d = product + cube;
  c += c + 1;
  const Tensor one_more = 1 + c;
  c += one_more + (-a);
  const Tensor twice = d * 2;
  d += twice + relu(b + a);  // relu(x) is x where x > 0, else 0
  const Tensor thrice = 3 * d;
  d += thrice + relu(b - a);
  const Tensor f = pow(c - d, 2);
  const Tensor half = f / 2;
  return half + 10 / f;
}

void differences() {
  const Tensor a = tensor(-4).requires_grad_(), b = tensor(2).requires_grad_();
  famous(a, b).backward();
  const double da = number(a.grad()), db = number(b.grad()), little = 1e-4;
  const NoGrad no_grad;  // nothing is recorded while no_grad exists, up to the end of the function
  const Tensor above = famous(a + little, b), below = famous(a - little, b);
  const double slope = (number(above) - number(below)) / (2 * little);
  std::printf(
      "\n4. A longer expression g: dg/da = %.4f, dg/db = %.4f\n"
      "   (g(a + 0.0001) - g(a - 0.0001)) / 0.0002 = %.4f\n",
      da, db, slope);
  claim(std::abs(da - 138.8338) < 5e-5 && std::abs(db - 645.5773) < 5e-5, "micrograd has the same gradients");
  claim(std::abs(slope - da) < 1e-4, "and the gradient is the slope, measured without any graph");
  claim(!above.requires_grad() && a.requires_grad(), "under NoGrad nothing was recorded, though a is a leaf");
}

void lesson(const char* file) {
  recorded();
  arrays(file);
  added_up();
  differences();
  std::printf(
      "\nGiven a file's name it draws part 2. Try: e.backward() twice, and graph_text() of the famous expression.\n"
      "Now read examples/lessons/03_curve.cpp: a thousand such numbers learn a curve.\n");
}
}  // namespace

int main(int n, char** argv) { return run_lesson(n, argv, lesson, "tensor; array; broadcasting; gradient check"); }
