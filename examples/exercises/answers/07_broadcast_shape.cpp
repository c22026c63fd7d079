// Checks 07: the shape that broadcasting gives.

// hint: Begin with a copy of the shape that has more axes. Go through its axes from the last: -1, -2, ... -rank.
// hint: Let x be -axis <= a.rank() ? a[axis] : 1, and y likewise for b. The extent of the result is x == 1 ? y : x.
// why: Last axes are aligned, so a bias [C] fits [C], [T, C] and [B, T, C]. A layer need not know how many axes x has.
// why: Broadcasting hides mistakes: [3] + [3, 1] is [3, 3] without any error. When a loss looks odd, print shapes.
// why: An extent of 1 fits any other extent, even 0. Next to a 0 it becomes 0, because 0 copies are made.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Broadcast = Shape(const Shape& a, const Shape& b);

/// Returns the learner's broadcast_shape(a, b) as text, or "an error" if it throws an Error.
static std::string said(Broadcast broadcast_shape, const Shape& a, const Shape& b) {
  try {
    return printed(broadcast_shape(a, b));
  } catch (const Error& e) {
    expect(std::string(e.what()).find("do not broadcast (axis") == std::string::npos, "mote's own");
    return "an error";
  } catch (const std::exception& e) {
    throw Wrong(std::string("This exception is no Error: ") + e.what() + ". Write throw Error(\"...\").");
  }
}

static void check(Broadcast broadcast_shape) {
  const auto expect_shape = [&](const Shape& a, const Shape& b, const std::string& mistake) {
    std::string want = "an error";
    try {
      want = printed(broadcast(a, b));
    } catch (const Error&) {
    }
    const std::string got = said(broadcast_shape, a, b);
    expect(got == want, mistake,
           " Of " + printed(a) + " and " + printed(b) + " you make " + got + ", but it should be " + want + ".");
  };
  const auto expect_shapes = [&](std::initializer_list<std::pair<Shape, Shape>> pairs, const std::string& mistake) {
    for (const auto& [a, b] : pairs) expect_shape(a, b, mistake);
  };
  expect_shapes({{{2, 3}, {2, 3}}}, "hard-coded");
  expect_shapes({{{2, 1}, {1, 3}}, {{1, 3}, {2, 1}}, {{4, 1}, {4, 5}}}, "1 does not stretch");
  expect_shapes({{{2, 1}, {2, 0}}, {{2, 0}, {2, 1}}}, "the larger extent");
  expect_shapes({{{2, 3}, {2, 4}}, {{4, 2}, {3, 2}}, {{2, 0}, {2, 3}}, {{2}, {3}}}, "never an error");
  expect_shapes({{{3, 1, 2}, {3, 1}}, {{3, 1}, {3, 1, 2}}, {{4, 3}, {3}}, {{3}, {4, 3}}}, "first axes meet");
  expect_shapes({{{}, {2, 3}}, {{4}, {}}, {{}, {}}}, "an axis that is not there");
  expect_shapes({{{2, 3, 4, 5, 6}, {4, 1, 6}}, {{2, 1, 4, 1, 1}, {1, 3, 1, 5, 6}}}, "many axes");
  const Generator random(7);
  for (int i = 0; i < 300; ++i) {  // extents are from [2, 3, 0, 4], or often 1, or rarely 5, so most pairs fit
    std::vector<Index> shapes[2];
    for (std::vector<Index>& extents : shapes) {
      const IntArray rank = randint(0, 5, {1}, random), choice = randint(0, 20, {4}, random);
      for (Index axis = 4 - rank.at({0}); axis < 4; ++axis) {
        const Index c = choice.at({axis});
        extents.push_back(c == 0 ? 5 : c < 8 ? 1 : Shape{2, 3, 0, 4}[static_cast<int>(axis)]);
      }
    }
    expect_shape(Shape(std::span<const Index>(shapes[0])), Shape(std::span<const Index>(shapes[1])),
                 "The shape is wrong.");
  }
}

/// The shape of a + b, where choice(x, y) is the extent that results from the extents x and y. Only the last `axes`
/// axes are computed in this way.
using Choice = Index(Index x, Index y);
template <Choice* choice>
static Shape chosen(const Shape& a, const Shape& b, int axes) {
  Shape result = a.rank() > b.rank() ? a : b;
  for (int axis = -1; axis >= -std::min(axes, result.rank()); --axis)
    result = result.with(axis, choice(-axis <= a.rank() ? a[axis] : 1, -axis <= b.rank() ? b[axis] : 1));
  return result;
}
static Index right_choice(Index x, Index y) {
  if (x != y && x != 1 && y != 1) throw Error("the two shapes do not fit");
  return x == 1 ? y : x;
}
static Index no_stretch(Index x, Index y) {
  if (x != y) throw Error("the two shapes do not fit");
  return x;
}
static Index larger(Index x, Index y) { return std::max(right_choice(x, y), std::max(x, y)); }
static Index no_error(Index x, Index y) { return x == 1 ? y : x; }

static const Row<Broadcast> rows[] = {
    {"1 does not stretch", "1 stretches to the other extent.",
     [](const Shape& a, const Shape& b) { return chosen<no_stretch>(a, b, 9); }},
    {"the larger extent", "1 stretches to 0 as well: the larger extent is not always right.",
     [](const Shape& a, const Shape& b) { return chosen<larger>(a, b, 9); }},
    {"never an error", "Two extents that differ are an error if neither of the two is 1.",
     [](const Shape& a, const Shape& b) { return chosen<no_error>(a, b, 9); }},
    {"first axes meet", "The last axes meet, and what is missing in front is 1.",
     [](const Shape& a, const Shape& b) {
       Shape result = a.rank() > b.rank() ? a : b;
       for (int i = 0; i < result.rank(); ++i)
         result = result.with(i, right_choice(i < a.rank() ? a[i] : 1, i < b.rank() ? b[i] : 1));
       return result;
     },
     [](const Shape& a, const Shape& b) {
       if (a.rank() != b.rank()) throw Error("another number of axes");
       return chosen<right_choice>(a, b, 9);
     }},
    {"an axis that is not there", "[] has no axis, so all of its extents count as 1.",
     [](const Shape& a, const Shape& b) {
       if (a.rank() * b.rank() == 0) return Shape();
       return chosen<right_choice>(a, b, 9);
     }},
    {"many axes", "Shapes may have any number of axes: go through all of them.",
     [](const Shape& a, const Shape& b) { return chosen<right_choice>(a, b, 4); }},
    {"mote's own", "This calls mote's own broadcast: write it yourself.", broadcast},
    {"hard-coded", "The shape is not that of the two, which are alike.",
     [](const Shape&, const Shape&) {
       return Shape{4, 2, 3};
     }},
};
static const Table table(check, rows);

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
static const Right right([] { check(solution::broadcast_shape); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(broadcast_shape); }, YOURS, {"broadcast", "zeros", "ones"});
}
