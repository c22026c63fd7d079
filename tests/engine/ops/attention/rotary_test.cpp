// The rotary op against complex numbers in double.
#include "engine/ops/rotary.h"

#include <complex>

#include "tests/sentences.h"
#include "tests/support.h"

namespace mote::test::rotary_test {
namespace {

struct Angles {
  Array cosines, sines;
  Angles(Index length, Index pairs) : cosines(Array::empty({length, pairs})), sines(Array::empty({length, pairs})) {
    for (Index i = 0; i < length * pairs; ++i) {
      const double angle = 0.3 * static_cast<double>(i) - 1;
      cosines.mutate()[i] = static_cast<real>(std::cos(angle));
      sines.mutate()[i] = static_cast<real>(std::sin(angle));
    }
  }
};

/// (x[i] + x[i + r/2] sqrt(-1)) * e^(angle sqrt(-1)) for i < r/2: a turn in the complex plane.
std::vector<double> turned(const Value& x, const Angles& angles) {
  std::vector<double> y = x.x;
  const Index length = x.shape[-2], width = x.shape[-1], pairs = angles.cosines.shape()[1];
  for (Index row = 0; row < x.shape.numel() / std::max<Index>(width, 1); ++row)
    for (Index i = 0; i < pairs; ++i) {
      const auto first = static_cast<std::size_t>(row * width + i), second = first + static_cast<std::size_t>(pairs);
      const std::complex<double> turn(static_cast<double>(angles.cosines.at({row % length, i})),
                                      static_cast<double>(angles.sines.at({row % length, i})));
      const std::complex<double> z = std::complex<double>(x.x[first], x.x[second]) * turn;
      y[first] = z.real();
      y[second] = z.imag();
    }
  return y;
}

TEST_CASE("rotary against complex numbers; a partial turn leaves the other columns") {
  const Tensor wrong = Array::zeros({2, 3, 4});
  for (const Index pairs : {3, 2, 1, 0}) {
    const Angles angles(4, pairs);
    for (const Shape& shape : {Shape{4, 6}, Shape{2, 3, 4, 6}, Shape{1, 4, 7}}) {
      check_op(
          "rotary", [&](In x) { return rotary(x[0], angles.cosines, angles.sines); },
          [&](const std::vector<Value>& x) { return turned(x[0], angles); }, {random_array(shape, 3)},
          {.any_layout = shape.rank() > 2,  // the only leading axis is the length: one of 4 equal rows is not the same
           .empty = {Array::zeros(shape.rank() > 2 ? shape.with(0, 0) : Shape{0, 4, 6})},
           .error = [&] { rotary(wrong, zeros_of(3, 3).array(), zeros_of(3, 3).array()); },
           .error_text = "rotary: cosines [3, 3] rotate 6 columns, but a head of x [2, 3, 4] has 4"});
      const Array x = random_array(shape, 3), y = rotary(x, angles.cosines, angles.sines).array();
      CHECK(same_bits(y.slice(-1, 2 * pairs, shape[-1]), x.slice(-1, 2 * pairs, shape[-1])));
    }
  }
}

TEST_CASE("rotary: angles as views, and what does not fit") {
  const Array x = random_array({3, 4, 6}, 1);
  const Angles angles(4, 3);
  CHECK(same_bits(rotary(x, transposed_layout(angles.cosines), strided_layout(angles.sines)).array(),
                  rotary(x, angles.cosines, angles.sines).array()));
  const Tensor row = Array::zeros({4}), y = x;
  REFUSES(rotary(row, angles.cosines, angles.sines));
  REFUSES(rotary(y, zeros_of(3, 3).array(), zeros_of(3, 3).array()));
  REFUSES(rotary(y, zeros_of(4, 3).array(), zeros_of(4, 2).array()));
  REFUSES(rotary(y, Array::zeros({4}), Array::zeros({4})));
  const Array turns = Array::zeros({4, 1});
  const auto over = [&](Index heads, Index width) { return error_of([&] { rotary(y, turns, turns, heads, width); }); };
  CHECK(over(-1, 2) == "rotary: heads -1 must be at least 0");
  CHECK(over(2, -2) == "rotary: width -2 must be at least 0");
  CHECK(over(Index(1) << 62, 4) ==
        "rotary: x [3, 4, 6] has 6 columns, too few for 4611686018427387904 heads of width 4");
  const Tensor empty = rotary(Tensor(Array::zeros({2, 0, 6})), Array::zeros({0, 3}), Array::zeros({0, 3}));
  CHECK(empty.shape() == Shape{2, 0, 6});
}

}  // namespace
}  // namespace mote::test::rotary_test
