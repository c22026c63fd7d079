// Every kernel of every table this processor runs gives the bits of the portable one, on all lengths, offsets and
// strides, and writes nothing beside its output.
#include "engine/kernels/kernels.h"

#include <cstddef>

#include "tests/tools.h"

namespace mote::test::kernels_test {
namespace {

using kernels::Table;
constexpr Index margin = 16;
constexpr real sentinel = real(-12345.678);

bool equal(real a, real b) { return std::memcmp(&a, &b, sizeof(real)) == 0 || (std::isnan(a) && std::isnan(b)); }
bool equal(const std::vector<real>& a, const std::vector<real>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](real x, real y) { return equal(x, y); });
}

/// Random numbers of every size, with special ones among them.
std::vector<real> mixed(Index n, std::uint64_t seed, bool special = true) {
  static const std::vector<real> specials = special_values();
  std::vector<real> x = random_array({n}, seed, -8, 8).to_vector();
  for (std::size_t i = seed % 5; special && i < x.size(); i += 5) x[i] = specials[(i / 5 + seed) % specials.size()];
  return x;
}

/// 0..67 and around 1000: shorter than a vector, one vector, several, with every rest.
std::vector<Index> lengths() {
  std::vector<Index> list;
  for (Index n = 0; n <= 67; ++n) list.push_back(n);
  for (const Index n : {999, 1000, 1001}) list.push_back(n);
  return list;
}

/// `write(t, y)` fills y[0, n): the same from every table, and nothing to either side. y starts `offset` elements into
/// its buffer, and holds `start` there.
template <class Write>
void same_everywhere(const char* name, Index n, Index offset, Write write, const std::vector<real>& start = {}) {
  std::vector<real> expected;
  for (const Table* t : kernels::available_tables()) {
    std::vector<real> buffer(static_cast<std::size_t>(n + offset + 2 * margin), sentinel);
    std::copy(start.begin(), start.end(), buffer.begin() + margin + offset);
    write(*t, buffer.data() + margin + offset);
    bool untouched = true;
    for (Index i = 0; i < margin + offset; ++i)
      untouched = untouched && buffer[static_cast<std::size_t>(i)] == sentinel;
    for (Index i = 0; i < margin; ++i)
      untouched = untouched && buffer[buffer.size() - 1 - static_cast<std::size_t>(i)] == sentinel;
    if (expected.empty()) expected = buffer;
    const bool same = equal(buffer, expected);
    if (untouched && same) continue;  // a check for each of these cases would take longer than the kernels
    CAPTURE(name);
    CAPTURE(t->name);
    CAPTURE(n);
    CAPTURE(offset);
    CHECK(untouched);
    CHECK(same);
  }
}

template <class F>
struct Kernel {
  const char* name;
  F* Table::*f;
};
const std::vector<Kernel<kernels::Unary>> unary{{"neg", &Table::neg},   {"abs", &Table::abs},
                                                {"sign", &Table::sign}, {"sqrt", &Table::sqrt},
                                                {"exp", &Table::exp},   {"log", &Table::log},
                                                {"sin", &Table::sin},   {"cos", &Table::cos},
                                                {"tanh", &Table::tanh}, {"relu", &Table::relu},
                                                {"gelu", &Table::gelu}, {"sigmoid", &Table::sigmoid},
                                                {"silu", &Table::silu}, {"gelu_tanh", &Table::gelu_tanh}};
const std::vector<Kernel<kernels::Binary>> binary{{"add", &Table::add},
                                                  {"sub", &Table::sub},
                                                  {"mul", &Table::mul},
                                                  {"div", &Table::div},
                                                  {"maximum", &Table::maximum},
                                                  {"minimum", &Table::minimum},
                                                  {"pow", &Table::pow},
                                                  {"relu_backward", &Table::relu_backward},
                                                  {"gelu_backward", &Table::gelu_backward},
                                                  {"gelu_tanh_backward", &Table::gelu_tanh_backward},
                                                  {"silu_backward", &Table::silu_backward},
                                                  {"tanh_backward", &Table::tanh_backward},
                                                  {"sigmoid_backward", &Table::sigmoid_backward}};

TEST_CASE("kernels: the two lists above name every element-wise kernel of the table") {
  CHECK(unary.size() == (offsetof(Table, gelu_backward) - offsetof(Table, neg)) / sizeof(kernels::Unary*));
  CHECK(binary.size() ==
        (offsetof(Table, gelu_again) - offsetof(Table, add)) / sizeof(kernels::Binary*) - unary.size());
}

TEST_CASE("kernels: functions of one number, every length, offset and stride; a rest is computed as a vector is") {
  const std::vector<real> x = mixed(5000, 7);
  for (const auto& [name, f] : unary)
    for (const Index stride : {1, 0, 2, -1, 3})
      for (const Index n : lengths())
        for (const Index offset : {n % 16, 15 - n % 16}) {
          const real* const in = x.data() + 1100 + offset;
          std::vector<real> single(static_cast<std::size_t>(n));
          for (Index i = 0; i < n; ++i)
            (kernels::table().*f)(in + i * stride, 1, &single[static_cast<std::size_t>(i)], 1);
          same_everywhere(name, n, offset, [&, f = f](const Table& t, real* y) {
            (t.*f)(in, stride, y, n);
            CHECK(equal(std::vector<real>(y, y + n), single));
            if (stride != 1) return;
            std::copy(in, in + n, y);  // an output that is the input
            (t.*f)(y, 1, y, n);
            CHECK(equal(std::vector<real>(y, y + n), single));
          });
        }
}

TEST_CASE("kernels: functions of two numbers, every length, offset and pair of strides") {
  const std::vector<real> a = mixed(5000, 3), b = mixed(5000, 8);
  for (const auto& [name, f] : binary)
    for (const Index sa : {1, 0, 2, -1})
      for (const Index sb : {1, 0, 2, -1, 3})
        for (const Index n : lengths()) {
          const real *const x = a.data() + 1100 + n % 13, *const z = b.data() + 1101 + n % 16;
          std::vector<real> single(static_cast<std::size_t>(n));
          for (Index i = 0; i < n; ++i)
            (kernels::table().*f)(x + i * sa, 1, z + i * sb, 1, &single[static_cast<std::size_t>(i)], 1);
          same_everywhere(name, n, (n + sa + sb) & 15, [&, f = f](const Table& t, real* y) {
            (t.*f)(x, sa, z, sb, y, n);
            CHECK(equal(std::vector<real>(y, y + n), single));
          });
        }
}

TEST_CASE("kernels: functions of two numbers whose output is an input") {
  for (const Index n : {1, 16, 37}) {
    const std::vector<real> x = mixed(n, 5), z = mixed(n, 6);
    same_everywhere(
        "add", n, 3, [&](const Table& t, real* y) { t.add(y, 1, z.data(), 1, y, n); }, x);
    same_everywhere(
        "mul", n, 3, [&](const Table& t, real* y) { t.mul(y, 1, y, 1, y, n); }, x);
  }
}

TEST_CASE("kernels: reductions") {
  for (const Index n : lengths())
    for (const bool special : {false, true})
      for (const Index offset : {Index(0), n % 16}) {
        const std::vector<real> x = mixed(n + 16, static_cast<std::uint64_t>(n), special);
        const real* const a = x.data() + offset;
        same_everywhere("sum", 1, 0, [&](const Table& t, real* y) { *y = t.sum(a, n); });
        same_everywhere("max", 1, 0, [&](const Table& t, real* y) { *y = t.max(a, n); });
        same_everywhere("min", 1, 0, [&](const Table& t, real* y) { *y = t.min(a, n); });
        same_everywhere("ssd", 1, 0, [&](const Table& t, real* y) { *y = t.sum_squared_difference(a, real(0.3), n); });
      }
  for (const Index columns : lengths())
    for (const Index rows : {0, 1, 5, 128, 129, 300}) {
      if (columns > 100 && rows > 5) continue;
      const std::vector<real> x = mixed(rows * (columns + 3) + 1, 2, false);
      same_everywhere("sum_columns", columns, columns % 16,
                      [&](const Table& t, real* y) { t.sum_columns(x.data(), rows, columns + 3, y, columns); });
    }
}

TEST_CASE("kernels: rows") {
  for (const Index n : lengths())
    for (const bool special : {false, true}) {
      const auto seed = static_cast<std::uint64_t>(n);
      const std::vector<real> x = mixed(n, seed, special), dy = mixed(n, seed + 1, special),
                              w = mixed(n, seed + 2, false);
      std::vector<std::uint8_t> keep(static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < keep.size(); ++i) keep[i] = (i * 7 + seed) % 3 != 0;
      const real stats[2] = {real(0.4), real(1.7)};
      const Index o = n % 16;
      const real *const px = x.data(), *const pd = dy.data();
      for (const std::uint8_t* k : std::initializer_list<const std::uint8_t*>{nullptr, keep.data()})
        same_everywhere("softmax", n + 2, o, [&](const Table& t, real* y) { t.softmax(px, k, y, y + n, n); });
      same_everywhere("softmax_backward", n, o, [&](const Table& t, real* y) { t.softmax_backward(pd, px, y, n); });
      same_everywhere("log_softmax", n, o, [&](const Table& t, real* y) { t.log_softmax(px, y, n); });
      same_everywhere("log_softmax_backward", n, o,
                      [&](const Table& t, real* y) { t.log_softmax_backward(pd, px, y, n); });
      same_everywhere("log_sum_exp", 2, 0, [&](const Table& t, real* y) { t.log_sum_exp(px, y, n); });
      same_everywhere("sum_log_softmax", 1, 0, [&](const Table& t, real* y) { *y = t.sum_log_softmax(px, stats, n); });
      if (n > 0)
        same_everywhere("cross_entropy_backward", n, o, [&](const Table& t, real* y) {
          t.cross_entropy_backward(px, stats, {n / 2, real(0.9), real(0.01), real(0.3)}, y, n);
        });
    }
}

TEST_CASE("kernels: norms, one row to more than a group of rows") {
  for (const Index n : lengths())
    for (const Index rows : {1, 3, 16, 37}) {
      if (n == 0 || (n > 20 && n < 60) || (n > 100 && rows > 3)) continue;
      const auto seed = static_cast<std::uint64_t>(n);
      const bool special = rows == 3;
      const std::vector<real> x = mixed(rows * n, seed, special), dy = mixed(rows * n, seed + 1, special),
                              w = mixed(n, seed + 2, false), start = mixed(n, seed + 3, false);
      std::vector<real> stats = mixed(2 * rows, seed + 4, false);
      const Index o = n % 16;
      for (const bool centred : {true, false})
        for (const real* pw : {static_cast<const real*>(nullptr), w.data()}) {
          same_everywhere(centred ? "layer_norm" : "rms_norm", rows * (n + 2), o, [&](const Table& t, real* y) {
            (centred ? t.layer_norm : t.rms_norm)(x.data(), {pw, pw, real(1e-5)}, y, y + rows * n, rows, n);
          });
          const kernels::NormInputs in{dy.data(), x.data(), pw, stats.data()};
          const auto backward = [&](const Table& t, const kernels::NormGradients& out) {
            (centred ? t.layer_norm_backward : t.rms_norm_backward)(in, out, rows, n);
          };
          same_everywhere("norm_backward", rows * n, o, [&](const Table& t, real* y) {
            backward(t, {y, nullptr, nullptr});
          });
          for (const bool bias : {false, true})
            same_everywhere(
                "norm_backward of the weights", n, o,
                [&](const Table& t, real* y) {
                  std::vector<real> dx(x.size());
                  backward(t, {pw ? dx.data() : nullptr, bias ? nullptr : y, bias ? y : nullptr});
                },
                start);
        }
    }
}

TEST_CASE("kernels: scale_kept multiplies by the factor of each element's bit") {
  for (const Index n : lengths()) {
    const std::vector<real> x = mixed(n, static_cast<std::uint64_t>(n));
    std::vector<std::uint8_t> keep(static_cast<std::size_t>((n + 15) / 16 * 2));
    for (std::size_t i = 0; i < keep.size(); ++i) keep[i] = static_cast<std::uint8_t>(0x5c + 77 * i);
    std::vector<real> want(x);
    for (std::size_t i = 0; i < want.size(); ++i) want[i] *= keep[i / 8] >> i % 8 & 1 ? real(1.25) : real(0);
    same_everywhere("scale_kept", n, n % 16, [&](const Table& t, real* y) {
      t.scale_kept(x.data(), keep.data(), real(1.25), y, n);
      CHECK(equal(std::vector<real>(y, y + n), want));
    });
  }
}

TEST_CASE("kernels: gradient descent") {
  const kernels::MomentsDescent step{
      real(0.9),  real(0.1),   real(0.999), real(0.001), real(0.9999),
      real(0.01), real(0.003), real(0.7),   real(1e-8),  std::numeric_limits<real>::min()};
  for (const Index n : lengths()) {
    const std::vector<real> value = mixed(n, 1, false), grad = mixed(n, 2, false), m = mixed(n, 3, false);
    std::vector<real> v = mixed(n, 4, false);
    for (real& x : v) x *= x;
    same_everywhere("moments", 3 * n, n % 16, [&](const Table& t, real* y) {
      std::vector<real> p = value, mean = m, square = v;
      t.descend_by_moments(step, p.data(), grad.data(), mean.data(), square.data(), n);
      for (const std::vector<real>& written : {p, mean, square}) y = std::copy(written.begin(), written.end(), y);
    });
    for (const bool nesterov : {false, true})
      for (const bool first : {false, true}) {
        const kernels::VelocityDescent s{real(0.1), real(0.01), real(0.9), real(0.8), nesterov, first};
        same_everywhere(
            "velocity", n, n % 16,
            [&](const Table& t, real* y) {
              std::vector<real> velocity = m;
              t.descend_by_velocity(s, y, grad.data(), nesterov || first ? velocity.data() : nullptr, n);
            },
            value);
      }
  }
}

TEST_CASE("kernels: lerp, from whichever end is nearer, with PyTorch's bits") {
  for (const Index n : lengths())
    for (const real share : {real(0), real(0.01), real(0.5), real(0.95), real(1)}) {
      const std::vector<real> x = mixed(n, 1, false), y = mixed(n, 2, false);
      same_everywhere(
          "lerp", n, n % 16,
          [&](const Table& t, real* to) {
            t.lerp(x.data(), share, to, n);
            bool right = true;
            for (Index i = 0; i < n; ++i) {
              const real from = y[static_cast<std::size_t>(i)], end = x[static_cast<std::size_t>(i)];
              const real torch = share < real(0.5) ? std::fma(share, end - from, from)  // from the middle on the other
                                                   : std::fma(share - 1, end - from, end);
              right = right && equal(to[i], torch);
            }
            CHECK(right);
          },
          y);
    }
}

}  // namespace
}  // namespace mote::test::kernels_test
