// A gallery of what torch 1.13.1 prints (str of a tensor, torch.set_printoptions where options are given).
#include "engine/autograd/print.h"

#include <doctest/doctest.h>

#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "engine/base/check.h"
#include "tests/comma_locale.h"

namespace mote::test::print_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

std::string floats(const std::vector<double>& values, const Shape& shape, const PrintOptions& options = {}) {
  const std::vector<real> numbers(values.begin(), values.end());
  REQUIRE(static_cast<Index>(numbers.size()) == shape.numel());
  return to_text(Array(shape, numbers), options);
}

/// 0, step, 2 step, ...
std::string counting(const Shape& shape, double step = 1, const PrintOptions& options = {}) {
  std::vector<real> numbers(static_cast<std::size_t>(shape.numel()));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<real>(static_cast<double>(i) * step);
  return to_text(Array(shape, numbers), options);
}

std::string integers(const std::vector<Index>& values, const Shape& shape, const PrintOptions& options = {}) {
  return to_text(IntArray(shape, values), options);
}

std::string booleans(const std::vector<std::uint8_t>& values, const Shape& shape, const PrintOptions& options = {}) {
  return to_text(Mask(shape, values), options);
}

template <class... Parts>
std::string streamed(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

TEST_CASE("print: one number, no numbers") {
  CHECK(floats({1.5}, {}) == "tensor(1.5000)");
  CHECK(floats({3}, {}) == "tensor(3.)");
  CHECK(floats({0}, {}) == "tensor(0.)");
  CHECK(floats({1.5e-5}, {}) == "tensor(1.5000e-05)");
  CHECK(floats({nan}, {}) == "tensor(nan)");
  CHECK(floats({}, {0}) == "tensor([])");
  CHECK(floats({}, {0, 3}) == "tensor([], size=(0, 3))");
  CHECK(to_text(Array::zeros({2, 0})) == "tensor([], size=(2, 0))");
}

TEST_CASE("print: whole, fractional and scientific") {
  CHECK(floats({1, 2, 3}, {3}) == "tensor([1., 2., 3.])");
  CHECK(floats({0, -0.0, 0}, {3}) == "tensor([0., -0., 0.])");
  CHECK(floats({1, 1000}, {2}) == "tensor([   1., 1000.])");
  CHECK(floats({1, 1001}, {2}) == "tensor([1.0000e+00, 1.0010e+03])");
  CHECK(floats({1e8, 1e8}, {2}) == "tensor([100000000., 100000000.])");
  CHECK(floats({1e8, 2e8}, {2}) == "tensor([1.0000e+08, 2.0000e+08])");
  CHECK(floats({1.0 / 8192, 0.01}, {2}) == "tensor([0.0001, 0.0100])");
  CHECK(floats({9e-5, 0.01}, {2}) == "tensor([9.0000e-05, 1.0000e-02])");
  CHECK(floats({0.5, 600}, {2}) == "tensor([5.0000e-01, 6.0000e+02])");
  CHECK(floats({0.03125, 0.09375, 123.456}, {3}) == "tensor([3.1250e-02, 9.3750e-02, 1.2346e+02])");
  CHECK(floats({0.5, 0.25, 1e-30, 0}, {2, 2}) == R"(tensor([[5.0000e-01, 2.5000e-01],
        [1.0000e-30, 0.0000e+00]]))");
}

TEST_CASE("print: NaN and infinities have no say in the form") {
  CHECK(floats({0, nan, inf}, {3}) == "tensor([0., nan, inf])");
  CHECK(floats({-nan}, {1}) == "tensor([nan])");
  CHECK(floats({1.25, nan, -inf, -3}, {2, 2}) == R"(tensor([[ 1.2500,     nan],
        [   -inf, -3.0000]]))");
}

TEST_CASE("print: options") {
  CHECK(floats({0.5, -0.125}, {2}, {.precision = 2}) == "tensor([ 0.50, -0.12])");
  CHECK(floats({1, 2}, {2}, {.scientific = Scientific::on}) == "tensor([1.0000e+00, 2.0000e+00])");
  // Switched off, the columns keep the width of the scientific form: so in PyTorch.
  CHECK(floats({1, 2000}, {2}, {.scientific = Scientific::off}) == "tensor([        1.,      2000.])");
  CHECK(floats({1, 2000}, {2}, {.scientific = Scientific::off, .version = 209}) == "tensor([   1., 2000.])");
  CHECK(floats({1, 2}, {2}, {.scientific = Scientific::on, .version = 209}) == "tensor([1.0000e+00, 2.0000e+00])");
  CHECK(floats({1, 2000}, {2}, {.version = 209}) == floats({1, 2000}, {2}));
  CHECK(counting({3, 4}, 1, {.threshold = 5, .edgeitems = 1}) == R"(tensor([[ 0.,  ...,  3.],
        ...,
        [ 8.,  ..., 11.]]))");
  CHECK_THROWS_WITH_AS(counting({1}, 1, {.precision = 101}), "to_text: precision 101 is outside [0, 100]", Error);
  CHECK_THROWS_WITH_AS(counting({1}, 1, {.edgeitems = 0}), "to_text: edgeitems 0 must be at least 1", Error);
}

TEST_CASE("print: ranks and line breaks") {
  CHECK(floats({-2, -1.75, -1.5, -1.25, -1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75}, {2, 2, 3}) ==
        R"(tensor([[[-2.0000, -1.7500, -1.5000],
         [-1.2500, -1.0000, -0.7500]],

        [[-0.5000, -0.2500,  0.0000],
         [ 0.2500,  0.5000,  0.7500]]]))");
  CHECK(counting({2, 1, 2, 2}) == R"(tensor([[[[0., 1.],
          [2., 3.]]],


        [[[4., 5.],
          [6., 7.]]]]))");
  CHECK(counting({14}, 1.5) == R"(tensor([ 0.0000,  1.5000,  3.0000,  4.5000,  6.0000,  7.5000,  9.0000, 10.5000,
        12.0000, 13.5000, 15.0000, 16.5000, 18.0000, 19.5000]))");
  CHECK(counting({2, 5}, 100.25, {.linewidth = 40}) == R"(tensor([[  0.0000, 100.2500, 200.5000,
         300.7500, 401.0000],
        [501.2500, 601.5000, 701.7500,
         802.0000, 902.2500]]))");
}

TEST_CASE("print: large arrays show their edges") {
  CHECK(counting({1001}) == "tensor([   0.,    1.,    2.,  ...,  998.,  999., 1000.])");
  CHECK(counting({1000}).size() > 5000);  // not yet above the threshold
  CHECK(counting({1000, 1000}) == R"(tensor([[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 9.9700e+02, 9.9800e+02,
         9.9900e+02],
        [1.0000e+03, 1.0010e+03, 1.0020e+03,  ..., 1.9970e+03, 1.9980e+03,
         1.9990e+03],
        [2.0000e+03, 2.0010e+03, 2.0020e+03,  ..., 2.9970e+03, 2.9980e+03,
         2.9990e+03],
        ...,
        [9.9700e+05, 9.9700e+05, 9.9700e+05,  ..., 9.9800e+05, 9.9800e+05,
         9.9800e+05],
        [9.9800e+05, 9.9800e+05, 9.9800e+05,  ..., 9.9900e+05, 9.9900e+05,
         9.9900e+05],
        [9.9900e+05, 9.9900e+05, 9.9900e+05,  ..., 1.0000e+06, 1.0000e+06,
         1.0000e+06]]))");
}

TEST_CASE("print: integers and booleans") {
  CHECK(integers({7}, {}) == "tensor(7)");
  CHECK(integers({1, -20, 300}, {3}) == "tensor([  1, -20, 300])");
  CHECK(integers({std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}, {1, 2}) ==
        "tensor([[ 9223372036854775807, -9223372036854775808]])");
  CHECK(integers({}, {0}) == "tensor([], dtype=torch.int64)");
  CHECK(booleans({1}, {}) == "tensor(True)");
  CHECK(booleans({}, {2, 0}) == "tensor([], size=(2, 0), dtype=torch.bool)");
  CHECK(booleans({1, 0, 0, 0}, {2, 2}) == R"(tensor([[ True, False],
        [False, False]]))");
}

TEST_CASE("print: precisions, ties to even, the last digit of a float") {
  CHECK(floats({0.5, 1.5, 2.5, -0.5}, {4}, {.precision = 0}) == "tensor([ 0,  2,  2, -0])");
  CHECK(floats({0.5, 1.5, 2.5, -0.5}, {4}, {.precision = 0, .scientific = Scientific::on}) ==
        "tensor([5e-01, 2e+00, 2e+00, -5e-01])");  // wider than its own choice: not aligned
  CHECK(floats({0.125, 0.375, -0.625}, {3}, {.precision = 2}) == "tensor([ 0.12,  0.38, -0.62])");
  CHECK(floats({0.00015, 0.99995, 9.99995}, {3}) == "tensor([1.5000e-04, 9.9995e-01, 1.0000e+01])");
  CHECK(floats({1, 10, 100}, {3}, {.precision = 8}) == "tensor([  1.,  10., 100.])");
  const bool is_float = sizeof(real) == 4;
  CHECK(floats({1.0 / 3, 0.1}, {2}, {.precision = 8}) ==
        (is_float ? "tensor([0.33333334, 0.10000000])" : "tensor([0.33333333, 0.10000000])"));
  CHECK(floats({3e38, -1}, {2}, {.scientific = Scientific::off}) ==
        (is_float ? "tensor([300000000549775575777803994281145270272.,         -1.])"
                  : "tensor([300000000000000012135895401846682943488.,         -1.])"));
  CHECK(floats({0, -0.0, nan}, {3}, {.scientific = Scientific::on}) ==
        "tensor([0., -0., nan])");  // nothing to choose by
  CHECK(floats({nan, inf, -inf, 0}, {2, 2}) == R"(tensor([[nan, inf],
        [-inf, 0.]]))");
}

TEST_CASE("print: thresholds and line widths at their limits") {
  CHECK(to_text(Array::full({1, 1, 9}, real(1.5))) ==  // in 81 columns there would be room for nine
        R"(tensor([[[1.5000, 1.5000, 1.5000, 1.5000, 1.5000, 1.5000, 1.5000, 1.5000,
          1.5000]]]))");
  CHECK(floats({7}, {}, {.threshold = 0}) == "tensor(7.)");
  CHECK(counting({6}, 1, {.threshold = 0}) == "tensor([0., 1., 2., 3., 4., 5.])");  // edges only, but all of it
  CHECK(counting({7}, 1, {.threshold = 0}) == "tensor([0., 1., 2.,  ..., 4., 5., 6.])");
  CHECK(counting({2, 3, 4}, 1, {.threshold = 10, .edgeitems = 1}) == R"(tensor([[[ 0.,  ...,  3.],
         ...,
         [ 8.,  ..., 11.]],

        [[12.,  ..., 15.],
         ...,
         [20.,  ..., 23.]]]))");
  CHECK(counting({4}, 0.5, {.linewidth = 1}) == R"(tensor([0.0000,
        0.5000,
        1.0000,
        1.5000]))");
  std::vector<real> hidden(1101, real(1));
  hidden[500] = real(0.5);  // not shown, so without a say
  CHECK(to_text(Array({1101}, hidden)) == "tensor([1., 1., 1.,  ..., 1., 1., 1.])");
  std::vector<Index> ints(2000);
  for (std::size_t i = 0; i < ints.size(); ++i) ints[i] = static_cast<std::int64_t>(i) - 1000;
  CHECK(integers(ints, {2, 1000}) == R"(tensor([[-1000,  -999,  -998,  ...,    -3,    -2,    -1],
        [    0,     1,     2,  ...,   997,   998,   999]]))");
  CHECK(booleans({1, 0, 0, 1, 0}, {5}, {.linewidth = 40}) == R"(tensor([ True, False, False,  True,
        False]))");
}

TEST_CASE("print: options that a stream keeps") {
  const Array x({2}, std::vector<real>{real(0.5), real(-0.125)});
  const IntArray ids = ints({1, 2, 3, 4});
  CHECK(streamed(x, print_precision(2), x, x) ==
        "tensor([ 0.5000, -0.1250])tensor([ 0.50, -0.12])tensor([ 0.50, -0.12])");
  CHECK(streamed(print_precision(1), Tensor(x).requires_grad_(), Parameter(x)) ==
        "tensor([ 0.5, -0.1], requires_grad=True)Parameter containing:\ntensor([ 0.5, -0.1], requires_grad=True)");
  CHECK(to_text(Parameter(Array({2}, std::vector<real>{real(0.5), real(-0.1)}))) ==
        "Parameter containing:\ntensor([ 0.5000, -0.1000], requires_grad=True)");
  CHECK(streamed(print_options({.threshold = 3, .edgeitems = 1}), ids, mask({true, false, true, true})) ==
        "tensor([1,  ..., 4])tensor([True,  ..., True])");
  CHECK(streamed(print_options({.precision = 0, .linewidth = 9, .scientific = Scientific::on}), x) ==
        "tensor([5e-01,\n        -1e-01])");
  // print_precision leaves the rest, print_options nothing
  CHECK(streamed(print_options({.linewidth = 1}), print_precision(1), x) == "tensor([ 0.5,\n        -0.1])");
  CHECK(streamed(print_precision(1), print_options({}), x) == "tensor([ 0.5000, -0.1250])");

  std::ostringstream kept, other;
  const PrintOptions all{
      .precision = 9, .threshold = 5, .edgeitems = 7, .linewidth = 11, .scientific = Scientific::off, .version = 209};
  kept << print_options(all);
  for (std::ostringstream* stream : {&kept, &other}) {
    const PrintOptions now = print_options(*stream);
    CHECK((now.precision == 9 && now.threshold == 5 && now.edgeitems == 7 && now.linewidth == 11));
    CHECK((now.scientific == Scientific::off && now.version == 209));
    if (stream == &other) break;
    CHECK(print_options(other).precision == 4);  // another stream has its own
    other.copyfmt(kept);
  }
  const Index most = std::numeric_limits<Index>::max();
  CHECK(print_options(kept << print_options({.threshold = most})).threshold == most);

  CHECK_THROWS_WITH_AS(print_precision(-1), "print_precision: precision -1 is outside [0, 100]", Error);
  CHECK_THROWS_AS(print_precision(101), Error);
  CHECK_THROWS_WITH_AS(print_options({.edgeitems = 0}), "print_options: edgeitems 0 must be at least 1", Error);
  CHECK_THROWS_WITH_AS(print_options({.suffix = "device='cpu'"}),
                       "print_options: the suffix 'device='cpu'' is a remark on one array; pass it to to_text", Error);
}

TEST_CASE("print: a remark at the end") {
  const PrintOptions remark{.suffix = "grad_fn=<MulBackward0>"};
  CHECK(counting({2}, 1, remark) == "tensor([0., 1.], grad_fn=<MulBackward0>)");
  CHECK(counting({2, 0}, 1, remark) == "tensor([], size=(2, 0), grad_fn=<MulBackward0>)");
  CHECK(counting({8}, 1.5, remark) ==
        R"(tensor([ 0.0000,  1.5000,  3.0000,  4.5000,  6.0000,  7.5000,  9.0000, 10.5000],
       grad_fn=<MulBackward0>))");
  const std::string nine = "tensor([1.5000, 1.5000, 1.5000, 1.5000, 1.5000, 1.5000, 1.5000, 1.5000, 1.5000]";
  const std::vector<double> values(9, 1.5);
  PrintOptions wide{.linewidth = 105, .suffix = "grad_fn=<MulBackward0>"};
  CHECK(floats(values, {9}, wide) == nine + ", grad_fn=<MulBackward0>)");
  --wide.linewidth;
  CHECK(floats(values, {9}, wide) == nine + ",\n       grad_fn=<MulBackward0>)");
  CHECK(counting({2, 0}, 1, {.linewidth = 44, .suffix = "requires_grad=True"}) ==
        "tensor([], size=(2, 0), requires_grad=True)");
  CHECK(counting({2, 0}, 1, {.linewidth = 43, .suffix = "requires_grad=True"}) ==
        "tensor([], size=(2, 0),\n       requires_grad=True)");
  CHECK(counting({2, 0}, 1, {.linewidth = 20, .suffix = "requires_grad=True"}) ==
        "tensor([],\n       size=(2, 0),\n       requires_grad=True)");
}

TEST_CASE("print: the locale has no say") {
  const CommaLocale germany;
  CHECK(floats({1234.5, 1000}, {2}) == "tensor([1234.5000, 1000.0000])");
}

TEST_CASE("print: integers and masks in any layout, or not defined") {
  const IntArray ids = ints({{1, 2, 3}, {4, 5, 60}});
  CHECK(streamed(ids.transpose(0, 1)) == "tensor([[ 1,  4],\n        [ 2,  5],\n        [ 3, 60]])");
  CHECK(streamed(ids.slice(1, 0, 3, 2)) == "tensor([[ 1,  3],\n        [ 4, 60]])");
  CHECK(streamed(ids.select(1, 1).expand({2, 2})) == "tensor([[2, 5],\n        [2, 5]])");
  CHECK(to_text(ids.select(0, 1)) == "tensor([ 4,  5, 60])");
  const Mask keep = mask({{true, false}, {true, true}});
  CHECK(streamed(keep.transpose(0, 1)) == "tensor([[ True,  True],\n        [False,  True]])");
  CHECK(to_text(keep.select(1, 1)) == "tensor([False,  True])");
  CHECK(streamed(IntArray(), " ", Mask(), " ", Parameter()) == "(undefined) (undefined) (undefined)");
}

}  // namespace

}  // namespace mote::test::print_test
