// check_module's own test: modules with one mistake each, and that it is noticed.
#include "tests/check_module.h"

#include "engine/ops/ops.h"
#include "nn/dropout.h"
#include "nn/linear.h"
#include "tests/nn/oracles.h"

namespace mote::test::check_module_test {
namespace {

/// Which mistake a Flawed has.
enum class Flaw { none, parameter, child, module, stream, gradient, unused, draws };

/// scale * fc(x), or nearly.
struct Flawed : Layer<Flawed> {
  Linear fc;
  Parameter scale;
  Dropout drop;
  Generator noise;
  Flaw flaw;

  Flawed(Generator& random, Flaw mistake)
      : fc(2, 3, random), scale(Array::full({3}, 2)), drop(0.5, random), noise(5), flaw(mistake) {}
  Tensor forward(const Tensor& x) const {
    const Tensor y = fc(x);
    if (flaw == Flaw::unused) return y;
    if (flaw == Flaw::draws && !training()) drop.random.next_u32();
    if (flaw == Flaw::gradient) return y * wrong_gradient(scale, real(1.01));
    const real shift = training() ? noise.uniform_float() : real(0);
    return drop(y * Tensor(scale)) + shift;
  }
  void visit(Visitor& v) override {
    if (flaw != Flaw::child) v("fc", fc);
    if (flaw != Flaw::parameter) v("scale", scale);
    if (flaw != Flaw::module) v("drop", drop);
    if (flaw != Flaw::stream) v.stream("noise", noise);
  }
};

/// Whether the first thing that check_module has to say begins so; "" if it has nothing to say.
bool begins(const std::vector<std::string>& problems, const std::string& text) {
  INFO((problems.empty() ? "nothing" : problems[0]));
  return text.empty() ? problems.empty() : !problems.empty() && problems[0].starts_with(text);
}

TEST_CASE("check_module finds nothing in a module without mistakes, and each mistake in one with it") {
  const std::pair<Flaw, std::string> expected[] = {
      {Flaw::none, ""},
      {Flaw::parameter, "visit() lists 2 of 3 parameters"},
      {Flaw::child, "visit() lists 1 of 3 parameters"},
      {Flaw::module, "visit() of Flawed does not list the Dropout that it calls: eval() would not reach it"},
      {Flaw::stream, "the same call gives other bits: does visit() list every random stream?"},
      {Flaw::gradient, f64 ? "scale at [" : ""},  // in float by an oracle alone
      {Flaw::unused, "scale receives no gradient"},
      {Flaw::draws, "evaluation draws random numbers"}};
  for (const std::pair<Flaw, std::string>& e : expected)
    CHECK_MESSAGE(begins(module_problems([&](Generator& random) { return Flawed(random, e.first); },
                                         [](const Flawed& m, In x) { return m(x[0]); },
                                         {.names = {"fc.weight", "fc.bias", "scale"},
                                          .inputs = {random_array({2, 2}, 1)},
                                          .error = [](const Flawed& m) { m(Tensor(zeros_of(1, 5))); },
                                          .error_text = "linear: x [1, 5] needs a last extent of 2 for weight [3, 2] "
                                                        "(in fc)"}),
                         e.second),
                  e.second);
}

TEST_CASE("check_module notices wrong names, errors, values and, by an oracle, gradients") {
  const auto problems = [](ModuleOptions<Linear> options, double factor = 1) {
    options.inputs = {random_array({3, 2}, 1)};
    return module_problems([](Generator& random) { return Linear(2, 2, random, false); },
                           [=](const Linear& m, In x) { return m(wrong_gradient(x[0], static_cast<real>(factor))); },
                           options);
  };
  const ModuleOracle zeros = [](const Weights&, const std::vector<Value>&) { return Row(6, 0.0); },
                     right = [](const Weights&w, const std::vector<Value>&x) { return linear_oracle(w, "", x[0].x); };
  const std::vector<std::string> names{"weight"};
  CHECK(begins(problems({.names = names, .oracle = right}), ""));
  if (!f64)
    CHECK(begins(problems({.names = names, .oracle = right}, 1.01),
                 "the gradient of input 0 differs from the oracle's by 0.0"));
  CHECK(begins(problems({.names = names, .oracle = zeros}), "the value differs from the oracle's"));
  CHECK(begins(problems({.names = {"bias"}}), "'weight ' should be 'bias '"));
  CHECK(begins(problems({.names = names, .error = [](const Linear&) {}, .error_text = "linear: no (in Linear)"}),
               "'(no error)' should be 'linear: no (in Linear)'"));
}

}  // namespace
}  // namespace mote::test::check_module_test
