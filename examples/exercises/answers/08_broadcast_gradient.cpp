// Checks 08: the gradient of what was broadcast.

// hint: First remove axes in front as long as the tensor has more axes than the shape. Then both have the same axes.
// hint: while (y.dim() > shape.rank()) y = sum(y, {0}); and then for each axis i with shape[i] == 1: sum(y, {i}, true).
// why: One number in many places is a value with many users: this is exercise 03, where gradients add up.
// why: Forward repeats, backward sums; and the gradient of sum repeats. The two are each other's mirror image.
// why: So a bias gets one gradient however large the batch is, and a mean over the batch has to be taken in the loss.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Reduced = Tensor(const Tensor& g, const Shape& shape);

static void check(Reduced reduced) {
  const std::vector<std::pair<Shape, Shape>> cases{
      {{2, 3}, {2, 3}},       {{4, 3}, {3}}, {{2, 3}, {2, 1}},    {{2, 3}, {1, 3}}, {{5, 2, 3}, {2, 1}},
      {{2, 3, 4}, {1, 3, 1}}, {{2, 3}, {}},  {{3, 3, 2}, {3, 2}}, {{2, 1}, {2, 1}}, {{0, 3}, {1, 3}}};
  for (const auto& [from, shape] : cases) {
    const Tensor g = randn(from, Generator(7)), got = reduced(g, shape);
    const std::string of = " of g " + printed(from) + " and the shape " + printed(shape);
    expect(got.defined(), "Your result" + of + " is an empty Tensor, which nothing was assigned to.");
    expect(got.dim() <= shape.rank() || got.dim() < g.dim(), "Axes in front stay: your result" + of +
                                                                 " has the shape " + printed(got.shape()) +
                                                                 ". sum(x, {0}) removes one.");
    Shape squeezed, rest;
    for (const Index extent : shape)
      if (extent != 1) squeezed = squeezed.insert(squeezed.rank(), extent);
    for (int i = from.rank() - shape.rank(); i < from.rank(); ++i) rest = rest.insert(rest.rank(), from[i]);
    expect(got.shape() != rest || rest == shape, "Stretched axes stay: your result" + of + " has the shape " +
                                                     printed(got.shape()) + ". Sum over axes where the shape has 1.");
    expect(got.shape() != squeezed || squeezed == shape, "An axis is lost: your result" + of + " has the shape " +
                                                             printed(got.shape()) + ". sum(x, {i}, true) keeps it.");
    // what backward of mote's own expand gives
    const Tensor want = gradient([&](const Tensor& x) { return expand(x, from); }, zeros(shape), g);
    if (g.numel() != want.numel() && g.numel() > 0)
      expect_not(got, want * shape.numel() / g.numel(), "That is the mean, but what was repeated gets the sum.");
    expect_close("reduced" + of, got, want);
    const Tensor weights = randn(shape, Generator(8));
    expect_close("the gradient by g of your result" + of,
                 gradient([&](const Tensor& x) { return reduced(x, shape); }, g, weights), expand(weights, from));
  }
}

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

enum Mistake { averaged, front_stays, stretched_stays, axis_lost, constant };
template <Mistake mistake>
static Tensor wrongly(const Tensor& g, const Shape& shape) {
  if (mistake == constant) return tensor({11, 22, 33});
  const auto total = [](const Tensor& x, int axis, bool keep) {
    return mistake == averaged ? mean(x, {axis}, keep) : sum(x, {axis}, keep);
  };
  Tensor y = g;
  while (mistake != front_stays && y.dim() > shape.rank()) y = total(y, 0, false);
  for (int axis = -1; mistake != stretched_stays && axis >= -shape.rank(); --axis)
    if (shape[axis] == 1) y = total(y, axis, mistake != axis_lost);
  return y;
}
static const Tried tried[] = {
    {"solution", "", [] { check(solution::reduced); }},
    {"mean", "That is the mean", [] { check(wrongly<averaged>); }},
    {"axes in front forgotten", "Axes in front stay", [] { check(wrongly<front_stays>); }},
    {"stretched axes forgotten", "Stretched axes stay", [] { check(wrongly<stretched_stays>); }},
    {"axis lost", "An axis is lost", [] { check(wrongly<axis_lost>); }},
    {"no gradient", "No gradient reaches",
     [] { check([](const Tensor& g, const Shape& s) -> Tensor { return sum_to(g.array(), s); }); }},
    {"hard-coded", "reduced of g", [] { check(wrongly<constant>); }},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(reduced); });
}
