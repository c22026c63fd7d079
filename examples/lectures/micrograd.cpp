// micrograd's README: an expression of two numbers, its value, and how it changes with each of them.
#include "examples/lectures/lecture.h"

#include "engine/engine.h"

using namespace mote;

int main(int, char** argv) {
  return run_program(argv[0], [&] {
    const Tensor a = tensor(-4.0).requires_grad_(), b = tensor(2.0).requires_grad_();
    Tensor c = a + b;
    Tensor d = a * b + pow(b, 3);
    c += c + 1;
    c += 1 + c + (-a);
    d += d * 2 + relu(b + a);
    d += 3 * d + relu(b - a);
    const Tensor e = c - d;
    const Tensor f = pow(e, 2);
    Tensor g = f / 2.0;
    g += 10.0 / f;
    g.backward();

    Lines line("micrograd");
    line(fixed_text(static_cast<double>(g.item()), 4));
    line(fixed_text(static_cast<double>(a.grad().item()), 4));
    line(fixed_text(static_cast<double>(b.grad().item()), 4));
    return line.summary();
  });
}
