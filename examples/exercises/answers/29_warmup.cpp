// Checks 29: a learning rate that rises and falls.

// hint: Three cases, three returns: the warm-up, step >= total, and the steps between. Beware of integer division.
// hint: const double p = double(step - warmup) / (total - warmup); return least + (1 + std::cos(pi * p)) / 2 * ...
// why: Half a cosine wave is flat at both ends, so many steps have a rate near highest or near least, and few between.
// why: The rate is a formula of the step alone, so a run that is resumed needs to know only its step.
// why: AdamW's first step moves weights by the full lr, though it is based on one gradient. So AdamW needs a warm-up.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Rate = double(Index step, Index warmup, Index total, double highest, double least);

static double motes(Index step, Index warmup, Index total, double highest, double least) {
  return learning_rate(ScheduleKind::cosine, step, {highest, least, warmup, total});
}

/// Checks the three parts of the schedule one by one, so that a mistake in one part does not hide another mistake.
static void check(Rate rate_of) {
  for (const auto& [warmup, total] : {std::pair<Index, Index>{3, 12}, {10, 35}, {0, 8}, {1, 2}, {4, 4}}) {
    const auto expect_rates = [&, warmup = warmup, total = total](const std::string& part, Index from, Index to) {
      std::vector<double> yours, right;
      for (Index step = from; step < to; ++step) {
        yours.push_back(rate_of(step, warmup, total, 0.5, 0.02));
        right.push_back(motes(step, warmup, total, 0.5, 0.02));
      }
      expect_close("the list of rates " + part + ", with warmup " + printed(warmup) + ", total " + printed(total) +
                       ", highest 0.5, least 0.02,",
                   tensor(yours), tensor(right));
    };
    expect_rates("of the warm-up", 0, warmup);
    expect_rates("of the fall", warmup, total);
    expect_rates("from total on", total, total + 5);
  }
  expect_close("the rate of step 5 with warmup 3, total 11, highest 0.4, least 0", rate_of(5, 3, 11, 0.4, 0),
               motes(5, 3, 11, 0.4, 0));
}

/// A part of the schedule, the warm-up or the wave, as a factor from 0 to 1.
using Part = double(double step, double warmup, double total);
static double right_warmup(double step, double warmup, double) { return (step + 1) / (warmup + 1); }
static double height(double turns) { return (1 + std::cos(turns * std::acos(-1.0))) / 2; }
static double right_wave(double step, double warmup, double total) {
  return height((step - warmup) / (total - warmup));
}
template <Part* warming, Part* wave>
static double by_parts(Index step, Index warmup, Index total, double highest, double least) {
  const double s = static_cast<double>(step), w = static_cast<double>(warmup), t = static_cast<double>(total);
  if (step < warmup) return highest * warming(s, w, t);
  return step >= total ? least : least + wave(s, w, t) * (highest - least);
}

static double whole_warmup(double, double, double) { return 0; }
static double from_0(double step, double warmup, double) { return step / warmup; }
static double early(double step, double warmup, double) { return (step + 1) / warmup; }
static double wave_from_0(double step, double, double total) { return height(step / total); }
static double whole_wave(double step, double warmup, double total) {
  return height(2 * (step - warmup) / (total - warmup));
}
static double degrees(double step, double warmup, double total) {
  return (1 + std::cos(180 * (step - warmup) / (total - warmup))) / 2;
}
static double whole_p(double, double, double) { return 1; }
static double straight(double step, double warmup, double total) { return 1 - (step - warmup) / (total - warmup); }

static const Row<Rate> rows[] = {
    {"whole numbers", "A division of whole numbers gives 0: make one of them a double first, in the warm-up and in p.",
     by_parts<whole_warmup, right_wave>, by_parts<right_warmup, whole_p>},
    {"first rate 0", "Step 0 has the rate 0 and is wasted: the warm-up goes by step + 1 of warmup + 1.",
     by_parts<from_0, right_wave>},
    {"too early", "The warm-up reaches highest one step too early: divide by warmup + 1, not by warmup.",
     by_parts<early, right_wave>},
    {"wave from step 0", "The wave begins after the warm-up: p is (step - warmup) / (total - warmup).",
     by_parts<right_warmup, wave_from_0>},
    {"another curve", "That is not half a wave: the rate falls as cos(pi p) does. Half a turn is pi and not 180.",
     by_parts<right_warmup, whole_wave>, by_parts<right_warmup, degrees>, by_parts<right_warmup, straight>},
    {"falls to 0", "The rate falls to 0, but it should end at least: only highest - least follows the wave.",
     [](Index step, Index warmup, Index total, double highest, double) {
       return motes(step, warmup, total, highest, 0);
     },
     [](Index step, Index warmup, Index total, double highest, double least) {
       return step < warmup ? motes(step, warmup, total, highest, least)
                            : motes(step, warmup, total, highest, 0) + least;
     }},
    {"rises again", "After total the wave rises again: from there on the rate is least.",
     [](Index step, Index warmup, Index total, double highest, double least) {
       if (step < total) return motes(step, warmup, total, highest, least);
       const double s = static_cast<double>(step), w = static_cast<double>(warmup), t = static_cast<double>(total);
       return least + right_wave(s, w, t) * (highest - least);
     }},
    {"hard-coded", of_example,
     [](Index step, Index, Index, double, double) {
       return step < 4 ? 0.1 * static_cast<double>(step + 1) : step < 11 ? 0.2 : 0;
     }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
double rate_of(Index step, Index warmup, Index total, double highest, double least) {
  if (step < warmup) return highest * (step + 1) / (warmup + 1);
  if (step >= total) return least;
  const double p = double(step - warmup) / (total - warmup);
  return least + (1 + std::cos(std::acos(-1.0) * p)) / 2 * (highest - least);
}
}  // namespace solution
static const Right right([] { check(solution::rate_of); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(rate_of); }, YOURS, {"learning_rate"});
}
