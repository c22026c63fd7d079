// layer_norm and rms_norm: check_op, constant rows, far means, special rows.
#include "engine/ops/norm.h"

#include "engine/ops/create.h"
#include "tests/row_oracles.h"
#include "tests/sentences.h"

namespace mote::test::norm_test {
namespace {

/// x, maybe a weight, maybe a bias.
Oracle rows(bool centred) {
  return [centred](const std::vector<Value>& in) {
    return norm_rows(in[0].x, static_cast<std::size_t>(in[0].shape[-1]), centred, in.size() > 1 ? &in[1] : nullptr,
                     in.size() > 2 ? &in[2] : nullptr);
  };
}
const Oracle layer_oracle = rows(true), rms_oracle = rows(false);
const OpFunction layer_full = [](In x) { return layer_norm(x[0], x[1], x[2]); };

TEST_CASE("layer_norm") {
  for (const Index n : {3, 5, 16, 35}) {
    const Array x = random_array({2, 3, n}, 1), weight = random_array({n}, 2), bias = random_array({n}, 3);
    check_op("layer_norm", layer_full, layer_oracle, {x, weight, bias},
             {.required = 1,
              .empty = {Array::zeros({0, n}), weight, bias},
              .error = [] { layer_norm(zeros_of(2, 3), zeros_of(2)); },
              .error_text = "layer_norm: weight [2] does not fit x [2, 3]: for x [..., C] it must be [C]"});
    check_op("layer_norm", [](In t) { return layer_norm(t[0], t[1]); }, layer_oracle, {x, weight},
             {.required = 1, .empty = {Array::zeros({3, 0}), Array::zeros({0})}});
    check_op("layer_norm", [](In t) { return layer_norm(t[0]); }, layer_oracle, {x});
  }
  check_op(
      "layer_norm", [](In t) { return layer_norm(t[0], {}, t[1]); },
      [](const std::vector<Value>& in) { return norm_rows(in[0].x, 7, true, nullptr, &in[1]); },
      {random_array({4, 7}, 1), random_array({7}, 2)},
      {.required = 1, .empty = {Array::zeros({0, 7}), random_array({7}, 2)}});
  REFUSES(layer_norm(zeros_of(2, 3), zeros_of(3), zeros_of(3, 1)));
  REFUSES(layer_norm(Tensor(real(1))));
}

TEST_CASE("rms_norm") {
  const double size = f64 ? 0.1 : 0.5;  // small, so that eps counts; smaller ones differences do not resolve
  for (const Index n : {2, 5, 16, 35}) {
    const Array x = random_array({2, 3, n}, 1), weight = random_array({n}, 2);
    check_op("rms_norm", [](In t) { return rms_norm(t[0], t[1]); }, rms_oracle, {x, weight},
             {.required = 1,
              .empty = {Array::zeros({0, n}), weight},
              .error = [] { rms_norm(zeros_of(2, 3), zeros_of(2)); },
              .error_text = "rms_norm: weight [2] does not fit x [2, 3]: for x [..., C] it must be [C]"});
    check_op("rms_norm", [](In t) { return rms_norm(t[0]); }, rms_oracle, {random_array({4, n}, 1, -size, size)});
  }
}

TEST_CASE("layer_norm and rms_norm refuse an eps that is negative, no number, or beyond float") {
  const Tensor x = Array::zeros({2, 3});
  REFUSES(layer_norm(x, {}, {}, -1.0));
  REFUSES(rms_norm(x, {}, std::nan("")));
  REFUSES(layer_norm(x, {}, {}, 1e308));
  REFUSES(rms_norm(x, {}, INFINITY));
}

TEST_CASE("layer_norm: a constant row gives exactly the bias") {
  for (const Index n : {1, 3, 16, 31})
    for (const double c : {0.0, 0.1, -7.7, 1e4}) {
      const Array bias = random_array({n}, 3);
      const Array y = layer_norm(Array::full({2, n}, static_cast<real>(c)), random_array({n}, 2), bias).array();
      CHECK(same_bits(y.select(0, 0), bias));
      CHECK(same_bits(y.select(0, 1), bias));
    }
  for (const real y : layer_norm(Array::full({3}, 2), {}, {}, 0.0).to_vector()) CHECK(std::isnan(y));
}

TEST_CASE("layer_norm: a known row, scaled rows, far means, infinities and NaN only in their row") {
  const Array y = layer_norm(array({4}, {1, 2, 3, 4})).array();
  CHECK(distance(y.to_vector(), {-1.3416355, -0.4472118, 0.4472118, 1.3416355}) < 1e-6);
  const Array x = random_array({4, 33}, 5);
  const Array plain = layer_norm(x).array(), scaled = layer_norm(x * real(1024)).array();
  CHECK(distance(plain.to_vector(), Value(scaled).x) < 2e-5);
  Array far = Array::empty({100});
  for (Index i = 0; i < 100; ++i) far.mutate()[i] = static_cast<real>(10000 + i % 2);
  for (const real v : layer_norm(far).to_vector())
    CHECK(static_cast<double>(std::abs(v)) == doctest::Approx(1).epsilon(1e-4));
  for (const real bad : {nan, inf, -inf}) {
    Array spoiled = copy_of(x);
    spoiled.mutate()[33 + 5] = bad;
    const Array z = layer_norm(spoiled).array();
    CHECK(std::isnan(z.at({1, 5})));
    CHECK(same_bits(z.slice(0, 2, 4), plain.slice(0, 2, 4)));
    CHECK(same_bits(z.slice(0, 0, 1), plain.slice(0, 0, 1)));
  }
}

TEST_CASE("layer_norm and rms_norm of a row times a power of two, whose squares leave the range") {
  const Array x = array({3, 5}, {1.5, -1, 0.25, 1.75, -1.9, 1, 2, 3, 4, 5, 1.9, 1.9, -1.9, 1.9, 1.9});
  const Array weight = random_array({5}, 2), bias = random_array({5}, 3), dy = random_array({3, 5}, 4);
  const OpFunction layer = [](In t) { return layer_norm(t[0], t[1], t[2], 0.0); };
  const OpFunction rms = [](In t) { return rms_norm(t[0], t[1], 0.0); };
  for (const OpFunction& op : {layer, rms}) {
    const Run plain(op, {x, weight, bias}, dy);
    for (const int power : {-60, -40, 40, 64, 100, 125}) {
      const real factor = std::ldexp(real(1), f64 ? 8 * power : power);
      const Run scaled(op, {x * factor, weight, bias}, dy);
      const double tight = f64 ? 1e-14 : 2e-6;
      CHECK(distance(scaled.y.to_vector(), Value(plain.y).x) < tight);
      CHECK(distance(scaled.dx[1].to_vector(), Value(plain.dx[1]).x) < tight);
      if (power < 100) CHECK(distance((scaled.dx[0] * factor).to_vector(), Value(plain.dx[0]).x) < 2 * tight);
      for (const real d : scaled.dx[0].to_vector()) CHECK(std::isfinite(d));
    }
  }
  const real most = std::numeric_limits<real>::max();
  CHECK(distance(layer_norm(Array({2}, std::vector<real>{most, -most})).to_vector(), {1, -1}) < 1e-6);
  CHECK(distance(rms_norm(Array({2}, std::vector<real>{most, -most})).to_vector(), {1, -1}) < 1e-6);
  CHECK(distance(layer_norm(array({2}, {2e19, -2e19})).to_vector(), {1, -1}) < 1e-6);
  CHECK(static_cast<double>(layer_norm(array({2}, {1e-25, -1e-25})).array().at({0})) ==
        doctest::Approx(1e-25 / std::sqrt(1e-5)));
}

TEST_CASE("layer_norm, rms_norm: rows longer than a block of rows has numbers") {
  const Array x = random_array({3, 5000}, 1);
  for (Index row = 0; row < 3; ++row) {
    double mean = 0, square = 0;
    for (Index c = 0; c < 5000; ++c) mean += static_cast<double>(x.at({row, c})) / 5000;
    for (Index c = 0; c < 5000; ++c) square += std::pow(static_cast<double>(x.at({row, c})), 2) / 5000;
    const double first = static_cast<double>(x.at({row, 0}));
    CHECK(layer_norm(Tensor(x)).array().at({row, 0}) ==
          doctest::Approx((first - mean) / std::sqrt(square - mean * mean + 1e-5)).epsilon(1e-5));
    CHECK(rms_norm(Tensor(x)).array().at({row, 0}) == doctest::Approx(first / std::sqrt(square + 1e-5)).epsilon(1e-5));
  }
}

TEST_CASE("layer_norm: gradients over more rows than one block, also of a bias alone, for any number of threads") {
  const Array x = random_array({4000, 37}, 1), weight = random_array({37}, 2), bias = random_array({37}, 3);
  const Array dy = random_array({4000, 37}, 4);
  const Run expected(layer_full, {x, weight, bias}, dy);
  std::vector<double> db(37);
  for (Index r = 0; r < 4000; ++r)
    for (Index c = 0; c < 37; ++c) db[static_cast<std::size_t>(c)] += static_cast<double>(dy.at({r, c}));
  CHECK(distance(expected.dx[2].to_vector(), db) < (f64 ? 1e-12 : 1e-4));
  on_all_hardware({1, 2, 3, 7}, [&] {
    CHECK(Run(layer_full, {x, weight, bias}, dy) == expected);
    CHECK(same_bits(Run([&](In in) { return layer_norm(x, weight, in[0]); }, {bias}, dy).dx[0], expected.dx[2]));
  });
}

}  // namespace
}  // namespace mote::test::norm_test
