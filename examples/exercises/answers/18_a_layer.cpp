// Checks 18: a layer of your own.

// hint: Write weight = Parameter(Array::full({n}, 1)); in the constructor, and v("weight", weight); in visit().
// hint: mean(x * x, {-1}, true) keeps the last axis with an extent of 1, so that it broadcasts against x.
// why: A whole layer is a constructor, a formula and a list of names. The gradient comes from the ops of the formula.
// why: LayerNorm also subtracts the mean and adds a bias. Without both, networks learn as well and RMSNorm costs less.
// why: Training, saving, cloning and counting use the list of names, so no parameter may be missing from it.
#include "examples/exercises/answers/check.h"
#include "nn/check_fields.h"

namespace of_check {
static Tensor rms(const Tensor& x) { return x / sqrt(mean(x * x, {-1}, true) + 1e-5); }

template <class Norm>
static void check() {
  for (const Index n : {4, 2}) {
    Norm layer(n);
    const Norm other(n);
    const std::vector<NamedParameter> listed = named_parameters(layer);
    expect(layer.weight.defined(), "weight was given no value: the constructor makes it, of n numbers.");
    expect(listed.size() == 1 && listed[0].name == "weight", "visit");
    expect_close("weight, as the constructor makes it,", layer.weight, ones({n}));
    const Tensor x = randn({4, n}, Generator(7)) * 2 + 1;
    check_fields([&] { layer(x); });  // throws if forward() uses a field that visit() does not list
    expect_close("MyRMSNorm of random x [4, " + printed(n) + "]", layer(x), rms(x));
    layer.weight.set(arange(static_cast<double>(n)).array() + 1);
    expect_close("MyRMSNorm with weight 1, 2, ...", layer(x), rms(x) * (arange(static_cast<double>(n)) + 1));
    expect_close("Another MyRMSNorm, whose weight nobody has changed,", other.forward(x), rms(x));
    for (const Shape& shape : {Shape{2, 3, n}, Shape{n}}) {
      const Tensor y = randn(shape, Generator(8));
      expect_close("MyRMSNorm of random x " + printed(shape), layer(y), rms(y) * layer.weight);
    }
    expect_close("MyRMSNorm of zeros", layer(zeros({1, n})), zeros({1, n}));
    const Tensor slopes = randn(x.shape(), Generator(9)), weight = layer.weight;
    expect_close("the gradient of x", gradient([&](const Tensor& t) { return layer(t); }, x, slopes),
                 gradient([&](const Tensor& t) { return rms(t) * weight.detach(); }, x, slopes));
    zero_grad(layer);
    sum(layer(x) * slopes).backward();
    expect_close("the gradient of weight", layer.weight.grad(), sum(rms(x) * slopes, {0}));
    expect_by_hand(layer(x), {"rms_norm", "layer_norm"});
  }
}

static Parameter of_ones(Index n) { return Parameter(Array::full({n}, 1)); }
static Parameter of_zeros(Index n) { return Parameter(Array::zeros({n})); }
static Parameter of_one(Index) { return Parameter(Array::full({1}, 1)); }
static Parameter shared(Index n) {  // every two layers share one weight
  static Parameter one;
  static int made = 0;
  if (made++ % 2 == 0) one = of_ones(n);
  return one;
}

/// A norm that computes formula(x, weight). made(n) makes the weight, and visit() lists the first `listed` of the two
/// parameters weight and bias.
template <auto formula, auto made = of_ones, int listed = 1>
struct ByParts : Layer<ByParts<formula, made, listed>> {
  Parameter weight, bias;

  explicit ByParts(Index n) : weight(made(n)), bias(Array::zeros({n})) {}
  Tensor forward(const Tensor& x) const { return formula(x, weight); }
  void visit(Visitor& v) override {
    if (listed > 0) v("weight", weight);
    if (listed > 1) v("bias", bias);
  }
};
static Tensor right_formula(const Tensor& x, const Tensor& weight) { return rms(x) * weight; }

/// x / sqrt(mean(x^2) + 1e-5), with the mean over `axis`.
static Tensor over(const Tensor& x, int axis) { return x / sqrt(mean(x * x, {axis}, true) + 1e-5); }

static const Row<void()> rows[] = {
    {"visit", "visit() has to list weight under its name, and nothing else: what it lists is trained and saved.",
     check<ByParts<right_formula, of_ones, 0>>, check<ByParts<right_formula, of_ones, 2>>},
    {"another weight", "weight begins as n numbers that are 1: with 0 all results would be 0, and none would differ.",
     check<ByParts<right_formula, of_zeros>>, check<ByParts<right_formula, of_one>>},
    {"LayerNorm", "The mean is taken away: that is LayerNorm. RMSNorm only divides.",
     check<ByParts<[](const Tensor& x, const Tensor& weight) { return layer_norm(x) * weight; }>>},
    {"weight forgotten", "weight has no effect: forward() has to multiply by it.",
     check<ByParts<[](const Tensor& x, const Tensor&) { return rms(x); }>>},
    {"another axis", "The mean goes over each row. The last axis is -1, however many axes x has.",
     check<ByParts<[](const Tensor& x, const Tensor& weight) { return over(x, 0) * weight; }>>,
     check<ByParts<[](const Tensor& x, const Tensor& weight) { return over(x, 1) * weight; }>>},
    {"another divisor", "The divisor is the root of the mean of squares, not of their sum. 1e-5 stands under the root.",
     check<ByParts<[](const Tensor& x, const Tensor& weight) {
       return x / sqrt(sum(x * x, {-1}, true) + 1e-5) * weight;
     }>>,
     check<ByParts<[](const Tensor& x, const Tensor& weight) { return x / sqrt(mean(x * x, {-1}, true)) * weight; }>>,
     check<ByParts<[](const Tensor& x, const Tensor& weight) {
       return x / (sqrt(mean(x * x, {-1}, true)) + 1e-5) * weight;
     }>>},
    {"shared", "Two layers share one weight: the constructor makes one for each.",
     check<ByParts<right_formula, shared>>},
    {"hard-coded", "The result does not depend on x.",
     check<ByParts<[](const Tensor& x, const Tensor& weight) { return ones(x.shape()) * weight; }>>},
};
static const Table table(rows);

#ifdef PROVE
namespace solution {
struct MyRMSNorm : Layer<MyRMSNorm> {
  Parameter weight;

  explicit MyRMSNorm(Index n) { weight = Parameter(Array::full({n}, 1)); }
  Tensor forward(const Tensor& x) const { return x / sqrt(mean(x * x, {-1}, true) + 1e-5) * weight; }
  void visit(Visitor& v) override { v("weight", weight); }
};
}  // namespace solution
static const Right right(check<solution::MyRMSNorm>);
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) { return of_check::judge(argc, argv, of_check::check<MyRMSNorm>); }
