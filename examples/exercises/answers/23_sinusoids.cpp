// Checks 23: positions as waves.

// hint: Column c belongs to the pair i = c / 2 (whole numbers: 0 0 1 1 2 2 ...); even columns are sines.
// hint: const double angle = t / std::pow(10000.0, 2.0 * i / C); the 2.0 makes it a division of real numbers.
// why: The fast waves tell neighbours apart, the slow ones tell the beginning from the end, as the hands of a clock do.
// why: Row t + 1 is row t with each pair turned by a fixed angle, so "the token before" is the same step everywhere.
// why: The product of rows s and t depends on t - s alone; rotary positions make of this the whole method.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Table = Tensor(Index T, Index C);
enum Mistake { none, swapped, without_2, by_column, side_by_side, from_1, whole_numbers, times };

template <Mistake mistake>
Tensor wrongly(Index T, Index C) {
  std::vector<real> y;
  for (Index t = 0; t < T; ++t)
    for (Index c = 0; c < C; ++c) {
      const Index i = mistake == side_by_side ? c % (C / 2) : c / 2;
      const double place = static_cast<double>(mistake == from_1 ? t + 1 : t), width = static_cast<double>(C);
      double exponent = static_cast<double>(mistake == by_column ? c : mistake == without_2 ? i : 2 * i) / width;
      if (mistake == whole_numbers) exponent = 0;
      const double angle = place * std::pow(10000.0, mistake == times ? exponent : -exponent);
      const bool sine = mistake == side_by_side ? c < C / 2 : (c % 2 == 0) != (mistake == swapped);
      y.push_back(sine ? std::sin(angle) : std::cos(angle));
    }
  return Array({T, C}, y);
}

static void check(Table wave_table) {
  for (const auto& [T, C] : {std::pair<Index, Index>{4, 6}, {40, 10}, {2, 4}, {5, 2}, {1, 8}}) {
    const Tensor got = wave_table(T, C), want = SinusoidalPositions(T, C)(T);
    const auto no = [&, T = T, C = C](Table mistake, const char* sentence) {
      if (const Tensor y = mistake(T, C); !close(y, want)) expect_not(got, y, sentence);
    };
    no(wrongly<swapped>, "Sine and cosine are swapped: even columns are sines, so that row 0 begins with 0.");
    no(wrongly<without_2>, "The exponent is 2i / C for the pair i; yours is i / C, so no wave is slower than 1 / 100.");
    no(wrongly<by_column>, "Both columns of a pair have one speed: for column 2i + 1 the exponent is 2i / C, too.");
    no(wrongly<side_by_side>, "All sines stand left, all cosines right, but they take turns: sine, cosine, sine ...");
    no(wrongly<from_1>, "Your places start at 1, but the first is 0: row 0 is 0 1 0 1 ...");
    no(wrongly<whole_numbers>, "2 * i / C is a division of whole numbers, always 0: write 2.0 * i / C.");
    no(wrongly<times>, "You multiply t by 10000^(2i/C), but it is divided by it: waves become slower to the right.");
    expect_close("wave_table(" + printed(T) + ", " + printed(C) + ")", got, want);
  }
}

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

static const Tried tried[] = {
    {"solution", "", [] { check(solution::wave_table); }},
    {"sine and cosine swapped", "swapped", [] { check(wrongly<swapped>); }},
    {"exponent i / C", "yours is i / C", [] { check(wrongly<without_2>); }},
    {"exponent by column", "one speed", [] { check(wrongly<by_column>); }},
    {"halves side by side", "take turns", [] { check(wrongly<side_by_side>); }},
    {"places from 1", "start at 1", [] { check(wrongly<from_1>); }},
    {"whole numbers", "division of whole numbers", [] { check(wrongly<whole_numbers>); }},
    {"multiplied", "divided by it", [] { check(wrongly<times>); }},
    {"hard-coded", "wave_table(4, 6)",
     [] { check([](Index, Index) {
            return tensor({{0, 1, 0, 1}, {0.8415, 0.5403, 0.0100, 1}});
          }); }},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(wave_table); }, YOURS, {"SinusoidalPositions"});
}
