// Checks 23: positions as waves.

// hint: Columns c = 0 1 2 3 4 5 ... belong to the pairs i = c / 2 = 0 0 1 1 2 2 ... Even columns are sines.
// hint: const double angle = t / std::pow(10000.0, 2.0 * i / C); The 2.0 prevents an integer division.
// why: The fast waves tell neighbours apart, the slow ones tell the beginning from the end, as the hands of a clock do.
// why: Row t + 1 is row t with each pair rotated by a fixed angle. So one step back is the same rotation at every t.
// why: The dot product of rows s and t depends on t - s alone. Rotary positions are built on this property.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Waves = Tensor(Index T, Index C);

static void check(Waves wave_table) {
  for (const auto& [T, C] : {std::pair<Index, Index>{4, 6}, {40, 10}, {2, 4}, {5, 2}, {1, 8}, {3000, 4}})
    expect_close("wave_table(" + printed(T) + ", " + printed(C) + ")", wave_table(T, C), SinusoidalPositions(T, C)(T));
}

static double exponent(Index c, Index C) { return static_cast<double>(c / 2 * 2) / static_cast<double>(C); }
/// A table [T, C]. Row t and column c hold the sine of angle(t, c, C) if is_sine(c, C), and otherwise the cosine.
template <auto angle, auto is_sine = [](Index c, Index) { return c % 2 == 0; }>
static Tensor by_angle(Index T, Index C) {
  std::vector<real> y;
  for (Index t = 0; t < T; ++t)
    for (Index c = 0; c < C; ++c) {
      const double a = angle(static_cast<double>(t), c, C);
      y.push_back(is_sine(c, C) ? std::sin(a) : std::cos(a));
    }
  return Array({T, C}, y);
}
static double right_angle(double t, Index c, Index C) { return t / std::pow(10000.0, exponent(c, C)); }

static const Row<Waves> rows[] = {
    {"swapped", "Sine and cosine are swapped: even columns are sines, so that row 0 begins with 0.",
     by_angle<right_angle, [](Index c, Index) { return c % 2 == 1; }>},
    {"exponent i / C", "The exponent is 2i / C for the pair i; yours is i / C, so no wave is slower than 1 / 100.",
     by_angle<[](double t, Index c, Index C) { return t / std::pow(10000.0, exponent(c, C) / 2); }>},
    {"exponent by column", "Both columns of a pair have one speed: for column 2i + 1 the exponent is 2i / C, too.",
     by_angle<[](double t, Index c, Index C) {
       return t / std::pow(10000.0, static_cast<double>(c) / static_cast<double>(C));
     }>,
     by_angle<[](double t, Index c, Index C) {
       return t / std::pow(10000.0, 2 * static_cast<double>(c) / static_cast<double>(C));
     }>},
    {"halves side by side", "All sines stand left and all cosines right, but they take turns.",
     by_angle<[](double t, Index c, Index C) { return right_angle(t, c % (C / 2) * 2, C); },
              [](Index c, Index C) { return c < C / 2; }>},
    {"places from 1", "Your places start at 1, but the first is 0: row 0 is 0 1 0 1 ...",
     by_angle<[](double t, Index c, Index C) { return right_angle(t + 1, c, C); }>},
    {"whole numbers", "2 * i / C is a division of whole numbers, always 0: write 2.0 * i / C.",
     by_angle<[](double t, Index, Index) { return t; }>},
    {"multiplied", "You multiply t by 10000^(2i/C), but it is divided by it: waves become slower to the right.",
     by_angle<[](double t, Index c, Index C) { return t * std::pow(10000.0, exponent(c, C)); }>},
    {"hard-coded", of_example,
     [](Index, Index) {
       return tensor({{0, 1, 0, 1}, {0.8415, 0.5403, 0.0100, 1}});
     }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
Tensor wave_table(Index T, Index C) {
  std::vector<real> y(T * C);
  for (Index t = 0; t < T; ++t)
    for (Index i = 0; i < C / 2; ++i) {
      const double angle = t / std::pow(10000.0, 2.0 * i / C);
      y[t * C + 2 * i] = std::sin(angle);
      y[t * C + 2 * i + 1] = std::cos(angle);
    }
  return Array({T, C}, y);
}
}  // namespace solution
static const Right right([] { check(solution::wave_table); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(wave_table); }, YOURS, {"SinusoidalPositions"});
}
