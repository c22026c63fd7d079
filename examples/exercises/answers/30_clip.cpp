// Checks 30: clipping.

// hint: Two loops: the first adds up sum(g * g).item() of all arrays, the second multiplies; between them one sqrt.
// hint: for (Array& g : gradients) g = g * (longest / norm); the & matters: without it you change a copy.
// why: All are scaled by one factor, so the step keeps its direction: it only becomes shorter.
// why: Each array by itself, or each element, would turn the step somewhere else, and every batch would pay for that.
// why: The norm is the first thing to look at when a training fails: it often leaps before the loss does.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Clip = double(std::vector<Array>& gradients, double longest);
enum Mistake { none, apart, always, no_root, sum_of_norms, by_element, copies, returns_new, squared };

template <Mistake mistake>
double wrongly(std::vector<Array>& gradients, double longest) {
  double squares = 0, norms = 0;
  for (const Array& g : gradients) squares += sum(g * g).item(), norms += std::sqrt(sum(g * g).item());
  const double norm = mistake == no_root ? squares : mistake == sum_of_norms ? norms : std::sqrt(squares);
  for (Array& g : gradients) {
    const double length = mistake == apart ? std::sqrt(sum(g * g).item()) : norm;
    std::vector<real> y = g.to_vector();
    for (real& x : y)
      if (mistake == by_element)
        x = std::clamp(x, -longest, longest);
      else if ((mistake == squared ? length * length : length) > longest || mistake == always)
        x *= longest / length;
    if (mistake != copies) g = Array(g.shape(), y);
  }
  return mistake == returns_new ? std::min(norm, longest) : norm;
}

static Tensor side_by_side(const std::vector<Array>& arrays) {
  std::vector<Tensor> rows;
  for (const Array& a : arrays) rows.push_back(reshape(a, {-1}));
  return concat(rows);
}

static void check(Clip clip_together) {
  const Generator random(7);
  for (const auto& [longest, size] :
       {std::pair{1.0, 3.0}, {2.5, 1.0}, {1000.0, 1.0}, {0.5, 0.1}, {5.0, 1.0}, {0.2, 0.1}, {1.0, 0.0}}) {
    const auto draw = [&, size = size](const Shape& shape) { return (randn(shape, random) * size).array(); };
    const std::vector<Array> before{draw({2, 2}), draw({2}), draw({1, 1, 3})};
    // All elements, and behind them what is returned.
    const auto of = [&, longest = longest](const std::function<Clip>& clip) {
      std::vector<Array> gradients = before;
      const double norm = clip(gradients, longest);
      return concat({side_by_side(gradients), tensor({norm})});
    };
    const Tensor all = side_by_side(before);
    const double norm = std::sqrt(sum(all * all).item());
    const auto scaled = [&, longest = longest](double divisor) {
      return concat({divisor > longest ? all * (longest / divisor) : all, tensor({norm})});
    };
    const Tensor got = of(clip_together), want = scaled(norm), torchs = scaled(norm + 1e-6);
    const auto no = [&](Clip mistake, const char* sentence) {
      if (const Tensor y = of(mistake); !close(y, want)) expect_not(got, y, sentence);
    };
    no(wrongly<apart>, "Each array is measured by itself, which turns the step: one norm of all, and then one factor.");
    no(wrongly<squared>, "You compare the sum of squares with longest: compare its root, the norm.");
    no(wrongly<always>, "Gradients that are short enough became longer: change them only if norm > longest.");
    no(wrongly<no_root>, "The root is missing: the norm is sqrt of the sum of all squares.");
    no(wrongly<sum_of_norms>, "You add up norms of arrays: add up the squares of all, and take one root in the end.");
    no(wrongly<by_element>, "Each element is cut off by itself, which turns the step: multiply all by one factor.");
    no(wrongly<copies>, "The gradients stay as they were: do you change copies? Loop over Array& and assign to it.");
    no(wrongly<returns_new>, "Return the norm before clipping: yours is that after it.");
    expect_close("the list of all gradients, and then the norm, for longest = " + printed(longest) + ",", got,
                 close(got, torchs) ? torchs : want);
  }
  std::vector<Array> none;
  expect_close("what is returned for no gradients", clip_together(none, 1), 0);
}

#ifdef PROVE
namespace solution {
double clip_together(std::vector<Array>& gradients, double longest) {
  double squares = 0;
  for (const Array& g : gradients) squares += sum(g * g).item();
  const double norm = std::sqrt(squares);
  if (norm > longest)
    for (Array& g : gradients) g = g * (longest / norm);
  return norm;
}
}  // namespace solution

static const Tried tried[] = {
    {"solution", "", [] { check(solution::clip_together); }},
    {"each by itself", "measured by itself", [] { check(wrongly<apart>); }},
    {"small ones scaled up", "became longer", [] { check(wrongly<always>); }},
    {"without root", "root is missing", [] { check(wrongly<no_root>); }},
    {"squares compared", "compare its root", [] { check(wrongly<squared>); }},
    {"sum of norms", "add up norms", [] { check(wrongly<sum_of_norms>); }},
    {"by element", "cut off", [] { check(wrongly<by_element>); }},
    {"copies", "stay as they were", [] { check(wrongly<copies>); }},
    {"new norm returned", "before clipping", [] { check(wrongly<returns_new>); }},
    {"hard-coded", "list of all gradients",
     [] {
       check([](std::vector<Array>& g, double) {
         g = {tensor({0.6, 0}).array(), tensor({0.8}).array()};
         return 5.0;
       });
     }},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(clip_together); }, YOURS, {"clip_grad_norm"});
}
