// Cross_entropy and mse_loss: check_op, ignored rows, smoothing, extremes, targets out of range.
#include "engine/ops/loss.h"

#include "engine/ops/create.h"
#include "engine/ops/index.h"
#include "tests/sentences.h"
#include "tests/support.h"

namespace mote::test::loss_test {
namespace {

const IntArray targets = ints({2, 0, -100, 3});

Oracle entropy_oracle(const CrossEntropyOptions& options) {
  return [options](const std::vector<Value>& in) {
    const std::size_t n = static_cast<std::size_t>(in[0].shape[-1]);
    const double smooth = static_cast<double>(options.label_smoothing);
    std::vector<double> losses;
    double total = 0, counted = 0;
    for (std::size_t row = 0; row * n < in[0].x.size(); ++row) {
      const double* const x = in[0].x.data() + row * n;
      const Index target = targets.data()[row];
      double log_sum = 0, loss = 0;
      for (std::size_t i = 0; i < n; ++i) log_sum += std::exp(x[i]);
      log_sum = std::log(log_sum);
      for (std::size_t i = 0; i < n; ++i) {
        const double wanted = (static_cast<Index>(i) == target ? 1 - smooth : 0) + smooth / static_cast<double>(n);
        if (target != options.ignore_index) loss -= wanted * (x[i] - log_sum);
      }
      losses.push_back(loss);
      total += loss;
      counted += target != options.ignore_index;
    }
    if (options.reduction == Reduction::none) return losses;
    return std::vector<double>{options.reduction == Reduction::sum ? total : total / counted};
  };
}

TEST_CASE("cross_entropy") {
  for (const Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none})
    for (const real smooth : {real(0), real(0.1)}) {
      const CrossEntropyOptions options{.reduction = reduction, .label_smoothing = smooth};
      check_op("cross_entropy",
               [options](In x) { return cross_entropy(x[0], x[0].numel() ? targets : IntArray(Shape{0}), options); },
               entropy_oracle(options), {random_array({4, 5}, 1)},
               {.required = 0,
                .error =
                    [] {
                      cross_entropy(zeros({2, 3}), ints({0, 3}));
                    },
                .error_text = "cross_entropy: target 3 is out of range for V = 3 and is not ignore_index -100"});
    }
  const Array wide = random_array({4, 50}, 2, -20, 20);
  check_op("cross_entropy", [](In x) { return cross_entropy(x[0], x[0].numel() ? targets : IntArray(Shape{0})); },
           entropy_oracle({}), {wide}, {.tolerance = f64 ? 1e-12 : 2e-5, .required = 0});
}

TEST_CASE("cross_entropy: a batch with ignored rows has the bits of one without them") {
  for (Index step = 2; step < 12; ++step) {  // one in three would have the same bits by chance
    std::vector<Index> kept, targets(1000, -100), kept_targets;
    for (Index row = 0; row < 1000; row += row % step + 1) {
      kept.push_back(row);
      kept_targets.push_back(row % 5);
      targets[static_cast<std::size_t>(row)] = row % 5;
    }
    const Tensor x = random_array({1000, 5}, static_cast<std::uint64_t>(step));
    const IntArray all({1000}, targets), few({std::ssize(kept)}, kept_targets);
    CHECK(same_bits(cross_entropy(x, all).array(), cross_entropy(take_rows(x, kept), few).array()));
  }
}

TEST_CASE("cross_entropy: uniform logits, ignored rows, ignore_index 0") {
  CHECK(static_cast<double>(cross_entropy(zeros({3, 65}), ints({0, 7, 64})).item()) ==
        doctest::Approx(4.174387).epsilon(1e-6));
  const Array x = random_array({3, 5}, 1);
  const IntArray some = ints({1, -100, 4}), rest = ints({1, 4});
  const Run r([&](In t) { return cross_entropy(t[0], some); }, {x}, Array(real(1)));
  const Array kept = Tensor(x).array().slice(0, 0, 3, 2);
  CHECK(same_bits(r.y, cross_entropy(kept, rest).array()));
  CHECK(same_bits(r.dx[0].select(0, 1), Array::zeros({5})));
  // class 0 is ignored as a target only; it still stands in every denominator
  const Array with = cross_entropy(x, ints({0, 1, 2}), {.ignore_index = 0}).array();
  const Array without = cross_entropy(x.slice(0, 1, 3), ints({1, 2})).array();
  CHECK(same_bits(with, without));
}

TEST_CASE("cross_entropy: nothing to average gives NaN and zero gradients") {
  const Run ignored(
      [](In t) {
        return cross_entropy(t[0], ints({-100, -100}));
      },
      {random_array({2, 3}, 1)}, Array(real(1)));
  CHECK(std::isnan(ignored.y.item()));
  CHECK(same_bits(ignored.dx[0], Array::zeros({2, 3})));
  CHECK(std::isnan(cross_entropy(zeros({0, 3}), IntArray(Shape{0})).item()));
  CHECK(cross_entropy(zeros({0, 3}), IntArray(Shape{0}), {.reduction = Reduction::sum}).item() == 0);
}

TEST_CASE("cross_entropy: targets and shapes that do not fit") {
  const auto says = [](const IntArray& ids, const CrossEntropyOptions& o) {
    return error_of([&] { cross_entropy(zeros_of(2, 3), ids, o); });
  };
  const std::string range = " is out of range for V = 3 and is not ignore_index ";
  CHECK(says(ints({0, -1}), {}) == "cross_entropy: target -1" + range + "-100");
  CHECK(says(ints({0, std::numeric_limits<Index>::min()}), {}) ==
        "cross_entropy: target -9223372036854775808" + range + "-100");
  CHECK(says(ints({0, -4}), {.ignore_index = -1}) == "cross_entropy: target -4" + range + "-1");
  CHECK_SENTENCE(says(ints({0}), {}));
  CHECK_SENTENCE(says(ints({0, 0}), {.label_smoothing = 2}));
  REFUSES(cross_entropy(Tensor(real(1)), IntArray(Shape{})));
  CHECK(cross_entropy(zeros({3}), IntArray(Shape{})).shape() == Shape{});  // one row
  CHECK(cross_entropy(zeros({2, 4, 3}), IntArray(Shape{2, 4}), {.reduction = Reduction::none}).shape() == Shape{2, 4});
}

TEST_CASE("cross_entropy: extreme logits") {
  const auto loss = [](const std::vector<double>& x, Index target) {
    return cross_entropy(array({1, static_cast<Index>(x.size())}, x), ints({target})).item();
  };
  CHECK(loss({1e4, -1e4, 0}, 0) == 0);
  CHECK(loss({1e4, -1e4, 0}, 1) == 20000);
  CHECK(std::isfinite(loss({-inf, 0, 1}, 1)));
  CHECK(loss({-inf, 0, 1}, 0) == inf);
  CHECK(std::isnan(loss({inf, 0, 1}, 1)));
  const Run r([](In t) { return cross_entropy(t[0], ints({1})); }, {array({1, 3}, {-inf, 0, 1})}, Array(real(1)));
  for (const real d : r.dx[0].to_vector()) CHECK(std::isfinite(d));
}

TEST_CASE("mse_loss") {
  for (const Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none}) {
    const Oracle oracle = [=](const std::vector<Value>& in) {
      std::vector<double> y;
      double total = 0;
      for (std::size_t i = 0; i < in[0].x.size(); ++i) total += y.emplace_back(std::pow(in[0].x[i] - in[1].x[i], 2));
      if (reduction == Reduction::none) return y;
      return std::vector<double>{reduction == Reduction::sum ? total : total / static_cast<double>(y.size())};
    };
    check_op("mse_loss", [=](In x) { return mse_loss(x[0], x[1], reduction); }, oracle,
             {random_array({3, 4}, 1), random_array({3, 4}, 2)},
             {.error = [] { mse_loss(zeros_of(4, 1), zeros_of(4)); },
              .error_text = "mse_loss: y [4, 1] and target [4] must have the same shape"});
  }
  CHECK(std::isnan(mse_loss(zeros({0}), zeros({0})).item()));
  const double large = f64 ? 1e153 : 1e18;  // the sum of the squares is not finite, their mean is
  CHECK(static_cast<double>(mse_loss(full({40000}, large), zeros({40000})).item()) ==
        doctest::Approx(large * large).epsilon(1e-5));
}

/// |a - b| and its like for two inputs of one shape, averaged, summed, or as they are.
Oracle elementwise(Reduction reduction, double (*f)(double, double)) {
  return [=](const std::vector<Value>& in) {
    std::vector<double> losses;
    double total = 0;
    for (std::size_t i = 0; i < in[0].x.size(); ++i) {
      losses.push_back(f(in[0].x[i], in[1].x[i]));
      total += losses.back();
    }
    if (reduction == Reduction::none) return losses;
    return std::vector<double>{reduction == Reduction::sum ? total : total / static_cast<double>(losses.size())};
  };
}

TEST_CASE("l1_loss, binary_cross_entropy_with_logits") {
  for (const Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none}) {
    check_op("l1_loss", [=](In x) { return l1_loss(x[0], x[1], reduction); },
             elementwise(reduction, [](double a, double b) { return std::abs(a - b); }),
             {distinct_array({3, 11}, 1), distinct_array({3, 11}, 2)},
             {.error =
                  [] {
                    l1_loss(zeros({2, 1}), zeros({2}));
                  },
              .error_text = "l1_loss: y [2, 1] and target [2] must have the same shape"});
    check_op("binary_cross_entropy_with_logits",
             [=](In x) { return binary_cross_entropy_with_logits(x[0], x[1], reduction); },
             elementwise(reduction,
                         [](double x, double t) {
                           const double p = 1 / (1 + std::exp(-x));
                           return -t * std::log(p) - (1 - t) * std::log(1 - p);
                         }),
             {random_array({3, 11}, 1), random_array({3, 11}, 2, 0.1, 0.9)});
  }
  // PyTorch: F.l1_loss(x, t), F.binary_cross_entropy_with_logits(x, t, reduction='none'), gradients for a dy of ones
  const Tensor t = array({4}, {1, 2, 3, nan});
  check_torch([&](In x) { return l1_loss(x[0], t); }, {1, 5, 0, 1}, {nan}, {0, 0.25, -0.25, 0});
  const Tensor of = array({4}, {0.5, 1, 1, 0});
  check_torch([&](In x) { return binary_cross_entropy_with_logits(x[0], of, Reduction::none); }, {0, 100, -100, 2},
              {0.6931471825, 0, 100, 2.126928091}, {0, 0, -1, 0.880797029});
  REFUSES(binary_cross_entropy_with_logits(zeros({2, 1}), zeros({2})));
}

TEST_CASE("binary_cross_entropy") {
  for (const Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none})
    check_op("binary_cross_entropy", [=](In x) { return binary_cross_entropy(x[0], x[1], reduction); },
             elementwise(reduction, [](double p, double t) { return -t * std::log(p) - (1 - t) * std::log(1 - p); }),
             {random_array({3, 11}, 1, 0.1, 0.9), random_array({3, 11}, 2, 0.1, 0.9)},
             {.empty = {Array::zeros({0}), Array::zeros({0})}});
  // PyTorch: F.binary_cross_entropy(y, t, reduction='none') in double, gradients for a dy of ones
  const Tensor t = array({8}, {0, 0.25, 1, 0, 1, 1, 0, 0.75});
  check_torch([&](In x) { return binary_cross_entropy(x[0], t, Reduction::none); }, {0, 0.3, 0.5, 0, 1, 0, 1, 0.75},
              {0, 0.5684994090355333, 0.6931471805599453, 0, 0, 100, 100, 0.5623351446188083},
              {0, 0.23809523809523805, -2, 0, 0, real(-1e12), real(1e12), 0});
  REFUSES(binary_cross_entropy(zeros({2, 1}), zeros({2})));
  REFUSES(binary_cross_entropy(tensor({0.5, 1.5}), zeros({2})));
  REFUSES(binary_cross_entropy(tensor({0.5, std::nan("")}), zeros({2})));
}

TEST_CASE("binary_cross_entropy_with_logits of infinite logits") {
  const Tensor x = array({3}, {inf, -inf, -inf}), t = array({3}, {0, 1, 0});
  CHECK(binary_cross_entropy_with_logits(x, t, Reduction::none).to_vector() ==
        std::vector<real>{real(inf), real(inf), 0});
}

TEST_CASE("nll_loss of log_softmax is cross_entropy") {
  const IntArray few = ints({2, 0});
  // PyTorch: lp = torch.log_softmax(torch.tensor([[1., 2, 3], [0, 0, 1]]), -1); F.nll_loss(lp, torch.tensor([2, 0]))
  const Tensor lp = log_softmax(tensor({{1, 2, 3}, {0, 0, 1}}), -1);
  CHECK(distance(nll_loss(lp, few).to_vector(), {0.9795}) < 1e-4);
  CHECK(distance(nll_loss(lp, ints({2, -100})).to_vector(), {0.4076}) < 1e-4);
  CHECK(distance(nll_loss(lp, few, {.reduction = Reduction::none}).to_vector(), {0.4076, 1.5514}) < 1e-4);
  for (const Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none}) {
    const CrossEntropyOptions options{.reduction = reduction};
    const OpFunction whole = [&](In x) { return cross_entropy(x[0], targets, options); };
    const OpFunction parts = [&](In x) { return nll_loss(log_softmax(x[0], -1), targets, options); };
    const Array x = random_array({4, 5}, 1);
    const Run a(whole, {x}), b(parts, {x});
    const std::vector<real> wanted = a.y.to_vector(), slopes = a.dx[0].to_vector();
    CHECK(distance(b.y.to_vector(), {wanted.begin(), wanted.end()}) < 1e-5);
    CHECK(distance(b.dx[0].to_vector(), {slopes.begin(), slopes.end()}) < 1e-5);
    CHECK(b.op == "nll_loss");
    check_gradient([&](In t) { return nll_loss(t[0], targets, options); }, {x});
  }
  CHECK(std::isnan(nll_loss(zeros({1, 3}), ints({-100})).item()));
  REFUSES(nll_loss(lp, ints({2, 3})));
  REFUSES(nll_loss(lp, few, {.label_smoothing = 0.1}));
}

}  // namespace
}  // namespace mote::test::loss_test
