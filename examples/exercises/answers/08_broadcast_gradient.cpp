// Checks 08: the gradient of what was broadcast.

// hint: First remove axes in front while the tensor has more axes than the shape. Then both have equally many axes.
// hint: while (y.dim() > shape.rank()) y = sum(y, {0}); and then for each axis i with shape[i] == 1: sum(y, {i}, true).
// why: A number that broadcasting repeats is used several times, so its gradients add up, as in exercise 03.
// why: Backward of a repetition is a sum, and backward of a sum is a repetition.
// why: A bias gets the sum of the gradients of all examples. To get their mean, let the loss be the mean over examples.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Reduced = Tensor(const Tensor& g, const Shape& shape);

static void check(Reduced reduced) {
  const std::vector<std::pair<Shape, Shape>> cases{{{2, 3}, {2, 1}},
                                                   {{4, 3}, {3}},
                                                   {{5, 2, 3}, {2, 1}},
                                                   {{2, 3}, {2, 3}},
                                                   {{2, 3}, {1, 3}},
                                                   {{2, 3}, {}},
                                                   {{3, 3, 2}, {3, 2}},
                                                   {{2, 3, 4}, {1, 3, 1}},
                                                   {{2, 3, 4, 5}, {4, 1}},
                                                   {{2, 1}, {2, 1}},
                                                   {{1, 1}, {}},
                                                   {{1, 3}, {3}},
                                                   {{}, {}},
                                                   {{0, 3}, {1, 3}},
                                                   {{2, 0}, {2, 1}}};
  for (const auto& [from, shape] : cases) {
    const Tensor g = randn(from, Generator(7)), weights = randn(shape, Generator(8));
    const std::string of = " of g " + printed(from) + " and the shape " + printed(shape);
    // the gradient that mote's own expand computes
    const Tensor want = gradient([&](const Tensor& x) { return expand(x, from); }, zeros(shape), g);
    expect_close("reduced" + of, reduced(g, shape), want);
    expect_close("the gradient by g of your result" + of,
                 gradient([&](const Tensor& x) { return reduced(x, shape); }, g, weights), expand(weights, from));
  }
}

/// The rule in two steps. The first sums over axes that `shape` does not have, unless `front` is false. The second
/// sums over axes that are 1 in `shape`, unless `stretched` is false, and `keep` is its keepdim. If `averaged`, both
/// steps take means instead of sums.
static Tensor by_steps(const Tensor& g, const Shape& shape, bool front, bool stretched, bool keep, bool averaged) {
  const auto total = [=](const Tensor& x, int axis, bool keepdim) {
    return averaged ? mean(x, {axis}, keepdim) : sum(x, {axis}, keepdim);
  };
  Tensor y = g;
  while (front && y.dim() > shape.rank()) y = total(y, 0, false);
  for (int axis = -1; stretched && axis >= -shape.rank(); --axis)
    if (shape[axis] == 1) y = total(y, axis, keep);
  return y;
}

static const Row<Reduced> rows[] = {
    {"mean", "That is the mean, but what was repeated gets the sum.",
     [](const Tensor& g, const Shape& shape) { return by_steps(g, shape, true, true, true, true); }},
    {"axes in front stay", "Axes in front stay that `shape` does not have: sum(x, {0}) removes one.",
     [](const Tensor& g, const Shape& shape) { return by_steps(g, shape, false, true, true, false); }},
    {"stretched axes stay", "Stretched axes stay: sum over each axis where `shape` has 1.",
     [](const Tensor& g, const Shape& shape) { return by_steps(g, shape, true, false, true, false); }},
    {"an axis is lost", "An axis is lost where `shape` has 1: sum(x, {i}, true) keeps it.",
     [](const Tensor& g, const Shape& shape) { return by_steps(g, shape, true, true, false, false); }},
    {"always axis 0", "You go over axis 0 alone, whatever the shape is: which axes have been repeated depends on it.",
     [](const Tensor& g, const Shape&) { return sum(g, {0}); },
     [](const Tensor& g, const Shape&) { return mean(g, {0}); },
     [](const Tensor& g, const Shape&) { return sum(g, {0}, true); }},
    {"one axis in front", "There may be several axes in front that `shape` does not have: sum over all of them.",
     [](const Tensor& g, const Shape& shape) {
       return by_steps(g.dim() > shape.rank() ? sum(g, {0}) : g, shape, false, true, true, false);
     }},
    {"no gradient", "No gradient finds its way through your result: compute it from g, with ops of tensors.",
     [](const Tensor& g, const Shape& shape) { return Tensor(sum_to(g.array(), shape)); }},
    {"hard-coded", of_example,
     [](const Tensor&, const Shape&) {
       return tensor({11, 22, 33});
     }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
Tensor reduced(const Tensor& g, const Shape& shape) {
  Tensor y = g;
  while (y.dim() > shape.rank()) y = sum(y, {0});
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (shape[axis] == 1) y = sum(y, {axis}, true);
  return y;
}
}  // namespace solution
static const Right right([] { check(solution::reduced); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(reduced); });
}
