// Checks 05: tanh, forward and backward.

// hint: forward() has to store its result in `kept` before it returns.
// hint: In forward(): kept = std::tanh(x); return kept; In backward() multiply the slope, 1 - kept * kept, by g.
// why: The slope needs y alone, so x need not be kept. Ops that keep little leave memory for larger models.
// why: The slope is 1 at x = 0, but 0.02 at y = 0.99. Where tanh is flat, little gradient passes and learning is slow.
// why: The backward() of an op need not know L. It multiplies the gradient that arrives by the slope of the op.
#include "examples/exercises/answers/check.h"

namespace of_check {
template <class Op>
static void check() {
  Op op;
  const std::vector<double> inputs = (randn({6}, Generator(3)) * 0.8).to_vector();
  const std::vector<double> gradients = (randn({6}, Generator(4)) * 3).to_vector();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const double x = inputs[i], g = gradients[i], y = 1 - 2 / (std::exp(2 * x) + 1);  // tanh by another formula
    const std::string after = "backward(" + printed(g) + ") after forward(" + printed(x) + ")";
    expect_close("forward(" + printed(x) + ")", op.forward(x), y);
    expect_close(after, op.backward(g), g * (1 - y * y));
    expect_close("A second " + after, op.backward(g), g * (1 - y * y));
  }
  Op first, second;
  first.forward(0.5);
  second.forward(-1);
  expect(close(first.backward(1), 1 - std::pow(std::tanh(0.5), 2)), "shared");
  for (const double x : {0.0, 20.0, -1000.0, 1000.0}) {
    const double y = op.forward(x), want = x == 0 ? 0 : x > 0 ? 1 : -1;
    expect(y == y, "large powers");
    expect_close("forward(" + printed(x) + ")", y, want);
    expect_close("backward(2) after forward(" + printed(x) + ")", op.backward(2), x == 0 ? 2 : 0);
  }
}

/// An op whose forward(x) returns y = tanh(x) and sets `kept` to keeps(x, y). Its backward(g) returns rule(g, kept).
template <auto keeps, auto rule>
struct ByRule {
  double kept = 0;
  double forward(double x) {
    const double y = std::tanh(x);
    kept = keeps(x, y);
    return y;
  }
  double backward(double g) const { return rule(g, kept); }
};
static double y_of(double, double y) { return y; }
static double x_of(double x, double) { return x; }
static double zero_of(double, double) { return 0; }
static double tanh_of_y(double, double y) { return std::tanh(y); }
static double right_rule(double g, double y) { return g * (1 - y * y); }

struct Shared {
  static inline double kept = 0;
  double forward(double x) { return kept = std::tanh(x); }
  double backward(double g) const { return right_rule(g, kept); }
};
struct Powers : ByRule<y_of, right_rule> {
  double forward(double x) { return kept = (std::exp(x) - std::exp(-x)) / (std::exp(x) + std::exp(-x)); }
};
struct Example : ByRule<y_of, right_rule> {
  double forward(double) { return 0.462117; }
};

static const Row<void()> rows[] = {
    {"nothing kept", "The slope is always 1: has forward() put its result into kept?",
     check<ByRule<zero_of, right_rule>>},
    {"x kept", "That is 1 - x * x: forward() has to keep its result y, not x.", check<ByRule<x_of, right_rule>>},
    {"g forgotten", "g has no effect: L grows g times as fast as y, so multiply the slope by g.",
     check<ByRule<y_of, [](double, double y) { return 1 - y * y; }>>},
    {"another slope", "The slope of tanh is 1 - y * y: only the square of y is taken from 1. y * (1 - y) is sigmoid's.",
     check<ByRule<y_of, [](double g, double y) { return g * (1 - y) * (1 - y); }>>,
     check<ByRule<y_of, [](double g, double y) { return g * y * (1 - y); }>>,
     check<ByRule<y_of, [](double g, double y) { return g * (1 - y); }>>},
    {"tanh twice", "tanh is taken twice: what is kept is already tanh of x.", check<ByRule<tanh_of_y, right_rule>>},
    {"large powers", "forward() is NaN where x is large: a power of e is too large for a double. std::tanh avoids it.",
     check<Powers>},
    {"shared", "Two ops share what they keep: put it into the struct.", check<Shared>},
    {"hard-coded", of_example, check<Example>},
};
static const Table table(rows);

#ifdef PROVE
namespace solution {
struct MyTanh {
  double kept = 0;  // forward() writes it, backward() reads it

  double forward(double x) {
    kept = std::tanh(x);
    return kept;
  }
  double backward(double g) const { return g * (1 - kept * kept); }
};
}  // namespace solution
static const Right right(check<solution::MyTanh>);
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) { return of_check::judge(argc, argv, of_check::check<MyTanh>); }
