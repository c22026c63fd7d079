// What is here: check_module's own test: modules with one mistake each, and that it is noticed.
// What is not: the library's layers (linear_test.cpp and its neighbours).
// Read next: linear_test.cpp.
#include "tests/check_module.h"

#include "engine/ops/ops.h"
#include "nn/dropout.h"
#include "nn/linear.h"

namespace mote::test {
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

void check_flawed(Flaw flaw) {
  check_module("Flawed", [flaw](Generator& random) { return Flawed(random, flaw); },
               [](const Flawed& m, In x) { return m(x[0]); },
               {.names = {"fc.weight", "fc.bias", "scale"},
                .inputs = {random_array({2, 2}, 1)},
                .error = [](const Flawed& m) { m(Tensor(Array::zeros({1, 5}))); },
                .error_text = "linear: x [1, 5] needs a last extent of 2 for weight [3, 2] (in fc)"});
}

TEST_CASE("check_module passes a module without mistakes, with dropout in training") { check_flawed(Flaw::none); }

TEST_CASE("check_module tells which fields visit() forgot") {
  const auto forgotten = [](Flaw flaw) {
    return forgotten_fields([flaw](Generator& random) { return Flawed(random, flaw); });
  };
  CHECK(forgotten(Flaw::none) == "");
  CHECK(forgotten(Flaw::parameter) == "visit() lists 2 of 3 parameters");
  CHECK(forgotten(Flaw::child) == "visit() lists 1 of 3 parameters and 2 of 3 modules");
}

// These must fail: each has one mistake that check_module is there to notice.
TEST_CASE("check_module fails for a forgotten parameter" * doctest::should_fail()) { check_flawed(Flaw::parameter); }
TEST_CASE("check_module fails for a forgotten child" * doctest::should_fail()) { check_flawed(Flaw::child); }
TEST_CASE("check_module fails for a parameter that nothing uses" * doctest::should_fail()) { check_flawed(Flaw::unused); }
TEST_CASE("check_module fails for draws in evaluation" * doctest::should_fail()) { check_flawed(Flaw::eval_draws); }
TEST_CASE("check_module fails for a wrong gradient" * doctest::should_fail(f64) * doctest::skip(!f64)) {
  check_flawed(Flaw::gradient);
}
TEST_CASE("check_module fails for a wrong value, and in float too for a wrong gradient" * doctest::should_fail()) {
  check_module("Linear", [](Generator& random) { return Linear(2, 2, random, false); },
               [](const Linear& m, In x) { return m(x[0]); },
               {.names = {"weight"}, .inputs = {random_array({1, 2}, 1)},
                .oracle = [](const Weights& w, const std::vector<Value>& x) {
                  return std::vector<double>{w.at("weight").x[0] * x[0].x[0], 0};
                }});
}
TEST_CASE("check_module fails for unexpected names" * doctest::should_fail()) {
  check_module("Linear", [](Generator& random) { return Linear(2, 2, random); },
               [](const Linear& m, In x) { return m(x[0]); }, {.names = {"bias", "weight"}, .inputs = {random_array({1, 2}, 1)}});
}

}  // namespace
}  // namespace mote::test
