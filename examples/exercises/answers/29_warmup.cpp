// Checks 29: a learning rate that rises and falls.

// hint: Three cases, three returns: the warm-up, step >= total, and what lies between. Mind divisions of whole numbers.
// hint: const double p = double(step - warmup) / (total - warmup); return least + (1 + std::cos(pi * p)) / 2 * ...
// why: Of half a wave, both ends are flat: much time at the highest rate, much at the least, and a swift way between.
// why: The rate is a formula of the step alone, so a run that is resumed needs to know nothing but its step.
// why: AdamW's first steps have the full length lr from a single gradient each: that is why a warm-up helps it most.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Rate = double(Index step, Index warmup, Index total, double highest, double least);
enum Mistake { none, from_0, early, whole, cosine_from_0, to_0, whole_wave, degrees, goes_on, whole_p };

template <Mistake mistake>
double wrongly(Index step, Index warmup, Index total, double highest, double least) {
  const double done = static_cast<double>(step), w = static_cast<double>(warmup), all = static_cast<double>(total);
  if (step < warmup && mistake == whole) return highest * ((step + 1) / (warmup + 1));
  if (step < warmup) return highest * (mistake == from_0 ? done / w : (done + 1) / (mistake == early ? w : w + 1));
  if (step >= total && mistake != goes_on) return mistake == to_0 ? 0 : least;
  const double p = mistake == whole_p ? 0 : mistake == cosine_from_0 ? done / all : (done - w) / (all - w);
  const double turn = mistake == whole_wave ? 2 * std::acos(-1.0) : mistake == degrees ? 180 : std::acos(-1.0);
  const double height = (1 + std::cos(turn * p)) / 2;
  return mistake == to_0 ? highest * height : least + height * (highest - least);
}

/// The rates of all steps, and of some after the end.
static Tensor rates(Rate rate_of, Index warmup, Index total, double highest, double least) {
  std::vector<double> all;
  for (Index step = 0; step < total + 5; ++step) all.push_back(rate_of(step, warmup, total, highest, least));
  return tensor(all);
}
static double motes(Index step, Index warmup, Index total, double highest, double least) {
  return learning_rate(ScheduleKind::cosine, step, {highest, least, warmup, total});
}

static void check(Rate rate_of) {
  for (const auto& [warmup, total] : {std::pair<Index, Index>{3, 12}, {10, 35}, {0, 8}, {1, 2}, {4, 4}}) {
    const auto of = [&, w = warmup, t = total](Rate rate) { return rates(rate, w, t, 0.3, 0.02); };
    const Tensor got = of(rate_of), want = of(motes);
    const auto no = [&](Rate mistake, const char* sentence) {
      if (const Tensor y = of(mistake); !close(y, want)) expect_not(got, y, sentence);
    };
    no(wrongly<whole>, "(step + 1) / (warmup + 1) divides whole numbers and gives 0: make one of them a double first.");
    no(wrongly<from_0>, "Step 0 has the rate 0 and is wasted: the warm-up goes by step + 1 of warmup + 1.");
    no(wrongly<early>, "The warm-up reaches highest one step too early: divide by warmup + 1, not by warmup.");
    no(wrongly<cosine_from_0>, "The wave begins after the warm-up: p is (step - warmup) / (total - warmup).");
    no(wrongly<to_0>, "The rate falls to 0, but it should end at least: only highest - least follows the wave.");
    no(wrongly<whole_wave>, "That is a whole wave, down and up again; the rate falls in half of one, cos(pi p).");
    no(wrongly<degrees>, "std::cos takes no degrees: half a turn is pi, not 180.");
    no(wrongly<goes_on>, "After total the wave rises again: from there on the rate is least.");
    no(wrongly<whole_p>, "The rate does not fall: p is a quotient of whole numbers, always 0; use a double.");
    expect_close("the list of all rates with warmup " + printed(warmup) + ", total " + printed(total) +
                     ", highest 0.3, least 0.02",
                 got, want);
  }
}

#ifdef PROVE
namespace solution {
double rate_of(Index step, Index warmup, Index total, double highest, double least) {
  if (step < warmup) return highest * (step + 1) / (warmup + 1);
  if (step >= total) return least;
  const double p = double(step - warmup) / (total - warmup);
  return least + (1 + std::cos(std::acos(-1.0) * p)) / 2 * (highest - least);
}
}  // namespace solution

static const Tried tried[] = {
    {"solution", "", [] { check(solution::rate_of); }},
    {"whole numbers", "divides whole numbers", [] { check(wrongly<whole>); }},
    {"first step 0", "is wasted", [] { check(wrongly<from_0>); }},
    {"highest too early", "one step too early", [] { check(wrongly<early>); }},
    {"wave from step 0", "after the warm-up", [] { check(wrongly<cosine_from_0>); }},
    {"falls to 0", "falls to 0", [] { check(wrongly<to_0>); }},
    {"whole wave", "whole wave", [] { check(wrongly<whole_wave>); }},
    {"degrees", "no degrees", [] { check(wrongly<degrees>); }},
    {"rises again", "rises again", [] { check(wrongly<goes_on>); }},
    {"p of whole numbers", "does not fall", [] { check(wrongly<whole_p>); }},
    {"hard-coded", "list of all rates",
     [] {
       check([](Index step, Index, Index, double, double) {
         return step < 4 ? 0.1 * static_cast<double>(step + 1) : step < 11 ? 0.2 : 0;
       });
     }},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(rate_of); }, YOURS, {"learning_rate"});
}
