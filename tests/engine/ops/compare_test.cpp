// Comparisons, where, masked_fill, maximum, minimum, clamp: check_op, ties, NaN.
#include "engine/ops/compare.h"

#include "engine/ops/arithmetic.h"
#include "engine/ops/create.h"
#include "engine/ops/reduce.h"
#include "engine/ops/softmax.h"
#include "tests/sentences.h"
#include "tests/support.h"

namespace mote::test::compare_test {
namespace {

std::vector<int> bits(const Mask& m) { return {m.values().begin(), m.values().end()}; }
using Bits = std::vector<int>;

TEST_CASE("comparisons") {
  const Tensor a = array({4}, {1, 2, 3, nan}), b = array({4}, {2, 2, 2, nan});
  CHECK(bits(a < b) == Bits{1, 0, 0, 0});
  CHECK(bits(a <= b) == Bits{1, 1, 0, 0});
  CHECK(bits(a > b) == Bits{0, 0, 1, 0});
  CHECK(bits(a >= b) == Bits{0, 1, 1, 0});
  CHECK(bits(a == b) == Bits{0, 1, 0, 0});
  CHECK(bits(a != b) == Bits{1, 0, 1, 1});
  CHECK(bits(Tensor(array({2}, {0, -0.0})) == Tensor(real(0))) == Bits{1, 1});
  const Mask wide = Tensor(array({2, 1}, {0, 1})) < Tensor(array({3}, {0, 1, 2}));
  CHECK(wide.shape() == Shape{2, 3});
  CHECK(bits(wide) == Bits{0, 1, 1, 0, 0, 1});
  CHECK((zeros({0, 3}) < zeros({3})).shape() == Shape{0, 3});
  REFUSES((void)(zeros({2}) < zeros({3})));
  REFUSES((void)(zeros({2}) == zeros({3})));
}

TEST_CASE("where") {
  const Mask choice = mask({{true, false, true}, {false, false, true}});
  const auto f = [choice](In x) { return where(x[0].numel() ? choice : Mask(Shape{0, 3}), x[0], x[1]); };
  const Oracle oracle = [choice](const std::vector<Value>& in) {
    std::vector<double> y;
    for (std::size_t i = 0; i < in[0].x.size(); ++i) y.push_back(choice.data()[i] ? in[0].x[i] : in[1].x[i]);
    return y;
  };
  check_op("where", f, oracle, {random_array({2, 3}, 1), random_array({2, 3}, 2)},
           {.required = 0,
            .error = [choice] { where(choice, zeros({2}), zeros({1})); },
            .error_text = "where: shapes [2] and [2, 3] do not broadcast (axis -1: 2 against 3)"});
  const Tensor row = where(mask({{true}, {false}}), Tensor(real(1)), array({3}, {4, 5, 6}));
  CHECK(row.to_vector() == std::vector<real>{1, 1, 1, 4, 5, 6});
  // what is not chosen may be anything: neither value nor gradient sees it
  const Run r(
      [](In x) {
        return where(mask({true, false}), x[0], x[1]);
      },
      {array({2}, {1, nan}), array({2}, {nan, 2})});
  CHECK(r.y.to_vector() == std::vector<real>{1, 2});
  CHECK(r.dx[0].at({1}) == 0);
  check_gradient([choice](In x) { return where(choice, x[0], x[1]); }, {random_array({2, 1}, 1), random_array({}, 2)});
}

TEST_CASE("masked_fill") {
  const Mask blocked = mask({true, false, true, false});
  const Oracle oracle = [](const std::vector<Value>& in) {
    std::vector<double> y = in[0].x;
    for (std::size_t i = 0; i < y.size(); i += 2) y[i] = -7;
    return y;
  };
  check_op("masked_fill", [blocked](In x) { return masked_fill(x[0], blocked, -7); }, oracle, {random_array({3, 4}, 1)},
           {.error = [blocked] { masked_fill(zeros({3}), blocked, 0); },
            .error_text = "masked_fill: mask [4] does not broadcast to [3]"});
  REFUSES(masked_fill(zeros({3}), Mask(Shape{2, 3}), 0));
  const Array x = random_array({4}, 3), before = copy_of(x);
  masked_fill(x, blocked, -inf);
  CHECK(same_bits(x, before));  // the input keeps its numbers
  CHECK(masked_fill(array({4}, {nan, 1, nan, 2}), blocked, 0).to_vector() == std::vector<real>{0, 1, 0, 2});
}

TEST_CASE("maximum, minimum") {
  for (const bool larger : {true, false}) {
    const std::string name = larger ? "maximum" : "minimum";
    const OpFunction f = [=](In x) { return (larger ? maximum : minimum)(x[0], x[1]); };
    check_op(name, f, each([=](double a, double b) { return (a > b) == larger ? a : b; }),
             {distinct_array({3, 4}, 1), distinct_array({3, 4}, 2) + real(0.05)},
             {.broadcasts = true,
              .error =
                  [&] {
                    f({zeros({2}), zeros({3})});
                  },
              .error_text = name + ": shapes [2] and [3] do not broadcast (axis -1: 2 against 3)"});
  }
}

TEST_CASE("maximum, minimum: ties share the gradient, NaN wins from either side, in full vectors and in the rest") {
  const auto larger = [](In x) { return maximum(x[0], x[1]); };
  const Run tie(larger, {array({2}, {1, 3}), array({2}, {1, 2})}, array({2}, {1, 1}));
  CHECK(tie.dx[0].to_vector() == std::vector<real>{real(0.5), 1});
  CHECK(tie.dx[1].to_vector() == std::vector<real>{real(0.5), 0});
  const Array one = Array::full({35}, 1), none = Array::full({35}, nan);
  for (const kernels::Table* t : kernels::available_tables()) {
    const Hardware use(*t);
    CHECK(same_bits(maximum(one, none).array(), none));
    CHECK(same_bits(maximum(none, one).array(), none));
    CHECK(same_bits(minimum(one, none).array(), none));
    CHECK(same_bits(minimum(none, one).array(), none));
  }
}

TEST_CASE("clamp") {
  const auto f = [](In x) { return clamp(x[0], real(-0.8), real(1.1)); };
  check_op("clamp", f, each([](double x) { return x < real(-0.8)  ? real(-0.8)
                                                  : x > real(1.1) ? real(1.1)
                                                                  : x; }),
           {distinct_array({3, 7}, 1)},
           {.error = [] { clamp(zeros({1}), 2, 1); },
            .error_text = "clamp: the lower limit 2 must be at most the upper limit 1"});
  REFUSES(clamp(zeros({1}), nan, 1));
  const Run r([](In x) { return clamp(x[0], 0, 1); }, {array({5}, {-1, 0, 1, 2, nan})}, array({5}, {1, 1, 1, 1, 1}));
  CHECK(std::isnan(r.y.at({4})));
  CHECK(r.dx[0].to_vector() == std::vector<real>{0, 1, 1, 0, 0});
  CHECK(clamp(array({3}, {-inf, 5, inf}), 0).to_vector() == std::vector<real>{0, 5, inf});
}

TEST_CASE("ids compared with one id make a mask") {
  const IntArray ids = ints({{4, 7, 0}, {0, 4, 0}});
  CHECK((ids == 0).shape() == Shape{2, 3});
  CHECK(bits(ids == 0) == Bits{0, 0, 1, 1, 0, 1});
  CHECK(bits(ids != 0) == Bits{1, 1, 0, 0, 1, 0});
  CHECK((IntArray({2, 0}) == 1).shape() == Shape{2, 0});
}

TEST_CASE("where, masked_fill, masked_softmax: masks in any layout") {
  const Mask square = mask({{true, false, true}, {false, true, true}, {true, false, false}});
  const Mask turned = square.transpose(0, 1), row = square.select(1, 0), column = row.unsqueeze(1),
             stepped = square.slice(0, 0, 3, 2).slice(1, 0, 3, 2).select(0, 1).expand({2, 3, 2}).slice(2, 1, 2);
  const Tensor x = random_array({2, 3, 3}, 1), z = random_array({2, 3, 3}, 2);
  for (const Mask& m : {turned, row, column, stepped, turned.expand({2, 3, 3}), square.slice(0, 1, 2)}) {
    CAPTURE(text_of(m.shape()));
    const Mask copied = copy_of(m);
    const auto run = [&](const Mask& by) {
      const OpFunction f = [&](In in) {
        return masked_softmax(where(by, in[0], in[1]), by) + masked_fill(in[1], by, 7);
      };
      return Run(f, {x.array(), z.array()});
    };
    CHECK(run(m) == run(copied));
    CHECK(run(m) == run(copy_of(broadcast_to(m, {2, 3, 3}))));
    CHECK((~m).to_vector() == (~copied).to_vector());
  }
  CHECK(masked_fill(tensor({{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}), turned, 0).to_vector() ==
        std::vector<real>{0, 2, 0, 4, 0, 6, 0, 0, 9});
}

TEST_CASE("ids == ids: in any layout; its errors") {
  const IntArray a = ints({{1, 2, 3}, {4, 5, 6}}), b = ints({{1, 5}, {4, 5}, {3, 6}});
  const Mask m = a == b.transpose(0, 1);
  CHECK(tensor(m).array().to_vector() == std::vector<real>{1, 0, 1, 0, 1, 1});
  CHECK(mean(tensor(m)).item() == real(4) / real(6));
  REFUSES(all(a == b));
  REFUSES(all(IntArray() == b));
  REFUSES(all(a == IntArray()));
}

TEST_CASE("equal, allclose: PyTorch's answers") {
  CHECK(equal(tensor({1, 2}), tensor({1, 2})));
  CHECK_FALSE(equal(tensor({1, 2}), tensor({{1, 2}})));
  CHECK_FALSE(equal(Tensor(nan), Tensor(nan)));
  CHECK(allclose(array({2}, {1, inf}), array({2}, {1, inf})));
  CHECK_FALSE(allclose(array({2}, {1, inf}), array({2}, {1, -inf})));
  CHECK_FALSE(allclose(Tensor(1), Tensor(inf)));
  CHECK_FALSE(allclose(Tensor(inf), Tensor(1), 1e-5, inf));
  CHECK_FALSE(allclose(Tensor(inf), Tensor(1)));
  CHECK_FALSE(allclose(Tensor(nan), Tensor(nan)));
  CHECK(allclose(Tensor(nan), Tensor(nan), 1e-5, 1e-8, true));
  CHECK(allclose(tensor(10000.1), tensor(1e4)));
  CHECK_FALSE(allclose(tensor(10000.2), tensor(1e4)));
  CHECK(allclose(zeros({2, 3}), zeros({3})));
  CHECK(allclose(zeros({0}), ones({0})));
  REFUSES(allclose(zeros({2}), zeros({3})));
}

}  // namespace
}  // namespace mote::test::compare_test
