// Superposition (Elhage et al. 2022, "Toy Models of Superposition"). Five features in two dimensions: when they are
// rare, a model keeps more of them than it has dimensions, and five form a pentagon.
#include <algorithm>
#include <cmath>
#include <map>

#include "engine/base/number_text.h"
#include "engine/engine.h"
#include "examples/lessons/lesson.h"
#include "examples/programs/many_seeds.h"
#include "nn/nn.h"
#include "train/train.h"

using namespace mote;

namespace {
constexpr Index features = 5, rarities = 10, seeds = 10, rows = 256, steps = 10'000;

/// The geometry of a model's features: the angles between neighbouring feature vectors that are longer than 0.5.
struct Star {
  std::vector<double> angles;
  double error = 0;         ///< largest deviation of angles from 90 degrees (two vectors) or a regular polygon
  std::string text, lines;  ///< text: lengths and angles; lines: a picture
  Star(const Array& w, Index rarity, Index seed) {
    for (Index f = 0; f < features; ++f) {
      const double x = double(w.at({rarity, seed, f, 0})), y = double(w.at({rarity, seed, f, 1})),
                   length = std::hypot(x, y);
      if (length > 0.5) angles.push_back(std::atan2(y, x) * 180 / std::numbers::pi);
      text += fixed_text(length, 2) + (f < features - 1 ? " " : " |");
      lines += "<path d='M0 0L" + fixed_text(40 * x, 1) + " " + fixed_text(-40 * y, 1) + "'/>";
    }
    std::ranges::sort(angles);
    const double ideal = angles.size() == 2 ? 90 : 360 / double(angles.size()), round = angles.at(0) + 360;
    for (std::size_t i = 0; i < angles.size(); ++i) {
      const double angle = (i + 1 < angles.size() ? angles[i + 1] : round) - angles[i];
      error = std::max(error, std::abs(std::min(angle, 360 - angle) - ideal));
      text += " " + fixed_text(angle, 0);
    }
  }
};

void lesson(const char* file) {
  const Generator random(1);
  // The chance that a feature is present, from 1 to 1/20. A feature that is present is uniform from 0 to 1.
  const Tensor chance = reshape(pow(Tensor(0.05), linspace(0, 1, rarities)), {rarities, 1, 1, 1});
  const Tensor importance = pow(Tensor(0.9), arange(features));
  const Parameter b(Array::zeros({rarities, seeds, 1, features})), W(Array::zeros({rarities, seeds, features, 2}));
  init::normal(W, 0, std::sqrt(2.0 / (features + 2)), random);
  AdamW optimizer({{.parameters = {{"W", W}, {"b", b}}}}, {.lr = 1e-3});
  for (Index step = 0; step < steps; ++step) {  // all models at once, each on rows of its own
    const Tensor u = rand({rarities, seeds, rows, features}, random) / chance, x = where(u < 1, u, 0);
    const Tensor error = relu(matmul(matmul(x, W), transpose(W, 2, 3)) + b) - x;  // five numbers squeezed through two
    optimizer.zero_grad();
    (sum(error * error * importance) / rows).backward();
    optimizer.step();
  }
  std::printf(
      "Of 10 models, how many keep 2, 3, 4, 5 features; of those that keep 5 (chance 1: 2), how far angles\n"
      "are off a regular star's, median and worst; of one: lengths | angles of those above 0.5 (nan: none)\n"
      "chance    2  3  4  5   degrees off\n");
  std::string picture = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1000 100' stroke='#4477aa'>\n";
  for (Index r = 0; r < rarities; ++r) {
    std::map<std::size_t, std::vector<double>> off;  // each model's `error`, by the number of features that it keeps
    for (Index i = 0; i < seeds; ++i) off[Star(W.value(), r, i).angles.size()].push_back(Star(W.value(), r, i).error);
    std::vector<double>& e = off[r ? 5 : 2];
    std::ranges::sort(e);
    const double worst = e.empty() ? NAN : e.back();
    const Star one(W.value(), r, 0);
    std::printf("%6.3f  %3zu%3zu%3zu%3zu  %6.1f %6.1f   %s\n", double(chance.array().data()[r]), off[2].size(),
                off[3].size(), off[4].size(), off[5].size(), median(e), worst, one.text.c_str());
    picture += "<g transform='translate(" + std::to_string(100 * r + 50) + " 50)'>" + one.lines + "</g>\n";
    if (r == 0) claim(off[2].size() == seeds && worst < 2, "paper, chance 1: two features, at 90 degrees. So here");
    if (r == 4) claim(off[4].size() > seeds / 2, "paper, chance 0.2: four, two pairs of opposites. Here at 0.26");
    if (r == 9) claim(off[5].size() == seeds && worst < 4, "paper, chance 0.1: a pentagon. Here always at 0.05");
  }
  if (file) write_file(file, picture + "</svg>\n");
}
}  // namespace

int main(int argc, char** argv) { return run_lesson(argc, argv, lesson); }
