// Checks 18: a layer of your own.

// hint: weight = Parameter(Array::full({n}, 1)) in the constructor, and v("weight", weight) in visit().
// hint: mean(x * x, {-1}, true) keeps the last axis with an extent of 1, so that it broadcasts against x.
// why: A constructor, a formula and a list of names: that is a whole layer; the gradient comes from the ops.
// why: LayerNorm also takes the mean away and adds a bias; networks learn as well without, and it costs less.
// why: From the list of names come training, saving, cloning, counting: so the list is the one thing not to forget.
#include "examples/exercises/answers/check.h"
#include "nn/check_fields.h"

namespace of_check {
template <class Norm>
static void check() {
  for (const Index n : {2, 5}) {
    Norm layer(n);
    const Tensor x = randn({3, n}, Generator(7)) * 2 + 1, cube = randn({2, 3, n}, Generator(8));
    const std::vector<NamedParameter> listed = named_parameters(layer);
    expect(layer.weight.defined(), "weight was given no value: the constructor makes it, of n numbers.");
    expect(!listed.empty(), "visit() lists nothing: an optimizer would not see weight, and it would not be saved.");
    expect(listed[0].name == "weight", "visit() lists " + listed[0].name + ", but its name should be weight.");
    expect(listed.size() == 1, "visit() lists more than weight: RMSNorm has no other parameter.");
    expect_close("weight, as the constructor makes it,", layer.weight, ones({n}));
    check_fields([&] { layer(x); });  // an error if visit() forgets what forward() uses
    const Tensor got = layer(x), scale = sqrt(mean(x * x, {-1}, true) + 1e-5);
    expect_not(got, layer_norm(x), "The mean is taken away: that is LayerNorm. RMSNorm only divides.");
    expect_not(got, x / sqrt(mean(x * x, {-1}, true)), "1e-5 is missing: without it a row of zeros becomes NaN.");
    expect_not(got, x / (sqrt(mean(x * x, {-1}, true)) + 1e-5), "1e-5 belongs under the root, beside the mean.");
    expect_not(got, x / sqrt(sum(x * x, {-1}, true) + 1e-5),
               "That is the root of the sum of squares, not of their mean.");
    expect_not(got, x / sqrt(mean(x * x, {0}, true) + 1e-5),
               "The mean goes over each row, axis -1, not down a column.");
    expect_close("MyRMSNorm of random x", got, x / scale);
    layer.weight.set(arange(static_cast<double>(n)).array() + 1);
    expect_not(layer(x), x / scale, "weight has no effect: forward() has to multiply by it.");
    expect_close("MyRMSNorm with weight 1, 2, ...", layer(x), x / scale * (arange(static_cast<double>(n)) + 1));
    const auto rms = [](const Tensor& t) { return t / sqrt(mean(t * t, {-1}, true) + 1e-5); };
    expect_not(layer(cube), cube / sqrt(mean(cube * cube, {1}, true) + 1e-5) * layer.weight,
               "Axis 1 is the last one of a matrix alone: the last of x [..., n] is -1.");
    expect_close("MyRMSNorm of random x with three axes", layer(cube), rms(cube) * layer.weight);
    const Tensor slopes = randn(x.shape(), Generator(9)), weight = layer.weight;
    expect_close("the gradient of x", gradient([&](const Tensor& t) { return layer(t); }, x, slopes),
                 gradient([&](const Tensor& t) { return rms(t) * weight.detach(); }, x, slopes));
    zero_grad(layer);
    sum(layer(x) * slopes).backward();
    expect_close("the gradient of weight", layer.weight.grad(), sum(rms(x) * slopes, {0}));
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

enum Mistake { unlisted, centred, unscaled, by_column, total, no_eps, axis_1, detached, more, forgotten, constant };
template <Mistake mistake>
struct Wrongly : Layer<Wrongly<mistake>> {
  Parameter weight, bias;

  explicit Wrongly(Index n) : weight(Array::full({n}, 1)), bias(Array::zeros({n})) {}
  Tensor forward(const Tensor& x) const {
    if (mistake == centred) return layer_norm(x) * weight;
    if (mistake == unscaled) return x / sqrt(mean(x * x, {-1}, true) + 1e-5);
    if (mistake == total) return x / sqrt(sum(x * x, {-1}, true) + 1e-5) * weight;
    if (mistake == no_eps) return x / sqrt(mean(x * x, {-1}, true)) * weight;
    if (mistake == detached) return x / sqrt(mean(x * x, {-1}, true) + 1e-5).detach() * weight;
    if (mistake == forgotten) return x / sqrt(mean(x * x, {-1}, true) + 1e-5) * weight + bias;
    if (mistake == constant) return ones(x.shape()) * weight;
    return x / sqrt(mean(x * x, {mistake == by_column ? 0 : mistake == axis_1 ? 1 : -1}, true) + 1e-5) * weight;
  }
  void visit(Visitor& v) override {
    if (mistake != unlisted) v("weight", weight);
    if (mistake == more) v("bias", bias);
  }
};
static const Tried tried[] = {
    {"solution", "", check<solution::MyRMSNorm>},
    {"not listed", "visit() lists nothing", check<Wrongly<unlisted>>},
    {"LayerNorm", "that is LayerNorm", check<Wrongly<centred>>},
    {"weight forgotten", "weight has no effect", check<Wrongly<unscaled>>},
    {"wrong axis", "not down a column", check<Wrongly<by_column>>},
    {"sum of squares", "the root of the sum", check<Wrongly<total>>},
    {"without 1e-5", "1e-5 is missing", check<Wrongly<no_eps>>},
    {"axis 1", "Axis 1", check<Wrongly<axis_1>>},
    {"detached", "the gradient of x", check<Wrongly<detached>>},
    {"a bias", "lists more than weight", check<Wrongly<more>>},
    {"a bias that is not listed", "visit()", check<Wrongly<forgotten>>},
    {"hard-coded", "MyRMSNorm of random x", check<Wrongly<constant>>},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) { return of_check::judge(argc, argv, of_check::check<MyRMSNorm>); }
