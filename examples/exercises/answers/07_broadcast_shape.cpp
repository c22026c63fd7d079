// Checks 07: the shape that broadcasting gives.

// hint: Begin with a copy of the shape with more axes, and go through its axes from the last: -1, -2, ... -rank.
// hint: An extent is -axis <= a.rank() ? a[axis] : 1, and likewise for b; of the two, x == 1 ? y : x is the result.
// why: From the last axis: so a bias [C] fits [C], [T, C] and [B, T, C] alike, and a layer need not know how many.
// why: Broadcasting hides mistakes: [3] + [3, 1] is [3, 3] without a word. When a loss looks odd, print shapes.
// why: 1 is no lower bound but a wildcard: next to an empty axis it becomes empty, 0 copies of what is there.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Broadcast = Shape(const Shape& a, const Shape& b);

/// The shape as text, or "an error" with what it says.
static std::string said(Broadcast broadcast_shape, const Shape& a, const Shape& b) {
  try {
    return printed(broadcast_shape(a, b));
  } catch (const Error& e) {
    return std::string("an error: ") + e.what();
  } catch (const std::exception& e) {
    throw Wrong(std::string("This exception is no Error: ") + e.what() + ". Write throw Error(\"...\").");
  }
}

static void check(Broadcast broadcast_shape) {
  using Pairs = std::vector<std::pair<Shape, Shape>>;
  const auto expect_shapes = [&](const Pairs& pairs, const std::string& because) {
    for (const auto& [a, b] : pairs) {
      const std::string got = said(broadcast_shape, a, b), want = said(broadcast, a, b);
      expect(got.find("do not broadcast (axis") == got.npos, "This calls mote's own broadcast: write it yourself.");
      const bool fits = want[0] == '[';
      expect(fits ? got == want : got[0] != '[', "Of " + printed(a) + " and " + printed(b) + " you make " + got +
                                                     ", but it should be " + (fits ? want : "an error") + because);
    }
  };
  expect_shapes({{{2, 3}, {2, 3}}}, ", as both are.");
  expect_shapes({{{2, 1}, {1, 3}}, {{1, 3}, {2, 1}}, {{4, 1}, {4, 5}}}, ": 1 stretches to the other.");
  expect_shapes({{{2, 1}, {2, 0}}, {{2, 0}, {2, 1}}}, ": 1 stretches to 0, too, so the larger is not always right.");
  expect_shapes({{{2, 3}, {2, 4}}, {{4, 2}, {3, 2}}, {{2, 0}, {2, 3}}}, ": they differ, and neither of the two is 1.");
  expect_shapes({{{3, 1, 2}, {3, 1}}, {{3, 1}, {3, 1, 2}}}, ": last axes meet, and what is missing in front is 1.");
  expect_shapes({{{}, {2, 3}}, {{4}, {}}, {{}, {}}}, ": [] has no axis, so all of its extents count as 1.");
  const Generator random(7);
  Pairs pairs;
  for (int i = 0; i < 300; ++i) {  // most fit: an extent is that of [2, 3, 0, 4], or 1, or seldom something else
    std::vector<Index> shapes[2];
    for (std::vector<Index>& extents : shapes) {
      const IntArray rank = randint(0, 5, {1}, random), choice = randint(0, 20, {4}, random);
      for (Index axis = 4 - rank.at({0}); axis < 4; ++axis) {
        const Index c = choice.at({axis});
        extents.push_back(c == 0 ? 5 : c < 8 ? 1 : Shape{2, 3, 0, 4}[static_cast<int>(axis)]);
      }
    }
    pairs.emplace_back(Shape(std::span<const Index>(shapes[0])), Shape(std::span<const Index>(shapes[1])));
  }
  expect_shapes(pairs, ".");
}

#ifdef PROVE
namespace solution {
Shape broadcast_shape(const Shape& a, const Shape& b) {
  Shape result = a.rank() > b.rank() ? a : b;
  for (int axis = -1; axis >= -result.rank(); --axis) {
    const Index x = -axis <= a.rank() ? a[axis] : 1;
    const Index y = -axis <= b.rank() ? b[axis] : 1;
    if (x != y && x != 1 && y != 1) throw Error("the two shapes do not fit");
    result = result.with(axis, x == 1 ? y : x);
  }
  return result;
}
}  // namespace solution

enum Mistake { no_stretch, larger, no_error, first_axes, constant };
template <Mistake mistake>
static Shape wrongly(const Shape& a, const Shape& b) {
  if (mistake == constant) return {4, 2, 3};
  Shape result = a.rank() > b.rank() ? a : b;
  for (int i = 1; i <= result.rank(); ++i) {
    const int axis = mistake == first_axes ? i - 1 : -i;
    const Index x = i <= a.rank() ? a[axis] : 1, y = i <= b.rank() ? b[axis] : 1;
    if (x != y && mistake != no_error && (mistake == no_stretch || (x != 1 && y != 1))) throw Error("do not fit");
    result = result.with(axis, mistake == larger ? std::max(x, y) : x == 1 ? y : x);
  }
  return result;
}
static const Tried tried[] = {
    {"solution", "", [] { check(solution::broadcast_shape); }},
    {"1 does not stretch", "1 stretches to the other", [] { check(wrongly<no_stretch>); }},
    {"the larger extent", "1 stretches to 0", [] { check(wrongly<larger>); }},
    {"never an error", "neither of the two is 1", [] { check(wrongly<no_error>); }},
    {"first axes meet", "last axes meet", [] { check(wrongly<first_axes>); }},
    {"mote's own", "mote's own broadcast", [] { check(broadcast); }},
    {"hard-coded", "Of [2, 3] and [2, 3]", [] { check(wrongly<constant>); }},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(broadcast_shape); }, YOURS, {"broadcast", "zeros", "ones"});
}
