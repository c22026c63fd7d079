// bench scale: the time of a training step against width, context, layers and batch. It must grow as its arithmetic
// does.
#include <cmath>

#include "engine/base/parallel.h"
#include "engine/io/files/file.h"
#include "engine/io/pictures/chart.h"
#include "examples/bench/choice.h"
#include "examples/bench/measure.h"

namespace bench {
namespace {

using mote::Index;

struct ScaleWish {
  std::string axis = "all", svg = {};
  Index largest = 0;
  template <class V>
  void visit(V& v) {
    v("axis", axis, "width, context, layers, batch, or all");
    v("largest", largest, "leave out what is larger; 0: nothing");
    v("svg", svg, "a file for a picture of all of them");
  }
};

struct Axis {
  std::string name, fixed;
  std::vector<Index> values;
  Case (*at)(Index value);
};

Case model(Index width, Index context, Index layers, Index batch) {
  Case c = case_named("S1");
  c.config.n_embd = width, c.config.block_size = context, c.config.n_layer = layers;
  c.config.n_head = std::max<Index>(1, width / 32);
  c.batch = batch;
  return c;
}

std::vector<Axis> axes() {
  return {
      {"width",
       "2 layers, 4 sequences of 64",
       {32, 64, 96, 128, 160, 192, 256, 320, 384, 448, 512, 640, 768, 896, 1024},
       [](Index x) { return model(x, 64, 2, 4); }},
      {"context",
       "2 layers of width 64, 1 sequence",
       {16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096},
       [](Index x) { return model(64, x, 2, 1); }},
      {"layers",
       "width 64, 8 sequences of 32",
       {1, 2, 3, 4, 6, 8, 12, 16, 20, 24},
       [](Index x) { return model(64, 32, x, 8); }},
      {"batch",
       "2 layers of width 64, sequences of 32",
       {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64},
       [](Index x) { return model(64, 32, 2, x); }},
  };
}

struct Point {
  double value, flops, seconds, share;
  /// What the neighbours predict: their time for each operation, in between (by logarithms), times its own operations.
  double predicted = 0;
};

void predict(std::vector<Point>& points) {
  const auto pace = [&](std::size_t i) { return std::log(points[i].seconds / points[i].flops); };
  const auto place = [&](std::size_t i) { return std::log(points[i].flops); };
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const double t = (place(i) - place(i - 1)) / (place(i + 1) - place(i - 1));
    points[i].predicted = points[i].flops * std::exp(pace(i - 1) * (1 - t) + pace(i + 1) * t);
  }
}

std::vector<Point> measure_axis(const Axis& axis, double seconds, Output& out) {
  out.table("scale",
            "a training step against " + axis.name + " (" + axis.fixed + ") on " + std::to_string(mote::threads()) +
                " threads; its neighbours' times per operation predict one",
            {{"axis", "axis", As::text},
             {"value", axis.name, As::integer},
             {"gflop", "GFLOP"},
             {"ms", "ms/step"},
             {"share", "of limit", As::share},
             {"predicted_ms", "predicted"},
             {"ratio", "ratio"}});
  std::vector<Point> points;
  for (const Index value : axis.values) {
    Training training(axis.at(value));
    const double flops = step_flops(training.model, axis.at(value).batch);
    const Result r = measure([&] { training.step(); }, {.flops = flops}, seconds);
    points.push_back({static_cast<double>(value), flops, r.seconds, r.share});
  }
  predict(points);
  double worst = 0;
  for (const Point& p : points) {
    const bool inner = p.predicted > 0;
    if (inner) worst = std::max(worst, p.seconds / p.predicted);
    out.row({axis.name, static_cast<Index>(p.value), p.flops * 1e-9, p.seconds * 1e3, p.share,
             inner ? mote::Json(p.predicted * 1e3) : mote::Json(),
             inner ? mote::Json(p.seconds / p.predicted) : mote::Json()});
  }
  out.note("the worst ratio: " + std::to_string(std::lround(100 * worst)) + " %");
  return points;
}

}  // namespace

void scale(int argc, char** argv, Output& out) {
  ScaleWish wish;
  Common common;
  Options options("Measures how the time of a training step grows, and draws it.");
  options.add("What to measure", wish);
  if (!begin(options, argc, argv, common, out)) return;
  if (!wish.svg.empty()) mote::check_output(wish.svg);
  std::vector<Axis> list = axes();
  if (wish.axis != "all") std::erase_if(list, [&](const Axis& a) { return a.name != wish.axis; });
  if (list.empty()) throw UsageError("axis '" + wish.axis + "' is none of all, width, context, layers, batch");
  std::vector<mote::Chart> charts;
  double least = 1e300, most = 0;
  for (Axis& axis : list) {
    if (wish.largest > 0) std::erase_if(axis.values, [&](Index value) { return value > wish.largest; });
    mote::ChartLine measured{"ms a step", {}, true}, predicted{"predicted", {}, false, true};
    for (const Point& p : measure_axis(axis, common.seconds, out)) {
      const double ms = p.seconds * 1e3;
      least = std::min(least, ms), most = std::max(most, ms);
      measured.points.emplace_back(p.value, ms);
      if (p.predicted > 0) predicted.points.emplace_back(p.value, p.predicted * 1e3);
    }
    charts.push_back(
        {.title = axis.fixed, .x_label = axis.name, .lines = {measured, predicted}, .log = true, .log_x = true});
  }
  for (mote::Chart& chart : charts) chart.low = least, chart.high = most;
  if (!wish.svg.empty()) mote::write_file(wish.svg, charts_svg(charts));
}

}  // namespace bench
