// Checks 37: how much of an induction head it is.

// hint: For each t, let p go back from t - 1 until ids.at({p}) is ids.at({t}). If there is no such p, t does not count.
// hint: There, total += weights.array().at({t, p + 1}) and ++count; at the end return count > 0 ? total / count : 0.
// why: To find p + 1 by its content, the head must see there what stood before it: an earlier layer has to say so.
// why: A head that looks everywhere alike scores about 1 / t: only a score far above that says something.
// why: mote's head_scores adds up what followed all occurrences, since a head may look at several of them.
#include <random>

#include "examples/exercises/answers/check.h"

namespace of_check {
using Score = double(const Tensor& weights, const IntArray& ids);
enum Mistake { none, itself, earliest, all, no_neighbour, column, undivided, every };
static const std::map<Mistake, std::string> sentences = {
    {itself, "You take the weight of the occurrence itself, p, but what came after it stands at p + 1."},
    {earliest, "You go back to the earliest occurrence of the symbol, but the latest one before t counts."},
    {all, "You add up what followed all occurrences, but only what followed the latest one counts."},
    {no_neighbour, "If the symbol stood right before t, then p + 1 is t: this one counts as well."},
    {column, "Rows look and columns are looked at: it is at({t, p + 1}), and not at({p + 1, t})."},
    {undivided, "This is the sum of the weights: the score is their mean."},
    {every, "A position whose symbol did not occur before must not count, not even as 0."},
};

static double scored(const Tensor& weights, const IntArray& ids, Mistake mistake) {
  double total = 0, count = 0;
  for (Index t = 0; t < ids.numel(); ++t) {
    std::vector<double> found;  // the weights of what followed each occurrence
    for (Index p = 0; p < (mistake == no_neighbour ? t - 1 : t); ++p)
      if (ids.at({p}) == ids.at({t})) {
        const Index at = mistake == itself ? p : p + 1;
        found.push_back(mistake == column ? weights.array().at({at, t}) : weights.array().at({t, at}));
      }
    if (!found.empty())
      total += mistake == all        ? std::accumulate(found.begin(), found.end(), 0.0)
               : mistake == earliest ? found.front()
                                     : found.back();
    count += !found.empty() || mistake == every;
  }
  return mistake == undivided || count == 0 ? total : total / count;
}

static void check(Score score) {
  const auto afresh = static_cast<Index>(std::random_device()() % 1000);  // what this verdict says helps no other
  for (const Index seed : {Index(1), Index(2), afresh}) {
    const Index T = 7 + seed % 9;
    const Tensor weights = softmax(randn({T, T}, Generator(seed)));
    const IntArray ids = randint(3, 6, {T}, Generator(seed));
    const double got = score(weights, ids);
    for (const auto& [mistake, sentence] : sentences)
      if (seed != afresh) expect_not(got, scored(weights, ids, mistake), sentence);
    if (seed != afresh) expect_not(got, scored(weights, ids, every) * T / (T - 1), sentences.at(every));
    expect_close("The score of random weights, ids " + printed(ids) + ",", got, scored(weights, ids, none));
  }
  const double nothing = score(full({3, 3}, 1 / 3.), ints({4, 2, 9}));
  expect(nothing == nothing, "Where no symbol occurs twice, there is nothing to divide: the score is 0, not NaN.");
  expect_close("The score of ids 4, 2, 9", nothing, 0);
}

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

template <Mistake mistake>
void wrongly() {
  check([](const Tensor& weights, const IntArray& ids) { return scored(weights, ids, mistake); });
}
static const Tried tried[] = {
    {"solution", "", [] { check(solution::induction_of); }},
    {"itself", "the occurrence itself", wrongly<itself>},
    {"earliest", "earliest occurrence", wrongly<earliest>},
    {"all", "followed all occurrences", wrongly<all>},
    {"not the neighbour", "stood right before t", wrongly<no_neighbour>},
    {"columns", "Rows look", wrongly<column>},
    {"sum", "the sum of the weights", wrongly<undivided>},
    {"all positions", "not even as 0", wrongly<every>},
    {"NaN", "not NaN",
     [] {
       check([](const Tensor& w, const IntArray& i) {
         const double s = scored(w, i, none);
         return s > 0 ? s : NAN;
       });
     }},
    {"hard-coded", "The score of random weights",
     [] { check([](const Tensor&, const IntArray&) { return (1 / 3. + 1 / 4. + 1 / 5.) / 3; }); }},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(induction_of); });
}
