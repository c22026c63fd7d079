// check_module's own test: modules with one mistake each, and that it is noticed.
#include "tests/check_module.h"

#include "engine/ops/ops.h"
#include "nn/dropout.h"
#include "nn/linear.h"
#include "tests/nn/oracles.h"

namespace mote::test::check_module_test {
namespace {

/// Which mistake a Flawed has.
enum class Flaw { none, parameter, child, gradient, unused, eval_draws, draws };

/// scale * fc(x), or nearly.
struct Flawed : Layer<Flawed> {
  Linear fc;
  Parameter scale;
  Dropout drop;
  Flaw flaw;

  Flawed(Generator& random, Flaw mistake)
      : fc(2, 3, random), scale(Array::full({3}, 2)), drop(0.5, random), flaw(mistake) {}
  Tensor forward(const Tensor& x) const {
    const Tensor y = fc(x);
    if (flaw == Flaw::unused) return y;
    if (flaw == Flaw::eval_draws && !training()) drop.random.next_u32();
    if (flaw == Flaw::gradient) return y * wrong_gradient(scale, real(1.01));
    return drop(y * Tensor(scale));
  }
  void visit(Visitor& v) override {
    if (flaw != Flaw::child) v("fc", fc);
    if (flaw != Flaw::parameter) v("scale", scale);
    v("drop", drop);
  }
};

std::vector<std::string> problems(Flaw flaw) {
  return module_problems([flaw](Generator& random) { return Flawed(random, flaw); },
                         [](const Flawed& m, In x) { return m(x[0]); },
                         {.names = {"fc.weight", "fc.bias", "scale"},
                          .inputs = {random_array({2, 2}, 1)},
                          .error = [](const Flawed& m) { m(Tensor(zeros_of(1, 5))); },
                          .error_text = "linear: x [1, 5] needs a last extent of 2 for weight [3, 2] (in fc)"});
}
bool noticed(const std::vector<std::string>& all, const std::string& problem) {
  return std::any_of(all.begin(), all.end(), [&](const std::string& p) { return p.rfind(problem, 0) == 0; });
}
std::vector<std::string> linear_problems(const ModuleOptions<Linear>& options) {
  return module_problems([](Generator& random) { return Linear(2, 2, random, false); },
                         [](const Linear& m, In x) { return m(x[0]); }, options);
}

TEST_CASE("check_module finds nothing in a module without mistakes, with dropout in training") {
  CHECK(problems(Flaw::none) == std::vector<std::string>{});
}

TEST_CASE("check_module tells which fields visit() forgot") {
  CHECK(problems(Flaw::parameter)[0] == "visit() lists 2 of 3 parameters");
  CHECK(problems(Flaw::child)[0] == "visit() lists 1 of 3 parameters and 2 of 3 modules");
}

/// Draws from a stream of its own, which visit() may forget.
struct Noisy : Layer<Noisy> {
  Linear fc;
  Generator noise;
  bool forget;
  Noisy(Generator& random, bool shared, bool forgetful)
      : fc(2, 3, random), noise(shared ? random : Generator(5)), forget(forgetful) {}
  Tensor forward(const Tensor& x) const {
    const Tensor y = fc(x);
    return training() ? dropout(y, 0, noise) : y;
  }
  void visit(Visitor& v) override {
    v("fc", fc);
    if (!forget) v.stream("noise", noise);
  }
};

TEST_CASE("check_module tells of a random stream that visit() forgot, shared with other layers or not") {
  for (const bool shared : {false, true})
    for (const bool forget : {false, true}) {
      const auto found = module_problems([&](Generator& random) { return Noisy(random, shared, forget); },
                                         [](const Noisy& m, In x) { return m(x[0]); },
                                         {.names = {"fc.weight", "fc.bias"}, .inputs = {random_array({2, 2}, 1)}});
      CHECK(found ==
            (forget ? std::vector<std::string>{"visit() lists 0 of 1 random streams"} : std::vector<std::string>{}));
    }
}

TEST_CASE("check_module notices a parameter that nothing uses, draws in evaluation") {
  CHECK(noticed(problems(Flaw::unused), "scale receives no gradient"));
  CHECK(problems(Flaw::eval_draws) == std::vector<std::string>{"evaluation draws random numbers"});
}

TEST_CASE("check_module notices a gradient that is off by a hundredth; in double on its own, in float by an oracle") {
  CHECK(noticed(problems(Flaw::gradient), "scale at [") == f64);
  const auto nearly = [](double factor) {
    return module_problems(
        [](Generator& random) { return Linear(2, 2, random, false); },
        [factor](const Linear& m, In x) { return m(wrong_gradient(x[0], static_cast<real>(factor))); },
        {.names = {"weight"},
         .inputs = {random_array({3, 2}, 1)},
         .oracle = [](const Weights& w, const std::vector<Value>& x) { return linear_oracle(w, "", x[0].x); }});
  };
  CHECK(nearly(1) == std::vector<std::string>{});
  CHECK(noticed(nearly(1.01), "the gradient of input 0 differs from the oracle's by 0.0"));
}

TEST_CASE("check_module notices wrong values, names and error texts") {
  const Array x = random_array({1, 2}, 1);
  const ModuleOracle zeros = [](const Weights&, const std::vector<Value>&) { return std::vector<double>{0, 0}; };
  CHECK(linear_problems({.names = {"weight"}, .inputs = {x}}) == std::vector<std::string>{});
  CHECK(noticed(linear_problems({.names = {"weight"}, .inputs = {x}, .oracle = zeros}),
                "the value differs from the oracle's"));
  CHECK(linear_problems({.names = {"bias"}, .inputs = {x}}) == std::vector<std::string>{"'weight ' should be 'bias '"});
  const auto nothing_thrown = linear_problems(
      {.names = {"weight"}, .inputs = {x}, .error = [](const Linear&) {}, .error_text = "linear: no (in Linear)"});
  CHECK(noticed(nothing_thrown, "'(no error)' should be 'linear: no (in Linear)'"));
}

}  // namespace
}  // namespace mote::test::check_module_test
