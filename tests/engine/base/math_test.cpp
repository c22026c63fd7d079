// Accuracy, special values, symmetry and the exact bits of engine/base/math.h, and of the kernels tanh and sigmoid.
#include "engine/base/math.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "engine/kernels/kernels.h"

namespace mote::test::math_test {
namespace {

namespace math = mote::math;
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// xorshift64*: fixed arguments without a library whose numbers might change.
struct Draw {
  std::uint64_t state = 0x9e3779b97f4a7c15u;
  std::uint64_t bits() {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1du;
  }
  double between(double low, double high) { return low + (high - low) * (double(bits() >> 11) * 0x1p-53); }
};

/// |got - want| in units of the last place of T at `want`.
template <class T>
double ulps(T got, long double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e9;
  if (std::isinf(T(want))) return got == T(want) ? 0 : 1e9;
  if (want == 0 || std::isinf(got)) return got == 0 ? 0 : 1e9;
  int exponent = 0;
  std::frexp(want, &exponent);
  const int lowest = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  const int last_place = std::max(exponent - std::numeric_limits<T>::digits, lowest);
  return double(std::fabs((long double)got - want) / std::ldexp(1.0L, last_place));
}

long double sigmoid_oracle(long double x) { return 1 / (1 + std::exp(-x)); }

/// A kernel as a function of one number, null where T is not the library's type.
template <class T, auto kernel>
constexpr auto kernel_of() -> T (*)(T) {
  if constexpr (std::is_same_v<T, real>)
    return [](T x) {
      T y;
      (kernels::table().*kernel)(&x, 1, &y, 1);
      return y;
    };
  else
    return nullptr;
}

struct Function {
  std::string name;
  float (*f)(float);  // one of both may be null
  double (*d)(double);
  long double (*oracle)(long double);
  double low, high;    // where double is compared
  double float_limit;  // ulp
  double double_limit;
  std::uint64_t float_bits, double_bits;  // FNV-1a of the results of a fixed sweep
};

const Function functions[] = {
    {"exp", math::exp, math::exp, std::exp, -760, 720, 1, 1, 0x12f73b536863036bu, 0x47a796a3aa55cc22u},
    {"log", math::log, math::log, std::log, 0, 8, 0.9, 0.9, 0xfd1e9b6b8da365a9u, 0x2a22bccb472a20d7u},
    {"log1p", math::log1p, math::log1p, std::log1p, -1, 1, 0.9, 0.9, 0xeed15bb2916edf41u, 0x4bc9462263005871u},
    {"sin", math::sin, math::sin, std::sin, -1e6, 1e6, 0.75, 0.75, 0x0ee84a153ec9ade5u, 0xe1b18f61d608d357u},
    {"cos", math::cos, math::cos, std::cos, -1e6, 1e6, 0.75, 0.75, 0x2807cd5541d8ef27u, 0x40067aa5739ce937u},
    {"tanh", kernel_of<float, &kernels::Table::tanh>(), kernel_of<double, &kernels::Table::tanh>(), std::tanh, -25, 25,
     3, 3, 0x8f75186ceed89560u, 0xd58563641bbc588bu},
    {"sigmoid", kernel_of<float, &kernels::Table::sigmoid>(), kernel_of<double, &kernels::Table::sigmoid>(),
     sigmoid_oracle, -700, 40, 2.5, 2.5, 0xb58afafb81ba952cu, 0x4b38678b1df745d6u},
};

template <class T>
T number_of(std::uint64_t pattern) {
  T x;
  if constexpr (sizeof(T) == 4) {
    const std::uint32_t half = std::uint32_t(pattern >> 32);
    std::memcpy(&x, &half, sizeof x);
  } else {
    std::memcpy(&x, &pattern, sizeof x);
  }
  return x;
}

struct Fnv {
  std::uint64_t hash = 0xcbf29ce484222325u;
  template <class T>
  void add(T x) {
    std::uint64_t pattern = 0;
    if (std::isnan(x)) x = T(42);  // which NaN it is depends on the machine
    std::memcpy(&pattern, &x, sizeof x);
    for (int i = 0; i < 8; ++i, pattern >>= 8) hash = (hash ^ (pattern & 0xff)) * 0x100000001b3u;
  }
};

/// Arguments of all sizes, half of them any bit pattern at all, the others of the size one meets.
template <class T>
T argument(Draw& draw, int i) {
  return i % 2 ? number_of<T>(draw.bits()) : T(draw.between(-1, 1) * (i % 4 ? 1 : 20));
}

template <class T, class F>
std::uint64_t bits_of_sweep(F f) {
  Draw draw;
  Fnv sum;
  for (int i = 0; i < 4000; ++i) sum.add(f(argument<T>(draw, i)));
  return sum.hash;
}

}  // namespace

TEST_CASE("math: float functions against long double, over all bit patterns") {
  for (const Function& f : functions) {
    if (!f.f) continue;
    CAPTURE(f.name);
    double worst = 0;
    float at = 0;
    for (std::uint64_t pattern = 0; pattern < (std::uint64_t(1) << 32); pattern += 400009) {
      const float x = number_of<float>(pattern << 32);
      const double error = std::isnan(x) ? ulps(f.f(x), not_a_number) : ulps(f.f(x), f.oracle(x));
      if (error > worst) {
        worst = error;
        at = x;
      }
    }
    CAPTURE(at);
    CHECK(worst <= f.float_limit);
  }
}

TEST_CASE("math: double functions against long double") {
  if (std::numeric_limits<long double>::digits <= 53) return;  // no better oracle on this machine
  for (const Function& f : functions) {
    if (!f.d) continue;
    CAPTURE(f.name);
    Draw draw;
    double worst = 0, at = 0;
    for (int i = 0; i < 10000; ++i) {
      double x = draw.between(f.low, f.high);
      if (i % 2) x = std::copysign(std::ldexp(draw.between(0.5, 1), i % 64 - 60), f.low < 0 ? x : 1.0);
      const double error = ulps(f.d(x), f.oracle(x));
      if (error > worst) {
        worst = error;
        at = x;
      }
    }
    CAPTURE(at);
    CHECK(worst <= f.double_limit);
  }
}

TEST_CASE("math: pow against long double") {
  Draw draw;
  double worst_float = 0, worst_double = 0;
  for (int i = 0; i < 10000; ++i) {
    double x = draw.between(0.5, 1) * std::ldexp(1.0, i % 3 ? 0 : i % 41 - 20);
    double y = draw.between(-1, 1) * (i % 3 ? 500 : 30);
    if (i % 4 == 0) {
      x = -x;
      y = std::nearbyint(y);
    }
    const float fx = float(x), fy = float(y);
    worst_float = std::max(worst_float, ulps(math::pow(fx, fy), std::pow((long double)fx, (long double)fy)));
    worst_double = std::max(worst_double, ulps(math::pow(x, y), std::pow((long double)x, (long double)y)));
  }
  CHECK(worst_float <= 1.2);
  if (std::numeric_limits<long double>::digits > 53) CHECK(worst_double <= 1.2);
}

TEST_CASE("math: special values") {
  for (const Function& f : functions) {
    CAPTURE(f.name);
    for (const float x : {0.0f, -0.0f, infinity, -infinity, not_a_number, -1.0f, 1e-45f, -1e-45f, 3.4e38f, -3.4e38f}) {
      CAPTURE(x);
      const long double want = f.oracle(x);
      if (f.f) CHECK(ulps(f.f(x), want) <= f.float_limit);
      if (f.d) CHECK(ulps(f.d(x), want) <= f.double_limit);
      if (f.f && want == 0) CHECK(std::signbit(f.f(x)) == std::signbit(want));
      if (f.d && want == 0) CHECK(std::signbit(f.d(x)) == std::signbit(want));
    }
  }
  CHECK(math::exp(88.73f) == infinity);
  CHECK(math::exp(88.72f) < infinity);
  CHECK(math::exp(-103.9f) == std::numeric_limits<float>::denorm_min());
  CHECK(math::exp(-104.0f) == 0);
  // The double that comes nearest to a multiple of pi/2 (Kahan and McDonald): every digit of the reduction counts.
  CHECK(math::cos(6381956970095103.0 * 0x1p797) == -4.6871659242546277e-19);
}

TEST_CASE("math: special values of pow, C99 F.9.4.4") {
  const auto same = [](double a, double b) {
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
  };
  const float values[] = {0.0f,   -0.0f,      1.0f,        -1.0f,    2.0f,      -2.0f,       0.5f,
                          -0.5f,  3.0f,       -3.0f,       2.5f,     -2.5f,     1e30f,       -1e30f,
                          1e-40f, 8388609.0f, 16777218.0f, infinity, -infinity, not_a_number};
  for (const float x : values)
    for (const float y : values) {
      const float want_float = std::pow(x, y);
      const double want = std::pow(double(x), double(y));
      CAPTURE(x);
      CAPTURE(y);
      const bool exact = want_float == 0 || !std::isfinite(want_float);
      CHECK((exact ? same(math::pow(x, y), want_float) : ulps(math::pow(x, y), want_float) <= 1.7));
      const bool exact_double = want == 0 || !std::isfinite(want);
      CHECK((exact_double ? same(math::pow(double(x), double(y)), want)
                          : ulps(math::pow(double(x), double(y)), want) <= 1.7));
    }
}

TEST_CASE("math: sin and tanh are odd to the last bit and stay within [-1, 1]") {
  const Function& tanh =
      *std::find_if(std::begin(functions), std::end(functions), [](const Function& f) { return f.name == "tanh"; });
  Draw draw;
  for (int i = 0; i < 10000; ++i) {
    const float x = argument<float>(draw, i);
    const double d = argument<double>(draw, i);
    if (std::isnan(x) || std::isnan(d) || std::isinf(x) || std::isinf(d)) continue;
    REQUIRE(math::sin(-x) == -math::sin(x));
    REQUIRE(math::sin(-d) == -math::sin(d));
    if (tanh.f) REQUIRE(tanh.f(-x) == -tanh.f(x));
    if (tanh.d) REQUIRE(tanh.d(-d) == -tanh.d(d));
    REQUIRE(std::fabs(math::sin(x)) <= 1);
    REQUIRE(std::fabs(math::cos(d)) <= 1);
    if (tanh.f) REQUIRE(std::fabs(tanh.f(x)) <= 1);
    if (tanh.d) REQUIRE(std::fabs(tanh.d(d)) <= 1);
  }
}

TEST_CASE("math: a slightly larger argument never gives a smaller result") {
  for (const Function& f : functions) {
    if (!f.f || f.f == static_cast<float (*)(float)>(math::sin) || f.f == static_cast<float (*)(float)>(math::cos))
      continue;
    CAPTURE(f.name);
    // 16 neighbours are further apart than the error; around the places where a formula changes to another one, too.
    for (const float centre : {0.25f, 0.34657f, 0.41421f, 0.70711f, 1.0f, 1.41421f, 4.0f, 6.0f, 10.0f}) {
      std::uint32_t pattern;
      std::memcpy(&pattern, &centre, sizeof pattern);
      float before = -infinity;
      for (std::uint32_t p = pattern - 3200; p < pattern + 3200; p += 16) {
        const float y = f.f(number_of<float>(std::uint64_t(p) << 32));
        REQUIRE(y >= before);
        before = y;
      }
    }
  }
}

// A constant that changes means that results change on somebody's machine, or everybody's. If that is meant, run the
// test on any machine and copy the numbers it prints.
TEST_CASE("math: the same bits on every machine and from every compiler") {
  for (const Function& f : functions) {
    CAPTURE(f.name);
    if (f.f) CHECK(bits_of_sweep<float>(f.f) == f.float_bits);
    if (f.d) CHECK(bits_of_sweep<double>(f.d) == f.double_bits);
  }
  Draw exponents;
  exponents.bits();
  CHECK(bits_of_sweep<float>([&](float x) { return math::pow(x, float(exponents.between(-9, 9))); }) ==
        0x556cd1c154b6e248u);
  CHECK(bits_of_sweep<double>([&](double x) { return math::pow(x, exponents.between(-9, 9)); }) == 0x3961a237d16001bcu);
}

}  // namespace mote::test::math_test
