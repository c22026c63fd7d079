// The portable lanes of engine/kernels/target/simd.h, and the formulas over them.
#include "engine/kernels/target/simd.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

#include "engine/base/math.h"
#include "engine/base/math_trig.h"

namespace mote::test::simd_test {
namespace {

constexpr real inf = std::numeric_limits<real>::infinity();
constexpr real nan = std::numeric_limits<real>::quiet_NaN();

bool all(Truths m) { return !any(~m); }

using Draw = std::mt19937_64;
real any_pattern(Draw& draw) {
  const UInt pattern = UInt(draw() >> (64 - 8 * sizeof(real)));
  real x;
  std::memcpy(&x, &pattern, sizeof x);
  return x;
}
real moderate(Draw& draw) { return real(double(draw() >> 11) * 0x1p-52 - 1); }

bool same(real a, real b) { return (a != a && b != b) || std::memcmp(&a, &b, sizeof a) == 0; }

struct Numbers {
  real x[16];
  explicit Numbers(Vec v) { v.store(x); }
  Numbers() : x{} {}
};

/// Every lane of a one-argument function of Vec against the scalar function.
template <class F, class G>
bool agree(const Numbers& a, F lanes, G one) {
  const Numbers y(lanes(Vec::load(a.x)));
  for (int i = 0; i < 16; ++i)
    if (!same(y.x[i], one(a.x[i]))) return false;
  return true;
}

}  // namespace

TEST_CASE("simd: fma is rounded once") {
  Draw draw;
  for (int round = 0; round < 3000; ++round) {
    Numbers a, b, c;
    for (int i = 0; i < 16; ++i) {
      const bool any = round % 2 == 0;
      a.x[i] = any ? any_pattern(draw) : moderate(draw);
      b.x[i] = any ? any_pattern(draw) : moderate(draw);
      c.x[i] = any ? any_pattern(draw) : moderate(draw);
      if (round % 4 == 1) c.x[i] = -a.x[i] * b.x[i];  // cancels down to what the product lost
      if (round % 4 == 3) {                           // subnormal, and between two of them
        a.x[i] *= std::numeric_limits<real>::min();
        c.x[i] *= std::numeric_limits<real>::denorm_min() * 9;
      }
    }
    const Numbers y(fma(Vec::load(a.x), Vec::load(b.x), Vec::load(c.x)));
    for (int i = 0; i < 16; ++i) REQUIRE(same(y.x[i], std::fma(a.x[i], b.x[i], c.x[i])));
  }
}

TEST_CASE("simd: fma of a product half way between two floats follows the sign of what is added") {
  const real half = static_cast<real>(std::exp2(-(std::numeric_limits<real>::digits / 2)));
  const real tiny = static_cast<real>(0x1p-80);
  Numbers a, b, c;
  for (int i = 0; i < 16; ++i) {
    a.x[i] = (i & 1 ? -1 : 1) * real(i & 8 ? 4 : 1) * (1 + half);
    b.x[i] = 1 + (i & 4 ? 3 : 1) * half;
    c.x[i] = (i & 2 ? -1 : 1) * tiny;
  }
  const Numbers y(fma(Vec::load(a.x), Vec::load(b.x), Vec::load(c.x)));
  for (int i = 0; i < 16; ++i) {
    CHECK(same(y.x[i], std::fma(a.x[i], b.x[i], c.x[i])));
    const double product = double(a.x[i]) * double(b.x[i]), to = std::copysign(9, double(c.x[i]));
    if (sizeof(real) == 4) CHECK(same(y.x[i], static_cast<real>(std::nextafter(product, to))));  // a C library may err
  }
}

TEST_CASE("simd: a chain of fma is rounded at every link") {  // GCC 12 lost the inner rounding once
  Draw draw;
  for (int round = 0; round < 1000; ++round) {
    Numbers a;
    for (real& x : a.x) x = moderate(draw);
    const Vec v = Vec::load(a.x);
    const Numbers y(fma(fma(fma(v, v, Vec(1)), v, Vec(2)), v, Vec(3)));
    for (int i = 0; i < 16; ++i) {
      const real x = a.x[i];
      REQUIRE(same(y.x[i], std::fma(std::fma(std::fma(x, x, real(1)), x, real(2)), x, real(3))));
    }
  }
}

TEST_CASE("simd: partial loads and stores touch nothing beyond") {
  real from[18], to[18];
  for (int i = 0; i < 18; ++i) from[i] = real(i + 1);
  for (Index n = 0; n <= 16; ++n) {
    CAPTURE(n);
    const Numbers x(Vec::load_first(from + 1, n));
    for (real& slot : to) slot = -7;
    Vec::load(from + 1).store_first(to + 1, n);
    for (Index i = 0; i < 16; ++i) {
      REQUIRE(x.x[i] == (i < n ? real(i + 2) : 0));
      REQUIRE(to[i + 1] == (i < n ? real(i + 2) : -7));
    }
    REQUIRE(to[0] == -7);
    REQUIRE(to[17] == -7);
  }
}

TEST_CASE("simd: a strided load follows any stride, and touches nothing beyond") {
  real from[16 * 3], to[Reg::lanes];
  for (int i = 0; i < 48; ++i) from[i] = real(i);
  for (const Index stride : {3, -3, 0}) {
    const Index first = stride < 0 ? 47 : 0;
    for (Index n = 0; n <= Reg::lanes; ++n) {
      Reg::load_strided(from + first, stride, n).store(to);
      for (Index i = 0; i < Reg::lanes; ++i) REQUIRE(to[i] == (i < n ? real(first + i * stride) : 0));
    }
  }
}

TEST_CASE("simd: trees add in the promised order") {
  Draw draw;
  for (int round = 0; round < 100; ++round) {
    Numbers a;
    for (real& x : a.x) x = moderate(draw);
    real t[16];
    std::memcpy(t, a.x, sizeof t);
    for (int half = 8; half > 0; half /= 2)
      for (int i = 0; i < half; ++i) t[i] += t[i + half];
    REQUIRE(same(sum_tree(Vec::load(a.x)), t[0]));
    real largest = a.x[0], smallest = a.x[0];
    for (const real x : a.x) {
      largest = x > largest ? x : largest;
      smallest = x < smallest ? x : smallest;
    }
    REQUIRE(max_tree(Vec::load(a.x)) == largest);
    REQUIRE(min_tree(Vec::load(a.x)) == smallest);
    a.x[round % 16] = nan;
    REQUIRE(std::isnan(sum_tree(Vec::load(a.x))));
    REQUIRE(std::isnan(max_tree(Vec::load(a.x))));
    REQUIRE(std::isnan(min_tree(Vec::load(a.x))));
  }
}

TEST_CASE("simd: comparisons, signs and the larger of two") {
  const real values[] = {0, real(-0.0), 1, -2, inf, -inf, nan, std::numeric_limits<real>::denorm_min()};
  for (const real a : values)
    for (const real b : values) {
      const Vec x(a), y(b);
      CHECK(all(x < y) == (a < b));
      CHECK(any(x <= y) == (a <= b));
      CHECK(all(x > y) == (a > b));
      CHECK(all(x == y) == (a == b));
      CHECK(all(x != y) == (a != b));
      const real larger = a != a ? a : b < a ? a : b, smaller = a != a ? a : a < b ? a : b;
      CHECK(same(Numbers(maximum(x, y)).x[3], larger));
      CHECK(same(Numbers(minimum(x, y)).x[12], smaller));
      CHECK(same(Numbers(-x).x[0], -a));
      CHECK(same(Numbers(abs(x)).x[15], std::fabs(a)));
    }
  const auto first_three = Vec::iota() < Vec(3);
  CHECK(any(first_three));
  CHECK_FALSE(all(first_three));
  CHECK(sum_tree(select(first_three, Vec(1), Vec::zero())) == 3);
  CHECK(sum_tree(select(~first_three, Vec(1), Vec::zero())) == 13);
}

TEST_CASE("simd: 16 lanes and one give the same bits") {
  const std::pair<Vec (*)(Vec), real (*)(real)> functions[] = {{[](Vec x) { return v_exp(x); }, math::exp},
                                                               {[](Vec x) { return v_log(x); }, math::log},
                                                               {[](Vec x) { return v_log1p(x); }, math::log1p},
                                                               {[](Vec x) { return v_sin(x); }, math::sin},
                                                               {[](Vec x) { return v_cos(x); }, math::cos}};
  Draw draw;
  for (int round = 0; round < 200; ++round) {
    Numbers a, b;
    for (real& x : a.x) x = round % 2 ? any_pattern(draw) : moderate(draw) * 8;
    for (real& x : b.x) x = moderate(draw) * 8;
    for (const auto& [lanes, one] : functions) REQUIRE(agree(a, lanes, one));
    const Numbers y(v_pow(Vec::load(a.x), Vec::load(b.x)));
    for (int i = 0; i < 16; ++i) REQUIRE(same(y.x[i], math::pow(a.x[i], b.x[i])));
  }
}

}  // namespace mote::test::simd_test
