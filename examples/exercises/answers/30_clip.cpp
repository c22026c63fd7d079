// Checks 30: clipping.

// hint: Two loops: the first adds up sum(g * g).item() of all arrays, the second scales. Between them comes one sqrt.
// hint: for (Array& g : gradients) g = g * (longest / norm); The & is needed, because without it you change a copy.
// why: All gradients are multiplied by one factor, so the step keeps its direction and only becomes shorter.
// why: Clipping each array or element by itself would change the direction of the step.
// why: Look at the norm first when a training fails, because the norm often jumps before the loss does.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Clip = double(std::vector<Array>& gradients, double longest);

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
    const std::vector<Array> before{draw({2, 2}), draw({2}), draw({0}), draw({1, 1, 3})};
    std::vector<Array> gradients = before;
    const double returned = clip_together(gradients, longest);
    const Tensor all = side_by_side(before), got = side_by_side(gradients);
    const double norm = std::sqrt(sum(all * all).item());
    const auto scaled = [&, longest = longest](double divisor) {
      return norm > longest ? all * (longest / divisor) : all;
    };
    expect(norm <= longest || !close(got, all), "unchanged");
    expect(norm > longest || close(got, all), "became longer");
    const bool torchs = close(got, scaled(norm + 1e-6));
    expect_close("the list of all gradients, for longest = " + printed(longest) + ",", got,
                 scaled(torchs ? norm + 1e-6 : norm));
    expect_close("what is returned, for longest = " + printed(longest) + ",", returned, norm);
    for (std::size_t i = 0; i < before.size(); ++i)
      expect_close("an array of gradients, after clipping,", zeros(gradients[i].shape()), zeros(before[i].shape()));
  }
  std::vector<Array> none;
  expect_close("what is returned for no gradients", clip_together(none, 1), 0);
}

static double squares_of(const Array& g) { return sum(g * g).item(); }
static double norm_of(const std::vector<Array>& gradients) {
  double squares = 0;
  for (const Array& g : gradients) squares += squares_of(g);
  return std::sqrt(squares);
}
/// Multiplies all gradients by this factor.
static void scale(std::vector<Array>& gradients, double factor) {
  for (Array& g : gradients) g = g * factor;
}

static const Row<Clip> rows[] = {
    {"each by itself",
     "Each array or element is shortened by itself, which turns the step: one norm of all, one factor.",
     [](std::vector<Array>& gradients, double longest) {
       for (Array& g : gradients)
         if (const double norm = std::sqrt(squares_of(g)); norm > longest) g = g * (longest / norm);
       return norm_of(gradients);
     },
     [](std::vector<Array>& gradients, double longest) {
       const double norm = norm_of(gradients);
       for (Array& g : gradients) g = clamp(Tensor(g), -longest, longest).array();
       return norm;
     }},
    {"no root", "The root is missing: the norm is sqrt of the sum of all squares.",
     [](std::vector<Array>& gradients, double longest) {
       const double squares = norm_of(gradients) * norm_of(gradients);
       if (squares > longest) scale(gradients, longest / squares);
       return squares;
     }},
    {"sum of norms", "You add up norms of arrays: add up the squares of all, and take one root in the end.",
     [](std::vector<Array>& gradients, double longest) {
       double norms = 0;
       for (const Array& g : gradients) norms += std::sqrt(squares_of(g));
       if (norms > longest) scale(gradients, longest / norms);
       return norms;
     }},
    {"became longer",
     "Gradients that are short enough have changed: change them only if norm > longest, not its square.",
     [](std::vector<Array>& gradients, double longest) {
       const double norm = norm_of(gradients);
       scale(gradients, longest / norm);
       return norm;
     },
     [](std::vector<Array>& gradients, double longest) {
       const double norm = norm_of(gradients);
       if (norm * norm > longest) scale(gradients, longest / norm);
       return norm;
     }},
    {"unchanged", "The gradients stay as they were: do you change copies? Loop over Array& and assign to it.",
     [](std::vector<Array>& gradients, double) { return norm_of(gradients); }},
    {"another factor", "The norm becomes 1, and not longest: the factor is longest / norm.",
     [](std::vector<Array>& gradients, double longest) {
       const double norm = norm_of(gradients);
       if (norm > longest) scale(gradients, 1 / norm);
       return norm;
     }},
    {"new norm returned", "Return the norm before clipping: yours is that after it.",
     [](std::vector<Array>& gradients, double longest) {
       const double norm = norm_of(gradients);
       if (norm > longest) scale(gradients, longest / norm);
       return std::min(norm, longest);
     }},
    {"hard-coded", of_example,
     [](std::vector<Array>& gradients, double) {
       gradients = {tensor({0.6, 0}).array(), tensor({0.8}).array()};
       return 5.0;
     }},
};
static const Table table(check, rows);

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
static const Right right([] { check(solution::clip_together); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(clip_together); }, YOURS, {"clip_grad_norm"});
}
