// Tensors that were never computed, where check_op does not try them, and those that were moved from.

#include "engine/ops/ops.h"
#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::undefined_input_test {
namespace {

TEST_CASE("undefined inputs: one sentence, whatever the op") {
  const Tensor none, x = ones({2, 2});
  const auto check_error = [](const std::string& op, const auto& f) {
    CHECK(error_of(f) == op + ": " + Array::not_defined);
  };
  check_error("argmax", [&] { argmax(none); });
  check_error("where", [&] { where(mask({true}), none, x); });
  check_error("where", [&] { where(mask({true}), x, none); });
  check_error("expand", [&] { expand(none, {2}); });
  check_error("gather", [&] { gather(none, 0, ints({0})); });
  check_error("take_rows", [&] { take_rows(none, std::vector<Index>{0}); });
  check_error("cross_entropy", [&] { cross_entropy(none, ints({0})); });
  check_error("multinomial", [&] { multinomial(none, 1, Generator(1)); });
  check_error("requires_grad_", [&] { Tensor().requires_grad_(); });
  check_error("backward", [&] { none.backward(); });
  check_error("backward", [&] { none.backward(Array::zeros({2})); });
  CHECK(error_of([&] { cross_entropy(x, IntArray()); }) == std::string("cross_entropy: ") + IntArray::not_defined);
  CHECK(error_of([&] { take_rows(IntArray(), {0}); }) == std::string("take_rows: ") + IntArray::not_defined);
  CHECK(error_of([&] { embedding(x, IntArray()); }) == std::string("embedding: ") + IntArray::not_defined);
  CHECK(error_of([&] { masked_softmax(x, Mask()); }) == std::string("masked_softmax: ") + Mask::not_defined);
}

TEST_CASE("undefined inputs: one that may be left out may not be moved from") {
  const Tensor x = ones({1, 2}), weight = ones({2, 2});
  Tensor bias = ones({2});
  const Tensor kept = std::move(bias);
  REFUSES(linear(x, weight, bias));
  REFUSES(layer_norm(x, Tensor(), bias));
  CHECK(linear(x, weight, Tensor()).to_vector() == std::vector<real>{2, 2});
}

TEST_CASE("undefined inputs: parameters") {
  CHECK(error_of([] { Parameter{Array()}; }) == std::string("parameter: ") + Array::not_defined);
  const Parameter p(Array::full({2}, 1));
  CHECK(error_of([&] { p.set(Array()); }) == std::string("set: ") + Array::not_defined);
  CHECK(error_of([&] { p.set_grad(Array()); }) == std::string("set_grad: ") + Array::not_defined);
  CHECK_FALSE(Tensor(Parameter()).defined());  // never given is something else
}

}  // namespace
}  // namespace mote::test::undefined_input_test
