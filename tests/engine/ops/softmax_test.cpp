// softmax, masked_softmax, log_softmax: check_op, extremes, masks, rows of every length.
#include "engine/ops/softmax.h"

#include "engine/ops/create.h"
#include "engine/ops/view.h"
#include "tests/support.h"

namespace mote::test::softmax_test {
namespace {

/// Rows along the last axis; `keep` (may be empty) says which elements count.
std::vector<double> soft_rows(const Value& in, bool logarithm, const std::vector<std::uint8_t>& keep = {}) {
  std::vector<double> y(in.x.size());
  const std::size_t n = static_cast<std::size_t>(in.shape[-1]);
  for (std::size_t row = 0; row < y.size(); row += n) {
    const auto kept = [&](std::size_t i) { return keep.empty() || keep[i]; };
    double top = -INFINITY, total = 0;
    for (std::size_t i = row; i < row + n; ++i) top = kept(i) ? std::max(top, in.x[i]) : top;
    for (std::size_t i = row; i < row + n; ++i) total += kept(i) ? std::exp(in.x[i] - top) : 0;
    for (std::size_t i = row; i < row + n; ++i)
      y[i] = logarithm ? in.x[i] - top - std::log(total) : kept(i) ? std::exp(in.x[i] - top) / total : 0;
  }
  return y;
}
Oracle rows(bool logarithm) {
  return [=](const std::vector<Value>& in) { return soft_rows(in[0], logarithm); };
}
TEST_CASE("softmax, log_softmax") {
  for (const bool logarithm : {false, true}) {
    const std::string name = logarithm ? "log_softmax" : "softmax";
    const auto f = [=](const Tensor& x, int axis) { return logarithm ? log_softmax(x, axis) : softmax(x, axis); };
    for (const Index n : {1, 5, 16, 35})
      check_op(name, [&](In x) { return f(x[0], -1); }, rows(logarithm), {random_array({3, n}, 1)},
               {.constant = n == 1,
                .error = [&] { f(Tensor(real(1)), -1); },
                .error_text = name + ": x [] needs at least one axis"});
    check_op(name, [&](In x) { return transpose(f(transpose(x[0], 0, 1), 0), 0, 1); }, rows(logarithm),
             {random_array({3, 5}, 1)},
             {.error = [&] { f(zeros_of(2, 3), 2); },
              .error_text = name + ": axis 2 is out of range for [2, 3]",
              .recorded_by = "transpose"});
  }
  CHECK(softmax(zeros({2, 0})).shape() == Shape{2, 0});
  CHECK(log_softmax(array({2}, {0, -200})).to_vector() == std::vector<real>{0, -200});
  CHECK(log_softmax(array({2}, {1e4, 0})).to_vector() == std::vector<real>{0, -10000});
}

TEST_CASE("masked_softmax") {
  const Mask keep = mask({{true, false, true, true}, {false, false, true, true}, {false, false, false, false}});
  const Oracle oracle = [&](const std::vector<Value>& in) {
    std::vector<std::uint8_t> flags;
    for (std::size_t i = 0; i < in[0].x.size(); ++i) flags.push_back(keep.data()[i % 12]);
    return soft_rows(in[0], false, flags);
  };
  check_op("masked_softmax", [&](In x) { return masked_softmax(x[0], keep); }, oracle, {random_array({2, 3, 4}, 1)},
           {.error = [&] { masked_softmax(zeros_of(3, 5), keep); },
            .error_text = "masked_softmax: mask [3, 4] does not broadcast to [3, 5]"});
}

TEST_CASE("masked_softmax: blocked elements may hold anything, a row that keeps nothing is zeros, masks broadcast") {
  const Mask keep = mask({{true, false, true}, {false, false, false}});
  const Array x = array({2, 3}, {1, nan, 1, nan, inf, 3});
  const Run r([&](In t) { return masked_softmax(t[0], keep); }, {x}, Array::full({2, 3}, 1));
  CHECK(r.y.to_vector() == std::vector<real>{real(0.5), 0, real(0.5), 0, 0, 0});
  for (const real d : r.dx[0].to_vector()) CHECK(d == 0);
  const Array with_nan = masked_softmax(array({3}, {nan, 5, 1}), mask({true, false, true})).array();
  CHECK((with_nan.at({1}) == 0 && std::isnan(with_nan.at({2}))));  // nor does a NaN that is kept reach them
  const Array z = random_array({2, 3, 5, 4}, 2);
  const Mask per_batch = mask({{{{true, true, false, true}}}, {{{false, true, true, true}}}});  // [2, 1, 1, 4]
  const Mask per_row = Mask(Shape{5, 1}, true);                                                 // whole rows
  CHECK(same_bits(masked_softmax(z, per_batch).array(), masked_softmax(z, per_batch.expand(z.shape())).array()));
  CHECK(same_bits(masked_softmax(z, per_row).array(), softmax(z).array()));
  CHECK(same_bits(masked_softmax(z, Mask(Shape{}, true)).array(), softmax(z).array()));
}

TEST_CASE("softmax: a row's bits do not depend on how many blocked elements follow it") {
  const Array x = random_array({1, 40}, 3);
  for (const Index n : {1, 7, 15, 16, 17, 33}) {
    Mask keep(Shape{1, 40});
    for (Index i = 0; i < n; ++i) keep.mutate()[i] = 1;
    CHECK(same_bits(masked_softmax(x, keep).array().slice(1, 0, n), softmax(x.slice(1, 0, n)).array()));
  }
}

TEST_CASE("softmax: extremes") {
  const auto soft = [](const std::vector<double>& x) {
    return softmax(array({static_cast<Index>(x.size())}, x)).array();
  };
  CHECK(soft({1000, 0, -1000}).to_vector() == std::vector<real>{1, 0, 0});
  const double third = static_cast<double>(soft({88, 89, 90}).at({2}));
  CHECK(third == doctest::Approx(std::exp(0) / (1 + std::exp(-1) + std::exp(-2))).epsilon(1e-6));
  for (const auto& row :
       std::vector<std::vector<double>>{{inf, 1, 2}, {inf, inf, 0}, {nan, 1, 2}, {1, 2, nan}, {-inf, -inf, -inf}}) {
    bool any_nan = false;
    for (const real y : soft(row).to_vector()) any_nan = any_nan || std::isnan(y);
    CHECK(any_nan);
  }
  CHECK(std::isnan(soft({-inf, -inf}).at({0})));
  CHECK(soft({-inf, 3, -inf}).to_vector() == std::vector<real>{0, 1, 0});
  // NaN stays in its row; a constant added to a row changes nothing when the sums are exact
  const Array y = softmax(array({2, 2}, {nan, 1, 2, 4})).array();
  CHECK(std::isnan(y.at({0, 1})));
  CHECK(same_bits(y.select(0, 1), soft({2, 4})));
  CHECK(same_bits(soft({0.5, 2, -1}), soft({64.5, 66, 63})));
}

TEST_CASE("masked_softmax: no gradient of a masked element reaches another, and it gets none") {
  const auto gradient = [](const std::vector<double>& x, const std::vector<double>& dy) {
    Tensor in = array({3}, x);
    in.requires_grad_();
    masked_softmax(in, mask({true, true, false})).backward(array({3}, dy));
    return in.grad();
  };
  const Array right = gradient({1, 3, 2}, {1, 2, 0});
  CHECK(right.at({2}) == 0);
  for (const double odd : {inf, -inf, nan}) {
    CHECK(gradient({1, 3, 2}, {1, 2, odd}).to_vector() == right.to_vector());
    CHECK(gradient({nan, 3, 2}, {1, 2, odd}).at({2}) == 0);
    CHECK(gradient({1, 3, 2}, {1, odd, 3}).at({2}) == 0);
  }
}

}  // namespace
}  // namespace mote::test::softmax_test
