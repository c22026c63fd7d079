// sum mean var max min over all kinds of axes: check_op; argmax, topk; empty axes, NaN, ties, long sums.
#include "engine/ops/reduce.h"

#include "engine/ops/create.h"
#include "engine/ops/index.h"
#include "tests/sentences.h"
#include "tests/support.h"

namespace mote::test::reduce_test {
namespace {

/// Collects, for every output, the numbers reduced into it, and applies `f`.
Oracle reduced(const Axes& axes, std::function<double(const std::vector<double>&)> f) {
  return [=](const std::vector<Value>& in) {
    const Shape& shape = in[0].shape;
    const Shape kept = reduced_shape(shape, axes, true);
    std::vector<std::vector<double>> groups(static_cast<std::size_t>(kept.numel()));
    for (Index i = 0; i < shape.numel(); ++i) {
      Index left = i, to = 0, step = 1;
      for (int a = shape.rank() - 1; a >= 0; --a) {
        to += kept[a] == 1 ? 0 : left % shape[a] * step;
        step *= kept[a];
        left /= shape[a];
      }
      groups[static_cast<std::size_t>(to)].push_back(in[0].x[static_cast<std::size_t>(i)]);
    }
    std::vector<double> y;
    for (const auto& group : groups) y.push_back(f(group));
    return y;
  };
}

double total(const std::vector<double>& x) {
  double s = 0;
  for (const double v : x) s += v;
  return s;
}
double average(const std::vector<double>& x) { return total(x) / static_cast<double>(x.size()); }
double largest(const std::vector<double>& x) { return *std::max_element(x.begin(), x.end()); }
double smallest(const std::vector<double>& x) { return *std::min_element(x.begin(), x.end()); }
std::function<double(const std::vector<double>&)> variance(double correction) {
  return [correction](const std::vector<double>& x) {
    double s = 0;
    for (const double v : x) s += (v - average(x)) * (v - average(x));
    return s / std::max(0.0, static_cast<double>(x.size()) - correction);
  };
}

const std::vector<Axes> cases{{}, 0, 1, -1, {0, 1}, {-1, 0}, {0, 1, 2}};

TEST_CASE("sum") {
  for (const Axes& axes : cases)
    for (const bool keep : {false, true})
      check_op("sum", [axes, keep](In x) { return sum(x[0], axes, keep); }, reduced(axes, total),
               {random_array({3, 4, 5}, 1)},
               {.error =
                    [] {
                      sum(zeros({2, 3}), {0, -2});
                    },
                .error_text = "sum: axis 0 (or -2) is listed twice"});
  REFUSES(sum(zeros({2, 3}), 2));
  CHECK(sum(zeros({2, 3, 4}), {0, 2}, true).shape() == Shape{1, 3, 1});
  CHECK(sum(Tensor(real(3))).item() == 3);
}

TEST_CASE("mean") {
  for (const Axes& axes : cases)
    check_op("mean", [axes](In x) { return mean(x[0], axes); }, reduced(axes, average),
             {random_array({3, 4, 5}, 1, 1, 3)},
             {.error = [] { mean(zeros({2}), 1); }, .error_text = "mean: axis 1 is out of range for rank 1"});
}

TEST_CASE("reductions drop the axes they reduce, unless told to keep them") {
  const Tensor x = random_array({2, 3}, 1);
  CHECK((sum(x).shape() == Shape{} && sum(x, 0).shape() == Shape{3} && sum(x, 0, true).shape() == Shape{1, 3}));
  CHECK((mean(x).shape() == Shape{} && mean(x, 0).shape() == Shape{3} && mean(x, 0, true).shape() == Shape{1, 3}));
  CHECK((var(x).shape() == Shape{} && var(x, 0).shape() == Shape{3} && var(x, 0, 1, true).shape() == Shape{1, 3}));
  CHECK((max(x).shape() == Shape{} && max(x, Axes(0)).shape() == Shape{3}));
  CHECK((min(x).shape() == Shape{} && min(x, Axes(0)).shape() == Shape{3}));
  CHECK((argmax(x).shape() == Shape{2} && argmax(x, 0, true).shape() == Shape{1, 3}));
}

TEST_CASE("var") {
  for (const Axes& axes : cases)
    for (const int correction : {0, 1})
      check_op("var", [axes, correction](In x) { return var(x[0], axes, static_cast<real>(correction)); },
               reduced(axes, variance(correction)), {random_array({3, 4, 5}, 1)},
               {.error = [] { var(zeros({2}), -2); }, .error_text = "var: axis -2 is out of range for rank 1"});
  CHECK(std::isnan(var(zeros({1})).item()));
  CHECK(var(zeros({1}), {}, 0).item() == 0);
  Array far = Array::empty({1000});
  for (Index i = 0; i < 1000; ++i) far.mutate()[i] = static_cast<real>(10000 + i % 2);
  CHECK(static_cast<double>(var(far, {}, 0).item()) == doctest::Approx(0.25).epsilon(1e-3));
  CHECK(static_cast<double>(mean(far).item()) == doctest::Approx(10000.5).epsilon(1e-7));
}

TEST_CASE("var: squares may leave the range if the variance does not") {
  const double large = f64 ? 1e153 : 1e18;
  const Tensor x = array({2, 1}, {large, -large}).expand({2, 4000}).reshape({8000});
  CHECK(static_cast<double>(var(x, {}, 0).item()) == doctest::Approx(large * large).epsilon(1e-5));
  CHECK(var(array({2}, {large * 100, -large * 100})).item() == inf);  // it does
  CHECK(std::isnan(var(array({2}, {inf, 1})).item()));
}

TEST_CASE("sums of ten million numbers, along rows and along columns") {
  const auto off = [](const Array& y) {
    double worst = 0;
    for (const real v : y.to_vector()) worst = std::max(worst, std::abs(static_cast<double>(v) / 1e6 - 1));
    return worst;
  };
  const Index many = 10'000'000;
  const Array view = Array(0.1).expand({many, 2});
  const Array columns = view.slice(1, 0, 1).contiguous().expand({many, 2});  // in pieces, too
  const Array y = sum(view, 0);
  CHECK(off(y) < 1e-5);
  CHECK(same_bits(sum(columns, 0), y));
  CHECK(same_bits(sum(Array::full({many, 2}, real(0.1)), 0), y));
  CHECK(same_bits(sum(Array::full({1, many, 2}, real(0.1)), 1).reshape({2}), y));
  CHECK(same_bits(sum_to(Array::full({many, 2}, real(0.1)), Shape{2}), y));
  CHECK(off(sum(Array::full({many}, real(0.1)))) < 1e-5);
  CHECK(std::abs(static_cast<double>(mean(Tensor(view), 0).array().at({0})) - 0.1) < 1e-6);
}

TEST_CASE("max") {
  for (const Axes& axes : cases)
    check_op("max", [axes](In x) { return max(x[0], axes); }, reduced(axes, largest), {distinct_array({3, 4, 5}, 1)},
             {.empty = {Array::zeros({1, 1, 1})},  // a maximum of nothing is an error
              .error = [] { max(zeros_of(2, 0), {1}); },
              .error_text = "max: cannot reduce an empty axis of shape [2, 0]"});
}
TEST_CASE("min") {
  check_op("min", [](In x) { return min(x[0], {1}); }, reduced(1, smallest), {distinct_array({3, 4, 5}, 1)},
           {.error = [] { min(zeros({0})); }, .error_text = "min: cannot reduce an empty axis of shape [0]"});
  check_op("min", [](In x) { return min(x[0]); }, reduced({}, smallest), {distinct_array({7, 5}, 1)},
           {.empty = {Array::zeros({1})}});
}

TEST_CASE("max and min along one axis: values with a gradient, and their positions") {
  check_op(
      "max", [](In x) { return max(x[0], 1).values; }, reduced(1, largest), {distinct_array({3, 4, 5}, 1)},
      {.error = [] { max(zeros_of(2, 0), 1); }, .error_text = "max: cannot reduce the empty axis 1 of shape [2, 0]"});
  check_op("min", [](In x) { return min(x[0], -3, true).values; }, reduced(0, smallest), {distinct_array({3, 4, 5}, 1)},
           {.empty = {Array::zeros({1, 0, 2})},
            .error = [] { min(zeros({2}), 1); },
            .error_text = "min: axis 1 is out of range for [2]"});
  // PyTorch: v, i = x.max(dim) and x.min(dim), then torch.autograd.grad(v, x, torch.tensor([1., 2., 3.]))
  const Array x = array({3, 3}, {3, 1, 3, 2, 5, nan, 4, 4, 4});
  const auto check = [&](const auto& f, const IntArray& indices, const std::vector<real>& gradient) {
    const Tensor in = Tensor(x).requires_grad_();
    const Ranked best = f(in);
    best.values.backward(array({3}, {1, 2, 3}));
    CHECK(equal(best.indices, indices));
    CHECK(in.grad().to_vector() == gradient);
  };
  check([](const Tensor& t) { return max(t, 0); }, ints({2, 1, 1}), {0, 0, 0, 0, 2, 3, 1, 0, 0});
  check([](const Tensor& t) { return min(t, 0); }, ints({1, 0, 1}), {0, 2, 0, 1, 0, 3, 0, 0, 0});
  check([](const Tensor& t) { return max(t, 1); }, ints({0, 2, 0}), {1, 0, 0, 0, 0, 2, 3, 0, 0});
  check([](const Tensor& t) { return min(t, 1); }, ints({1, 2, 0}), {0, 1, 0, 0, 0, 2, 3, 0, 0});
  CHECK(max(Tensor(x), 1, true).values.shape() == Shape{3, 1});
  CHECK(max(Tensor(x), 1, true).indices.shape() == Shape{3, 1});
  CHECK(equal(max(Parameter(x), -1).indices, argmax(x)));
  CHECK(equal(min(Parameter(x), 0, true).indices, ints({{1, 0, 1}})));
  REFUSES(min(zeros({3, 0}), 1));
}

TEST_CASE("max, min, argmax: NaN first, in the middle, last; ties; both zeros; infinities") {
  for (const kernels::Table* t : kernels::available_tables()) {
    const Hardware use(*t);
    for (const Index n : {1, 5, 16, 17, 40})
      for (const Index at : {Index(0), n / 2, n - 1}) {
        Array x = random_array({n}, 4);
        x.mutate()[at] = nan;
        CHECK(std::isnan(max(Tensor(x)).item()));
        CHECK(std::isnan(min(Tensor(x)).item()));
        CHECK(argmax(x).at({}) == at);
        x.mutate()[at] = inf;
        CHECK(max(Tensor(x)).item() == inf);
        x.mutate()[at] = -inf;
        CHECK(min(Tensor(x)).item() == -inf);
      }
    CHECK(max(Tensor(Array::full({20}, -inf))).item() == -inf);
    CHECK(max(Tensor(Array::full({3}, -5))).item() == -5);  // lanes without an element do not count
    CHECK(min(Tensor(Array::full({3}, 5))).item() == 5);
  }
  const OpFunction largest_of = [](In x) { return max(x[0]); };
  const Run ties(largest_of, {array({4}, {1, 7, 7, 0})}, Array(real(1)));
  CHECK(ties.dx[0].to_vector() == std::vector<real>{0, real(0.5), real(0.5), 0});
  const Run with_nan(largest_of, {array({3}, {1, nan, 2})}, Array(real(1)));
  CHECK(with_nan.dx[0].to_vector() == std::vector<real>{0, 1, 0});
  CHECK(argmax(array({4}, {1, 7, 7, 0})).at({}) == 1);
  CHECK(argmax(array({2}, {-0.0, 0})).at({}) == 0);
  CHECK(argmax(array({3}, {1, nan, nan})).at({}) == 1);
}

TEST_CASE("argmax along any axis") {
  const Array x = distinct_array({3, 4, 5}, 2);
  for (int axis = -3; axis < 3; ++axis) {
    const IntArray best = argmax(x, axis), kept = argmax(x, axis, true);
    CHECK(kept.shape() == x.shape().with(axis, 1));
    CHECK(equal(best, kept.reshape(x.shape().without(axis))));
    CHECK(same_bits(gather(x, axis, kept).array(), max(x, axis, true)));
  }
  CHECK(argmax(zeros({0, 3})).shape() == Shape{0});
  REFUSES(argmax(zeros({3, 0})));
  REFUSES(argmax(zeros({3}), 1));
}

TEST_CASE("reductions of nothing") {
  CHECK(sum(zeros({2, 0, 3}), 1, true).to_vector() == std::vector<real>(6, real(0)));
  for (const real x : mean(zeros({2, 0}), 1).to_vector()) CHECK(std::isnan(x));
  CHECK(max(zeros({0, 3}), {1}).shape() == Shape{0});
}

TEST_CASE("sum: small numbers beside a large one, alternating signs, the same bits everywhere") {
  const Index n = (Index(1) << 20) + 1;
  Array x = Array::full({n}, real(0x1p-25));
  x.mutate()[0] = 1;
  Array y = Array::empty({30003});
  for (Index i = 0; i < y.numel(); ++i) y.mutate()[i] = i % 3 == 0 ? real(1e8) : i % 3 == 1 ? real(1) : real(-1e8);
  const Array expected = sum(x), alternating = sum(y), columns = sum(random_array({5000, 70}, 1), 0);
  // The 1 shares its accumulator with 255 of the small numbers, and swallows them; all others count but for one
  // rounding.
  CHECK(std::abs(static_cast<double>(expected.item()) - 1.03125) <= 256 * 0x1p-25);
  const double rounding = static_cast<double>(std::numeric_limits<real>::epsilon()) / 2;
  CHECK(std::abs(static_cast<double>(alternating.item()) - 10001) <= 30003 * rounding * 2e8);
  on_all_hardware({1, 2, 3, 7}, [&] {
    CHECK(same_bits(sum(x), expected));
    CHECK(same_bits(sum(y), alternating));
    CHECK(same_bits(sum(random_array({5000, 70}, 1), 0), columns));
  });
}

TEST_CASE("an axis beyond 32 bits is out of range: it does not wrap around") {
  constexpr Index wraps = Index(1) << 32;
  const Tensor x = zeros({2, 3});
  REFUSES(sum(x, wraps));
  REFUSES(sum(x, {0, wraps + 1}));
  REFUSES(max(x, wraps));
  REFUSES(min(x, -wraps));
  REFUSES(argmax(x, wraps + 1));
  REFUSES(x.size(wraps));
  REFUSES(x.array().slice(wraps, 0, 1));
  REFUSES(x.array().unsqueeze(wraps));
}

double stddev_of(const std::vector<double>& x) { return std::sqrt(variance(1)(x)); }
double norm_of(const std::vector<double>& x) {
  double square = 0;
  for (const double v : x) square += v * v;
  return std::sqrt(square);
}
double log_sum_exp_of(const std::vector<double>& x) {
  double total = 0;
  for (const double v : x) total += std::exp(v);
  return std::log(total);
}
double product_of(const std::vector<double>& x) {
  double y = 1;
  for (const double v : x) y *= v;
  return y;
}

TEST_CASE("stddev, norm, logsumexp, prod") {
  const Array x = random_array({3, 4, 5}, 1);
  const std::vector<Array> empty{Array::zeros({0, 4, 5})};
  check_op("stddev", [](In t) { return stddev(t[0], 1); }, reduced(1, stddev_of), {x}, {.empty = empty});
  check_op("norm", [](In t) { return norm(t[0], {1}); }, reduced(1, norm_of), {x}, {.empty = empty});
  check_op("logsumexp", [](In t) { return logsumexp(t[0], 1); }, reduced(1, log_sum_exp_of), {x}, {.empty = empty});
  check_op("prod", [](In t) { return prod(t[0], 1); }, reduced(1, product_of), {x}, {.empty = empty});
  check_op("prod", [](In t) { return prod(t[0]); }, reduced({}, product_of), {random_array({2, 3}, 1)});
  // The product of the others times dy, in this order: dy times 1e-30 would be 0 in float.
  const Tensor factors = tensor({1e-30, 1e30, 1e-20}).requires_grad_();
  prod(factors).backward(tensor(1e-20));
  CHECK(factors.grad().at({2}) == doctest::Approx(1e-20).epsilon(1e-6));
  CHECK(stddev(Tensor(x), {}, 1, true).shape() == Shape{1, 1, 1});
  CHECK(norm(Tensor(x), {0, 2}, true).shape() == Shape{1, 4, 1});
  CHECK(logsumexp(Tensor(x), {0, 2}, true).shape() == Shape{1, 4, 1});
  CHECK(prod(Tensor(x), -1, true).shape() == Shape{3, 4, 1});
  CHECK(prod(zeros({0})).item() == 1);
  REFUSES(logsumexp(zeros({2, 0}), 1));
  REFUSES(prod(zeros({2}), 1));
}

TEST_CASE("stddev, norm, logsumexp, prod: PyTorch's values where a slope has an end") {
  check_torch([](In t) { return stddev(t[0]); }, {2, 2, 2}, {0}, {0, 0, 0});
  check_torch([](In t) { return stddev(t[0]); }, {1, 2, 4}, {1.5275251865},
              {-0.4364357591, -0.1091089174, 0.5455447435});
  CHECK(std::isnan(stddev(tensor({2})).item()));
  check_torch([](In t) { return norm(t[0]); }, {3, 4}, {5}, {0.6, 0.8});
  check_torch([](In t) { return norm(t[0]); }, {0, 0}, {0}, {0, 0});
  check_torch([](In t) { return norm(t[0]); }, {inf, 1}, {inf}, {nan, 0});
  check_torch([](In t) { return norm(t[0]); }, {nan, 1}, {nan}, {nan, nan});
  check_torch([](In t) { return prod(t[0]); }, {2, 0, 3}, {0}, {0, 6, 0});
  check_torch([](In t) { return prod(t[0]); }, {0, 0, 3}, {0}, {0, 0, 0});
  check_torch([](In t) { return logsumexp(t[0], 0); }, {1000, 1000}, {1000.693147},
              {f64 ? 0.5 : 0.4999854565, f64 ? 0.5 : 0.4999854565});
  check_torch([](In t) { return logsumexp(t[0], 0); }, {-inf, 0}, {0}, {0, 1});
  check_torch([](In t) { return logsumexp(t[0], 0); }, {inf, 0}, {inf}, {nan, 0});
  check_torch([](In t) { return logsumexp(t[0], 0); }, {-inf, -inf}, {-inf}, {0, 0});  // NaN in PyTorch
  const real large = f64 ? real(1e300) : real(1e30);
  CHECK(norm(Tensor(Array::full({4}, large))).item() == 2 * large);  // its square is none
}

TEST_CASE("cumsum") {
  const Oracle running = [](const std::vector<Value>& in) {
    std::vector<double> y = in[0].x;
    for (std::size_t i = 0; i < y.size(); ++i)
      if (i % 20 >= 5) y[i] += y[i - 5];
    return y;
  };
  check_op("cumsum", [](In t) { return cumsum(t[0], 1); }, running, {random_array({3, 4, 5}, 1)});
  check_torch([](In t) { return cumsum(t[0], 0); }, {1, nan, 2}, {1, nan, nan}, {3, 2, 1});
  // torch.full((10,), 0.1).cumsum(0): added in double, each rounded once
  CHECK(cumsum(full({10}, 0.1), 0).array().at({-1}) ==
        (f64 ? real(0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1) : 1));
  REFUSES(cumsum(zeros({2}), 1));
}

TEST_CASE("argmin: the first of equals, NaN first") {
  CHECK(argmin(tensor({{3, 1, 1}, {2, 5, 2}})).to_vector() == std::vector<Index>{1, 0});
  CHECK(argmin(array({3}, {1, nan, -inf})).item() == 1);
  CHECK(argmin(tensor({{3, 1}, {2, 5}}), 0, true).shape() == Shape{1, 2});
  REFUSES(argmin(zeros({3, 0})));
}

}  // namespace
}  // namespace mote::test::reduce_test
