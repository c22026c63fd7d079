// That gradcheck and check_op notice what they are there to notice: wrong and missing gradients, random results, graphs
// that own themselves.
#include "engine/watch/gradcheck.h"

#include "engine/ops/ops.h"
#include "tests/sentences.h"
#include "tests/support.h"

namespace mote::test::gradcheck_test {
namespace {

const std::vector<Array> two{random_array({2, 3}, 1), random_array({3}, 2)};

TEST_CASE("gradcheck: a right gradient passes, of results of any shape, in both modes") {
  for (const auto mode : {GradcheckOptions::Mode::full, GradcheckOptions::Mode::directional}) {
    const GradcheckResult r = gradcheck([](In x) { return x[0] * x[1] + x[0]; }, two, {.mode = mode});
    CHECK_MESSAGE(r.ok, r.text);
    CHECK(static_cast<bool>(r));
    CHECK(r.worst < (f64 ? 1e-8 : 1e-3));
    CHECK(r.without_gradient.empty());
    CHECK(gradcheck([](In x) { return sum(exp(x[0]) * x[1]); }, two, {.mode = mode}).ok);
    CHECK(gradcheck([](In x) { return x[0]; }, two, {.mode = mode}).ok);  // x[1] counts nowhere, and has gradient 0
  }
}

TEST_CASE("gradcheck: a gradient of the wrong size, sign or place fails, and the worst element is named") {
  for (const real factor : {real(1.001), real(0.999), real(-1), real(0)}) {
    if (!f64 && std::abs(factor) > real(0.9) && factor > 0) continue;  // float sees one part in a hundred
    for (const auto mode : {GradcheckOptions::Mode::full, GradcheckOptions::Mode::directional})
      for (std::size_t i = 0; i < 2; ++i) {
        const auto f = [&](In in) {
          std::vector<Tensor> x = in;
          x[i] = wrong_gradient(in[i], factor);
          return x[0] * x[1];
        };
        const GradcheckResult r = gradcheck(f, two, {.mode = mode});
        CHECK_FALSE(r.ok);
        CHECK_MESSAGE(r.text.find("input " + std::to_string(i)) != std::string::npos, r.text);
      }
  }
  for (const real factor : {real(2), nan}) {
    const auto one_place = [factor](In x) {  // the gradient of element [1, 2] alone is doubled, or NaN
      Op op("one_place", x[0]);
      return op.record(x[0].array() * real(3), save(factor), [](const Array& dy, Grads& dx, real times) {
        Array d = copy_of(dy * real(3));
        d.mutate()[5] *= times;
        dx.add(0, d);
      });
    };
    const GradcheckResult r = gradcheck(one_place, two);
    CHECK_FALSE(r.ok);
    CHECK_MESSAGE(r.text.rfind("input 0 at [1, 2]: backward gives ", 0) == 0, r.text);
  }
}

TEST_CASE("gradcheck: step and tolerance are those asked for") {
  const auto cube = [](In x) { return x[0] * x[0] * x[0]; };  // ((x + h)^3 - (x - h)^3) / 2h = 3 x^2 + h^2
  const GradcheckResult wide = gradcheck(cube, {array({}, {1})}, {.step = 0.5});
  CHECK_FALSE(wide.ok);
  CHECK(wide.worst == doctest::Approx(0.25 / 3.25));
  CHECK(gradcheck(cube, {array({}, {1})}, {.tolerance = 0.1, .step = 0.5}).ok);
}

TEST_CASE("gradcheck: NaN is an error, so are results without a gradient and results that change from call to call") {
  const GradcheckResult with_nan = gradcheck([](In x) { return log(x[0]); }, {array({2}, {1, -1})});
  CHECK_FALSE(with_nan.ok);
  CHECK_MESSAGE(with_nan.text.find("differences give nan") != std::string::npos, with_nan.text);
  const GradcheckResult detached = gradcheck([](In x) { return x[0].detach(); }, two);
  CHECK_FALSE(detached.ok);
  CHECK(detached.text == "the result depends on none of the inputs: no gradient is tracked");
  Generator random(1);
  const GradcheckResult drawn = gradcheck([&](In x) { return dropout(x[0], 0.5, random); }, {random_array({50}, 1)});
  CHECK_FALSE(drawn.ok);
  CHECK(drawn.text.rfind("two calls with the same inputs give different results", 0) == 0);
}

TEST_CASE("gradcheck: parameters are named, restored, and those that nothing reached are listed") {
  const Parameter weight(random_array({3, 2}, 1)), bias(random_array({3}, 2)), unused(random_array({4}, 3)),
      frozen(random_array({2}, 4));
  frozen.set_trainable(false);
  weight.set_grad(Array::full({3, 2}, 7));
  const Array x = random_array({5, 2}, 5), before = copy_of(weight.value());
  const std::vector<std::pair<std::string, Parameter>> all{
      {"w", weight}, {"b", bias}, {"also w", weight}, {"spare", unused}, {"frozen", frozen}};
  const auto model = [&] { return mean(tanh(linear(x * frozen, weight, bias))); };
  for (const auto mode : {GradcheckOptions::Mode::full, GradcheckOptions::Mode::directional}) {
    const GradcheckResult r = gradcheck(model, all, {.mode = mode});
    CHECK_MESSAGE(r.ok, r.text);
    CHECK(r.without_gradient == std::vector<std::string>{"spare"});
    CHECK(r.text.find("; spare received no gradient") != std::string::npos);
    CHECK(same_bits(weight.value(), before));
    CHECK(same_bits(weight.grad(), Array::full({3, 2}, 7)));
    CHECK_FALSE(bias.grad().defined());
    const auto wrong = [&] { return mul(model(), real(10)) + mean(wrong_gradient(bias, real(0.5))); };
    const GradcheckResult bad = gradcheck(wrong, all, {.mode = mode});
    CHECK_FALSE(bad.ok);
    CHECK_MESSAGE(bad.text.find(mode == GradcheckOptions::Mode::full ? "b at [" : "a random direction in b: ") == 0,
                  bad.text);
    // a parameter that counts but is cut off from the gradient is wrong, not merely without one
    const GradcheckResult cut =
        gradcheck([&] { return mean(tanh(linear(x, Tensor(weight).detach(), bias))); }, all, {.mode = mode});
    CHECK_FALSE(cut.ok);
    CHECK(cut.without_gradient == std::vector<std::string>{"w", "spare"});
  }
  const auto broken = [&]() -> Tensor { throw Error("no"); };
  REFUSES((void)gradcheck(broken, all));
  CHECK(same_bits(weight.grad(), Array::full({3, 2}, 7)));
}

TEST_CASE("gradcheck: kinks ten steps away do no harm, in a thousand draws") {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const Array x = random_off_zero({4}, seed);
    const GradcheckResult r =
        gradcheck([](In t) { return abs(t[0]) + relu(t[0]) + clamp(t[0], 0); }, {x}, {.step = f64 ? 1e-6 : 4e-3});
    CHECK_MESSAGE(r.ok, r.text);
  }
}

}  // namespace
}  // namespace mote::test::gradcheck_test
