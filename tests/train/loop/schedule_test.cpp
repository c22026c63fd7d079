// Learning-rate schedules against their closed forms and at their edges.
#include "train/loop/schedule.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "engine/base/check.h"

namespace mote::test::schedule_test {
namespace {

constexpr double NaN = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
bool close(double a, double b) { return std::abs(a - b) <= 1e-15 * std::abs(b); }

}  // namespace

TEST_CASE("cosine: nanoGPT's numbers") {
  // get_lr(it) with warmup_iters 10, lr_decay_iters 100, learning_rate 6e-4, min_lr 6e-5, in Python
  const std::vector<std::pair<Index, double>> expected{
      {0, 5.4545454545454539e-05},  {9, 0.00054545454545454537},   {10, 0.00059999999999999995},
      {11, 0.00059983552329515586}, {37, 0.00048870201811896774},  {55, 0.00032999999999999994},
      {99, 6.0164476704844146e-05}, {100, 6.0000000000000002e-05}, {500, 6.0000000000000002e-05}};
  for (const auto& [step, lr] : expected)
    CHECK(close(learning_rate(ScheduleKind::cosine, step,
                              {.max_lr = 6e-4, .min_lr = 6e-5, .warmup_steps = 10, .total_steps = 100}),
                lr));
}

TEST_CASE("linear and constant") {
  const ScheduleOptions o{.max_lr = 1, .min_lr = 0.5, .warmup_steps = 4, .total_steps = 8};
  const std::vector<double> line{0.2, 0.4, 0.6, 0.8, 1, 0.875, 0.75, 0.625, 0.5, 0.5};
  for (std::size_t i = 0; i < line.size(); ++i)
    CHECK(close(learning_rate(ScheduleKind::linear, static_cast<Index>(i), o), line[i]));
  for (std::size_t i = 0; i < line.size(); ++i)
    CHECK(close(learning_rate(ScheduleKind::constant, static_cast<Index>(i), {.max_lr = 1, .warmup_steps = 4}),
                i < 4 ? line[i] : 1));
  CHECK(learning_rate(ScheduleKind::constant, 0, {.max_lr = 0.3}) == 0.3);
  for (const double min_lr : {1.0, -1.0, NaN})  // has no say
    CHECK(learning_rate(ScheduleKind::constant, 7,
                        {.max_lr = 0.3, .min_lr = min_lr, .total_steps = -5, .decay_steps = -5}) == 0.3);
}

TEST_CASE("wsd: the stages, the square root") {
  const ScheduleOptions o{.max_lr = 1, .min_lr = 0.5, .warmup_steps = 4, .total_steps = 22, .decay_steps = 16};
  const std::vector<double> begin{0.2, 0.4, 0.6, 0.8, 1, 1, 1, 0.875};
  for (std::size_t i = 0; i < begin.size(); ++i)
    CHECK(close(learning_rate(ScheduleKind::wsd, static_cast<Index>(i), o), begin[i]));
  CHECK(close(learning_rate(ScheduleKind::wsd, 10, o), 0.75));
  CHECK(close(learning_rate(ScheduleKind::wsd, 15, o), 0.625));
  CHECK((learning_rate(ScheduleKind::wsd, 21, o) > 0.5 && learning_rate(ScheduleKind::wsd, 21, o) < 0.52));
  CHECK((learning_rate(ScheduleKind::wsd, 22, o) == 0.5 && learning_rate(ScheduleKind::wsd, 23, o) == 0.5));
  for (const auto& [step, lr] : {std::pair<Index, double>{999, 1}, {1000, 0.5}})
    CHECK(learning_rate(ScheduleKind::wsd, step, {.max_lr = 1, .min_lr = 0.5, .total_steps = 1000, .decay_steps = 0}) ==
          lr);
}

TEST_CASE("schedules stay between min and max and reach both exactly") {
  for (const double min_lr : {0.0, 1e-5, 0.1, 0.3})
    for (const Index warmup : {0, 1, 7, 50})
      for (const ScheduleKind kind : {ScheduleKind::cosine, ScheduleKind::linear, ScheduleKind::wsd}) {
        const auto f = [kind](Index step, const ScheduleOptions& o) { return learning_rate(kind, step, o); };
        const ScheduleOptions o{.max_lr = 0.3,
                                .min_lr = min_lr,
                                .warmup_steps = warmup,
                                .total_steps = 50,
                                .decay_steps = std::min<Index>(30, 50 - warmup)};
        double before = o.max_lr;
        for (Index step = warmup; step < 60; ++step) {
          const double lr = f(step, o);
          CHECK((lr >= min_lr && lr <= before));
          before = lr;
        }
        for (Index step = 0; step < warmup; ++step) CHECK((f(step, o) > 0 && f(step, o) < 0.3));
        CHECK(f(50, o) == min_lr);
        if (warmup < 50) CHECK(close(f(warmup, o), 0.3));
        CHECK(f(std::numeric_limits<Index>::max(), o) == min_lr);
      }
  for (const ScheduleKind kind : {ScheduleKind::cosine, ScheduleKind::linear, ScheduleKind::wsd}) {
    const auto f = [kind](Index step, const ScheduleOptions& o) { return learning_rate(kind, step, o); };
    CHECK(f(0, {.max_lr = 1, .min_lr = 0.25, .total_steps = 0, .decay_steps = 0}) == 0.25);  // no division by 0
    CHECK(f(0, {.max_lr = 1, .min_lr = 0.25, .total_steps = 1, .decay_steps = 1}) == 1);
    CHECK(f(0, {.max_lr = 0, .total_steps = 5, .decay_steps = 2}) == 0);
  }
}

TEST_CASE("schedules: errors") {
  for (const ScheduleKind kind : {ScheduleKind::cosine, ScheduleKind::linear, ScheduleKind::wsd}) {
    const auto f = [kind](Index step, const ScheduleOptions& o) { return learning_rate(kind, step, o); };
    CHECK_THROWS_AS(f(0, {.decay_steps = 0}), Error);  // total_steps forgotten
    CHECK_THROWS_AS(f(-1, {.total_steps = 5, .decay_steps = 1}), Error);
    CHECK_THROWS_AS(f(0, {.warmup_steps = -1, .total_steps = 5, .decay_steps = 1}), Error);
    CHECK_THROWS_AS(f(0, {.max_lr = 1, .min_lr = 2, .total_steps = 5, .decay_steps = 1}), Error);
    for (const double bad : {NaN, inf, -1.0}) {
      CHECK_THROWS_AS(f(0, {.max_lr = bad, .total_steps = 5, .decay_steps = 1}), Error);
      CHECK_THROWS_AS(f(0, {.min_lr = bad, .total_steps = 5, .decay_steps = 1}), Error);
    }
  }
  CHECK_THROWS_WITH_AS(learning_rate(ScheduleKind::cosine, 0, {.warmup_steps = 6, .total_steps = 5}),
                       "learning_rate: warmup_steps 6 must be at most total_steps 5", Error);
  CHECK_THROWS_WITH_AS(learning_rate(ScheduleKind::wsd, 0, {.warmup_steps = 2, .total_steps = 5}),
                       "learning_rate: decay_steps must be given and at least 0, not -1", Error);
  CHECK_THROWS_WITH_AS(learning_rate(ScheduleKind::wsd, 0, {.warmup_steps = 2, .total_steps = 5, .decay_steps = 4}),
                       "learning_rate: decay_steps 4 must be at most the 3 steps after the warm-up", Error);
  CHECK_THROWS_WITH_AS(learning_rate(ScheduleKind::cosine, 0, {.max_lr = 1, .min_lr = 2, .total_steps = 5}),
                       "learning_rate: min_lr 2 must be 0 to max_lr 1", Error);
  CHECK_THROWS_WITH_AS(learning_rate(ScheduleKind::constant, 0, {.max_lr = -1}),
                       "learning_rate: max_lr -1 must be at least 0 and finite", Error);
  CHECK_THROWS_AS(learning_rate(ScheduleKind::constant, 0, {.max_lr = inf}), Error);
  CHECK_THROWS_AS(learning_rate(ScheduleKind::constant, 0, {.warmup_steps = -1}), Error);
  CHECK_THROWS_AS(learning_rate(ScheduleKind::constant, -1, {}), Error);
}

}  // namespace mote::test::schedule_test
