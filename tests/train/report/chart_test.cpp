// Chart_svg: where points lie, ticks, what is left out, that any text is safe in it, and that a million points stay
// small.
#include "train/report/chart.h"

#include <algorithm>
#include <set>
#include <utility>

#include "tests/markup.h"
#include "tests/tools.h"
#include "train/report/axis.h"

namespace mote::test::chart_test {
namespace {

using detail::linear_ticks;
using detail::log_ticks;
using detail::tick_labels;
using Ticks = std::vector<double>;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("ticks: round numbers between the ends, whatever these are") {
  CHECK(linear_ticks(0, 600) == Ticks{0, 100, 200, 300, 400, 500, 600});
  CHECK(linear_ticks(0, 1) == Ticks{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1});
  CHECK(linear_ticks(-3, 3) == Ticks{-3, -2, -1, 0, 1, 2, 3});
  CHECK(linear_ticks(5, 5) == Ticks{5});
  CHECK(linear_ticks(1, 0).empty());
  CHECK(linear_ticks(nan, 1).empty());
  CHECK(linear_ticks(0, inf).empty());
  CHECK(log_ticks(0.005, 3) == Ticks{0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2});
  CHECK(log_ticks(1e-5, 1e3).size() == 9);
  CHECK(log_ticks(2.1, 2.4).size() >= 3);  // no power of ten in there
  CHECK(log_ticks(0, 1).empty());
  for (const double low : {5e-324, 1e-310, 1e-290, 1.0, 1e300})
    for (const double high : {1e-300, 1.0, 1.5, 1e300, 1.7e308}) {
      for (const Ticks& ticks : {linear_ticks(low, high), linear_ticks(-high, high), log_ticks(low, high)}) {
        CHECK(ticks.size() < 1000);
        for (const double tick : ticks) CHECK(std::isfinite(tick));
      }
    }
}

TEST_CASE("ticks: rise, also where doubles are far apart") {
  CHECK(linear_ticks(1e20, 1e20 + 32768) == Ticks{1e20, 1e20 + 32768});
  CHECK(linear_ticks(-1e20 - 32768, -1e20) == Ticks{-1e20 - 32768, -1e20});
  for (const double low : {-1e20, -1.0, 0.0, 0.1, 1.0, 3e7, 1e20})
    for (const double range : {1e-17, 1e-16, 1e-15, 1e-14, 1e-12, 1e-5, 0.3, 7.0, 123.0}) {
      const double high = low + range * std::max(1.0, std::abs(low));
      const Ticks ticks = linear_ticks(low, high);
      CHECK((!ticks.empty() && ticks.size() <= 11));
      CHECK((ticks.front() >= low - 1e-9 * (high - low) && ticks.back() <= high + 1e-9 * (high - low)));
      for (std::size_t i = 1; i < ticks.size(); ++i) CHECK(ticks[i] > ticks[i - 1]);
    }
}

TEST_CASE("ticks: labels have the digits that tell them apart, and no more") {
  using Labels = std::vector<std::string>;
  CHECK(tick_labels({0, 0.2, 0.4, 0.6000000000000001}, 4) == Labels{"0", "0.2", "0.4", "0.6"});
  CHECK(tick_labels(linear_ticks(0.6931, 0.69315), 4) ==
        Labels{"0.6931", "0.69311", "0.69312", "0.69313", "0.69314", "0.69315"});
  CHECK(tick_labels({12340, 12345, 12350}, 4) == Labels{"12340", "12345", "12350"});
  CHECK(tick_labels({-0.00005, 0, 0.00005}, 4) == Labels{"-5e-05", "0", "5e-05"});
  CHECK(tick_labels({1e-5, 1e-4, 1000}, 4) == Labels{"1e-05", "0.0001", "1000"});
  CHECK(tick_labels({2.345678}, 4) == Labels{"2.346"});
  CHECK(tick_labels({}, 4).empty());
  for (const double low : {-1e20, -1.0, 0.0, 0.1, 0.99999, 1.0, 3e7, 1e20})
    for (const double range : {1e-16, 1e-15, 1e-14, 1e-12, 1e-5, 0.3, 7.0, 123.0}) {
      const Labels labels = tick_labels(linear_ticks(low, low + range * std::max(1.0, std::abs(low))), 4);
      CHECK(std::set<std::string>(labels.begin(), labels.end()).size() == labels.size());
    }
  const Chart chart{.title = "loss", .lines = {{"train", {{0, 0.6931}, {1, 0.69318}}}}};
  for (const char* const label : {">0.6931<", ">0.69312<", ">0.69314<", ">0.69316<", ">0.69318<"})
    CHECK(has(chart_svg(chart), label));
}

TEST_CASE("axis: places between the ends, however close, far apart or small these are") {
  for (const auto& [low, high] : {std::pair(0.0, 4.0), std::pair(1e20, 1e20 + 65536), std::pair(-1.7e308, 1.7e308),
                                  std::pair(0.0, 4 * 5e-324), std::pair(1.0, 1 + 0x1p-50)}) {
    detail::ChartAxis axis;
    axis.include(low);
    axis.include(high);
    CHECK((axis.place(low) == 0 && axis.place(high) == 1));
    CHECK(axis.place(low / 2 + high / 2) == 0.5);
  }
}

TEST_CASE("chart: points lie by their values, or by their logarithms; a line is interrupted where one is missing") {
  Chart chart{.title = "loss", .lines = {{"train", {{0, 1}, {50, 10}, {60, nan}, {100, 100}}}}};
  const std::string linear = chart_svg(chart);
  check_well_formed(linear);
  CHECK(has(linear, "d=\"M58.0 258.0h0L263.0 239.1M468.0 50.0h0\""));
  chart.log = true;
  CHECK(has(chart_svg(chart), "d=\"M58.0 258.0h0L263.0 154.0M468.0 50.0h0\""));
  chart.lines[0].points.emplace_back(100, 0);  // has no logarithm
  CHECK(has(chart_svg(chart), "M468.0 50.0h0\""));
  chart.lines[0].points.emplace_back(100, inf);
  CHECK(has(chart_svg(chart), "M468.0 50.0h0\""));
}

TEST_CASE("charts: side by side; a logarithmic axis of x leaves out what it cannot show; a dashed line") {
  const Chart measured{.title = "left & <right>",
                       .x_label = "width",
                       .lines = {{"ms", {{1, 1}, {10, 100}, {100, 10000}, {0, 5}, {-1, 7}, {nan, 1}}, true},
                                 {"predicted", {{10, 50}, {100, 10}}, false, true}},
                       .log = true,
                       .log_x = true};
  const std::string svg = charts_svg({measured, {.title = "second", .lines = {}}});
  check_well_formed(svg);
  CHECK(has(svg, "viewBox=\"0 0 960 300\""));
  CHECK(has(svg, "d=\"M58.0 258.0h0L263.0 154.0L468.0 50.0\""));  // a straight line
  CHECK(has(svg, "class=\"dashed line c1\" d=\"M263.0 "));
  CHECK(has(svg, "translate(480 0)"));
  CHECK(has(svg, "left &amp; &lt;right&gt;"));
  CHECK(!has(svg, "nan"));
  check_well_formed(charts_svg({}));
}

TEST_CASE("chart: ends of the axis, a mark, dots with their numbers, a legend for more than one line") {
  Chart chart{.title = "accuracy",
              .lines = {{"held out", {{1, 0.5}}, true}},
              .low = 0,
              .high = 1,
              .mark = 0.25,
              .mark_label = "chance"};
  const std::string one = chart_svg(chart);
  check_well_formed(one);
  CHECK(has(one, "M263.0 154.0h0\"><title>held out 0.5, step 1</title>"));
  CHECK(has(one, "class=\"mark\" d=\"M58.0 206.0h410.0\""));
  CHECK(has(one, ">chance</text>"));
  CHECK(!has(one, ">held out</text>"));
  chart.lines.push_back({"train", {{1, 2}, {2, -1}}, true});  // beyond the ends: at the border
  const std::string two = chart_svg(chart);
  CHECK((has(two, ">held out</text>") && has(two, ">train</text>")));
  CHECK((has(two, "58.0 42.0") && has(two, "468.0 266.0")));
}

TEST_CASE("chart: nothing, one point, equal ones, and what is not finite are pictures, too") {
  for (const std::vector<std::pair<double, double>>& points :
       std::vector<std::vector<std::pair<double, double>>>{{},
                                                           {{1, 7}},
                                                           {{1, 7}, {2, 7}},
                                                           {{1, nan}},
                                                           {{nan, inf}},
                                                           {{0, 1e308}, {1, -1e308}},
                                                           {{0, 5e-324}, {1, 1e-320}}})
    for (const bool log : {false, true}) {
      const std::string svg = chart_svg({.title = "x", .lines = {{"y", points, true}}, .log = log, .mark = 1});
      check_well_formed(svg);
      for (const char* word : {"nan", "inf", "e+"}) CHECK_MESSAGE(!has(svg, std::string("\"") + word), svg);
    }
  check_well_formed(chart_svg({}));
}

TEST_CASE("chart: any text is safe; a million points are a small picture with the same mean") {
  const std::string odd = "</text><script>alert(1)</script> & \"'\xff\xe2\x82";
  Chart chart{.title = odd, .x_label = odd, .lines = {{odd, {{0, 1}, {1, 2}}, true}, {odd, {}}}, .mark = 1.5};
  chart.mark_label = odd;
  const std::string svg = chart_svg(chart);
  check_well_formed(svg);
  CHECK(!has(svg, "<script"));
  Chart large{.title = "many", .lines = {{"y", {}}}};
  for (int i = 0; i < 1'000'000; ++i) large.lines[0].points.emplace_back(i, i % 2 == 0 ? 0 : 2);
  const std::string small = chart_svg(large);
  CHECK(small.size() < 30'000);
  CHECK(has(small, "L"));
  CHECK(has(small, ">1</text>"));  // all means are 1
}

}  // namespace
}  // namespace mote::test::chart_test
