// Checks 18: a layer of your own.

// hint: weight = Parameter(Array::full({n}, 1)) in the constructor, and v("weight", weight) in visit().
// hint: mean(x * x, {-1}, true) keeps the last axis with an extent of 1, so that it broadcasts against x.
// why: A constructor, a formula and a list of names: that is a whole layer; the gradient comes from the ops.
// why: LayerNorm also takes the mean away and adds a bias; networks learn as well without, and it costs less.
// why: From the list of names come training, saving, cloning, counting: so the list is the one thing not to forget.
#include "examples/exercises/answers/check.h"

namespace of_check {
template <class Norm>
static void check() {
  for (const Index n : {2, 5}) {
    Norm layer(n);
    const Tensor x = randn({3, n}, Generator(7)) * 2 + 1;
    const std::vector<NamedParameter> listed = named_parameters(layer);
    expect(layer.weight.defined(), "weight was given no value: the constructor makes it, of n numbers.");
    expect(!listed.empty(), "visit() lists nothing: an optimizer would not see weight, and it would not be saved.");
    expect(listed[0].name == "weight", "visit() lists " + listed[0].name + ", but its name should be weight.");
    expect_close("weight, as the constructor makes it,", layer.weight, ones({n}));
    const Tensor got = layer(x), scale = sqrt(mean(x * x, {-1}, true) + 1e-5);
    expect_not(got, layer_norm(x), "The mean is taken away: that is LayerNorm. RMSNorm only divides.");
    expect_not(got, x / (sqrt(mean(x * x, {-1}, true)) + 1e-5), "1e-5 belongs under the root, beside the mean.");
    expect_not(got, x / sqrt(sum(x * x, {-1}, true) + 1e-5),
               "That is the root of the sum of squares, not of their mean.");
    expect_not(got, x / sqrt(mean(x * x, {0}, true) + 1e-5),
               "The mean goes over each row, axis -1, not down a column.");
    expect_close("MyRMSNorm of random x", got, x / scale);
    layer.weight.set(arange(static_cast<double>(n)).array() + 1);
    expect_not(layer(x), x / scale, "weight has no effect: forward() has to multiply by it.");
    expect_close("MyRMSNorm with weight 1, 2, ...", layer(x), x / scale * (arange(static_cast<double>(n)) + 1));
    expect_by_hand(layer(x), {"rms_norm", "layer_norm"});
  }
}

#ifdef PROVE
namespace solution {
struct MyRMSNorm : Layer<MyRMSNorm> {
  Parameter weight;

  explicit MyRMSNorm(Index n) { weight = Parameter(Array::full({n}, 1)); }
  Tensor forward(const Tensor& x) const { return x / sqrt(mean(x * x, {-1}, true) + 1e-5) * weight; }
  void visit(Visitor& v) override { v("weight", weight); }
};
}  // namespace solution

enum Mistake { unlisted, centred, unscaled, by_column, total, constant };
template <Mistake mistake>
struct Wrongly : Layer<Wrongly<mistake>> {
  Parameter weight;

  explicit Wrongly(Index n) : weight(Array::full({n}, 1)) {}
  Tensor forward(const Tensor& x) const {
    if (mistake == centred) return layer_norm(x) * weight;
    if (mistake == unscaled) return x / sqrt(mean(x * x, {-1}, true) + 1e-5);
    if (mistake == total) return x / sqrt(sum(x * x, {-1}, true) + 1e-5) * weight;
    if (mistake == constant) return ones(x.shape()) * weight;
    return x / sqrt(mean(x * x, {mistake == by_column ? 0 : -1}, true) + 1e-5) * weight;
  }
  void visit(Visitor& v) override {
    if (mistake != unlisted) v("weight", weight);
  }
};
static const Tried tried[] = {
    {"solution", "", check<solution::MyRMSNorm>},
    {"not listed", "visit() lists nothing", check<Wrongly<unlisted>>},
    {"LayerNorm", "that is LayerNorm", check<Wrongly<centred>>},
    {"weight forgotten", "weight has no effect", check<Wrongly<unscaled>>},
    {"wrong axis", "not down a column", check<Wrongly<by_column>>},
    {"sum of squares", "the root of the sum", check<Wrongly<total>>},
    {"hard-coded", "MyRMSNorm of random x", check<Wrongly<constant>>},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) { return of_check::judge(argc, argv, of_check::check<MyRMSNorm>); }
