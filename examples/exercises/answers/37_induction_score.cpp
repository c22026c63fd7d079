// Checks 37: how much of an induction head it is.

// hint: For each t, let p go back from t - 1 until ids.at({p}) is ids.at({t}). If there is no such p, t does not count.
// hint: If p exists, total += weights.array().at({t, p + 1}) and ++count. At the end: count > 0 ? total / count : 0.
// why: The head finds position p + 1 by its content. So an earlier layer has to write the symbol at p into p + 1.
// why: A head that attends to all positions equally scores about 1 / t. Only a score far above 1 / t means something.
// why: mote's head_scores adds up the weights after all occurrences, because a head may attend to several of them.
#include <random>

#include "examples/exercises/answers/check.h"

namespace of_check {
using Score = double(const Tensor& weights, const IntArray& ids);

enum Kind { none, itself, earliest, all, no_neighbour, column, undivided, every, of_all_rows };
/// The score, with the mistake `kind`.
template <Kind kind>
static double scored(const Tensor& weights, const IntArray& ids) {
  double total = 0, count = 0;
  for (Index t = 0; t < ids.numel(); ++t) {
    std::vector<double> found;  // the weight of the position after each occurrence
    for (Index p = 0; p < (kind == no_neighbour ? t - 1 : t); ++p)
      if (ids.at({p}) == ids.at({t})) {
        const Index at = kind == itself ? p : p + 1;
        found.push_back(kind == column ? weights.array().at({at, t}) : weights.array().at({t, at}));
      }
    if (!found.empty())
      total += kind == all        ? std::accumulate(found.begin(), found.end(), 0.0)
               : kind == earliest ? found.front()
                                  : found.back();
    count += !found.empty() || kind == every || (kind == of_all_rows && t > 0);
  }
  return kind == undivided || count == 0 ? total : total / count;
}

static void check(Score score) {
  const auto expect_score = [&](const std::string& of, const Tensor& weights, const IntArray& ids) {
    expect_close("The score of " + of + ", ids " + printed(ids) + ",", score(weights, ids), scored<none>(weights, ids));
  };
  // A new seed in each run, so an answer cannot just return the numbers that an earlier verdict has shown.
  const auto afresh = static_cast<Index>(std::random_device()() % 1000);
  for (const Index seed : {Index(1), Index(2), afresh}) {
    const Index T = 7 + seed % 9;
    expect_score("random weights", softmax(randn({T, T}, Generator(seed))), randint(3, 6, {T}, Generator(seed)));
  }
  const double nothing = score(full({3, 3}, 1 / 3.), ints({4, 2, 9}));
  expect(nothing == nothing, "divided by 0");
  expect_close("The score of ids 4, 2, 9", nothing, 0);
  expect_score("weights that are 0", zeros({4, 4}), ints({0, 0, 0, 0}));
  expect_score("one weight", ones({1, 1}), ints({7}));
  expect_score("random weights", softmax(randn({6, 6}, Generator(5))), ints({-2, 70000, -2, 70000, -2, -2}));
}

static const Row<Score> rows[] = {
    {"itself", "You take the weight of the occurrence p itself, but what came after it stands at p + 1.",
     scored<itself>},
    {"earliest", "You go back to the earliest occurrence of the symbol, but the latest one before t counts.",
     scored<earliest>},
    {"all", "You add up what followed all occurrences, but only what followed the latest one counts.", scored<all>},
    {"not the neighbour", "If the symbol stood right before t, then p + 1 is t: this one counts as well.",
     scored<no_neighbour>},
    {"columns", "Rows look and columns are looked at: it is at({t, p + 1}), and not at({p + 1, t}).", scored<column>},
    {"another mean",
     "The score is the mean over those t whose symbol has occurred before: the others do not count, not even as 0.",
     scored<undivided>, scored<every>, scored<of_all_rows>},
    {"divided by 0", "Where no symbol occurs twice, there is nothing to divide: the score is 0, not NaN.",
     [](const Tensor& weights, const IntArray& ids) {
       const double score = scored<none>(weights, ids);
       return score == 0 ? NAN : score;
     }},
    {"hard-coded", of_example, [](const Tensor&, const IntArray&) { return (1 / 3. + 1 / 4. + 1 / 5.) / 3; }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
double induction_of(const Tensor& weights, const IntArray& ids) {
  double total = 0, count = 0;
  for (Index t = 1; t < ids.numel(); ++t) {
    Index p = t - 1;
    while (p >= 0 && ids.at({p}) != ids.at({t})) --p;
    if (p < 0) continue;
    total += weights.array().at({t, p + 1});
    ++count;
  }
  return count > 0 ? total / count : 0;
}
}  // namespace solution
static const Right right([] { check(solution::induction_of); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(induction_of); });
}
