// LearnedPositions, SinusoidalPositions and Rotary.
#include "nn/position.h"
#include "nn/embedding.h"

#include <complex>

#include "tests/nn/oracles.h"
#include "tests/sentences.h"

namespace mote::test::position_test {
namespace {

TEST_CASE("LearnedPositions") {
  check_module(
      "LearnedPositions", [](Generator& random) { return LearnedPositions(5, 3, random); },
      [](const LearnedPositions& m, In) { return m(4); },
      {.names = {"weight"},
       .oracle =
           [](const Weights& w, const std::vector<Value>&) {
             const Row& x = w.at("weight").x;
             return Row(x.begin(), x.begin() + 12);
           },
       .error = [](const LearnedPositions& m) { m(6); },
       .error_text =
           "LearnedPositions: length 6 from position 0 is out of range for 5 positions (in LearnedPositions)"});
  Generator random(123);
  const LearnedPositions m(5, 3, random);
  CHECK(same_bits(m.weight.value(), Embedding(5, 3, Generator(123)).weight.value()));  // so in PyTorch
  CHECK(m(0).shape() == Shape{0, 3});
  REFUSES(m(-1));
  REFUSES(m(1, -1));
  REFUSES(m(1, std::numeric_limits<Index>::max()));
}

/// Sine and cosine of angles that are rounded to `real`, and so are their frequencies.
Row waves(Index length, Index width) {
  Row y;
  const real step = static_cast<real>(-std::log(10000.0) / static_cast<double>(width));
  for (Index t = 0; t < length; ++t)
    for (Index c = 0; c < width; ++c) {
      const real frequency = static_cast<real>(std::exp(static_cast<double>(static_cast<real>(c / 2 * 2) * step)));
      const double angle = static_cast<double>(static_cast<real>(t) * frequency);
      y.push_back(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  return y;
}

TEST_CASE("SinusoidalPositions") {
  for (const Index width : {6, 5, 1})
    check_module(
        "SinusoidalPositions", [=](Generator&) { return SinusoidalPositions(8, width); },
        [](const SinusoidalPositions& m, In) { return m(7); },
        {.oracle = [=](const Weights&, const std::vector<Value>&) { return waves(7, width); },
         .tolerance = f64 ? 1e-14 : 1e-7,
         .error = [](const SinusoidalPositions& m) { m(9); },
         .error_text = "SinusoidalPositions: length 9 from position 0 is out of range for 8 positions (in "
                       "SinusoidalPositions)"});
  const SinusoidalPositions m(2000, 64);
  CHECK(distance(m(2000).to_vector(), waves(2000, 64)) < (f64 ? 1e-11 : 1e-7));
  CHECK(named_parameters(m).empty());
  REQUIRE(named_buffers(m).size() == 1);
  CHECK(named_buffers(m)[0].name == "table");
  CHECK(!m(3).requires_grad());
  REFUSES(m(-1));
  REFUSES(m(1, -1));
  REFUSES(m(1, std::numeric_limits<Index>::max()));
}

TEST_CASE("SinusoidalPositions: PyTorch's numbers at position 1,000") {
  // f = torch.exp(torch.arange(0, 8, 2) * (-math.log(10000.0) / 8)); torch.sin(1000 * f), torch.cos(1000 * f)
  const Array row = SinusoidalPositions(1001, 8)(1, 1000).array();
  const std::vector<double> torch{0x1.a75cc2p-1, 0x1.1ff026p-1,  -0x1.034338p-1, 0x1.b9815ap-1,
                                  -0x1.1689fp-1, -0x1.ad9ac8p-1, 0x1.aed548p-1,  0x1.14a282p-1};
  CHECK(distance(row.to_vector(), torch) < (f64 ? 6e-5 : 1.2e-7));
}

/// Pair i of r/2 of the row at position p, as one complex number, times e^(p base^(-2i/r) sqrt(-1)). The
/// frequency and the angle are rounded to `real`.
Row turned_oracle(const Array& x, Index start, double base, Index r) {
  const Value in(x);
  Row y = in.x;
  const Index length = x.shape()[-2], width = x.shape()[-1];
  for (Index row = 0; row < x.numel() / width; ++row)
    for (Index i = 0; i < r / 2; ++i) {
      const real exponent = static_cast<real>(2 * i) / static_cast<real>(r);
      const double power = std::pow(static_cast<double>(static_cast<real>(base)), static_cast<double>(exponent));
      const real frequency = 1 / static_cast<real>(power);
      const double angle = static_cast<double>(static_cast<real>(start + row % length) * frequency);
      const std::complex<double> z =
          std::complex<double>(in.x[at(row * width + i)], in.x[at(row * width + i + r / 2)]) * std::polar(1.0, angle);
      y[at(row * width + i)] = z.real();
      y[at(row * width + i + r / 2)] = z.imag();
    }
  return y;
}

TEST_CASE("Rotary: PyTorch's cosines and sines at position 1,024") {
  // f = 1.0 / base ** (torch.arange(0, 8, 2).float() / 8); torch.cos(1024 * f), torch.sin(1024 * f)
  const Array ones = array({1, 8}, {1, 1, 1, 1, 0, 0, 0, 0});
  const auto turned = [&](double base) { return Rotary(8, {.base = base})(ones, 1024).to_vector(); };
  const double tight = f64 ? 6e-5 : 1.2e-7;
  CHECK(distance(turned(10000), {0x1.f9866ap-1, -0x1.2ce408p-2, -0x1.5f14fcp-1, 0x1.0a3752p-1, -0x1.44ad26p-3,
                                 0x1.e965d6p-1, -0x1.74ac64p-1, 0x1.b55902p-1}) < tight);
  CHECK(distance(turned(500000), {0x1.f9866ap-1, 0x1.6138dap-1, 0x1.f51512p-4, 0x1.ff3daep-1, -0x1.44ad26p-3,
                                  0x1.72a548p-1, 0x1.fc2782p-1, 0x1.bde916p-5}) < tight);
}

TEST_CASE("Rotary against complex numbers: bases, starts, parts of a head") {
  const Array x = random_array({2, 3, 7, 8}, 1);
  for (const double base : {10000.0, 100.0, 1.0, 500000.0})
    for (const Index start : {0, 1, 1000})
      for (const auto& part : std::vector<std::pair<double, Index>>{{1, 8}, {0.5, 4}, {0.25, 2}, {0.8, 6}, {0.99, 6}}) {
        const Rotary turn(8, {.base = base, .fraction = part.first});
        const Tensor y = turn(x, start);
        CHECK(distance(y.to_vector(), turned_oracle(x, start, base, part.second)) < (f64 ? 1e-12 : 2e-6));
        CHECK(same_bits(y.array().slice(-1, part.second, 8), x.slice(-1, part.second, 8)));
        if (start == 0) CHECK(same_bits(y.array().slice(2, 0, 1), x.slice(2, 0, 1)));  // position 0 is not turned
      }
}

TEST_CASE("Rotary beyond the kept length: the same bits as a longer table, or none") {
  const Array x = random_array({2, 2, 9, 6}, 1);
  const Rotary none(6, {}), few(6, {.length = 4}), some(6, {.length = 9}), many(6, {.length = 4096});
  for (const Index start : {0, 1, 3, 4, 5, 1000, 4080}) {
    const Array y = many(x, start).array();
    for (const Rotary* other : {&none, &few, &some}) CHECK(same_bits((*other)(x, start).array(), y));
  }
  for (Index t = 0; t < 9; ++t)
    CHECK(same_bits(few(x.slice(2, t, t + 1), 7 + t).array(), many(x, 7).array().slice(2, t, t + 1)));
}

TEST_CASE("Rotary: what a constructor refuses") {
  REFUSES(Rotary(7, {}));
  REFUSES(Rotary(0, {}));
  REFUSES(Rotary(4, {.fraction = 0.4}));
  REFUSES(Rotary(4, {.fraction = 0}));
  REFUSES(Rotary(4, {.fraction = 1.5}));
  REFUSES(Rotary(4, {.base = 0}));
  REFUSES(Rotary(4, {.base = static_cast<double>(inf)}));
  REFUSES(Rotary(4, {.length = -1}));
  REFUSES(Rotary(4, {})(Tensor(Array::zeros({1, 2, 4})), -1));
  const Index last = std::numeric_limits<Index>::max();
  REFUSES(Rotary(4, {})(Tensor(Array::zeros({1, 2, 4})), last));
  REFUSES(Rotary(4, {.base = std::nan("")}));
}

}  // namespace
}  // namespace mote::test::position_test
