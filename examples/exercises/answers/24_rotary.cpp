// Checks 24: rotary positions.

// hint: Speeds [d/2]: exp(-2 log(10000) / d * i). Angles [T, d/2]: t * speed. c and s: cos and sin of the angles.
// hint: a = slice(x, -1, 0, d / 2), b = slice(x, -1, d / 2, d); Return concat({a * c - b * s, b * c + a * s}, -1).
// why: Rotating two points by the same angle keeps their dot product. So a score depends only on the distance.
// why: Values are not rotated, because positions should affect the attention weights and not the values themselves.
// why: A rotation keeps the length of a vector, so scores keep their typical size at all positions.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Turn = Tensor(const Tensor& x);

static void check(Turn turned_by_place) {
  const Generator random(7);
  for (const Shape& shape : {Shape{3, 4}, {2, 3, 5, 6}, {3, 7, 2}, {1, 8}, {300, 4}}) {
    const Tensor x = randn(shape, random), weights = randn(shape, random);
    const auto motes = [&](const Tensor& y) { return Rotary(y.size(-1), {}, y.size(-2))(y, 0); };
    expect_close("turned_by_place of random x " + printed(shape), turned_by_place(x), motes(x));
    expect_close("the gradient of x", gradient(turned_by_place, x, weights), gradient(motes, x, weights));
    expect_by_hand(turned_by_place(Tensor(x.array()).requires_grad_()), {"rotary"});
  }
}

enum Kind { none, backwards, same_everywhere, from_1, neighbours, two_minuses, overwritten, without_2, one_speed };
/// The rotation by position, with the mistake `kind`.
template <Kind kind>
static Tensor turned(const Tensor& x) {
  const Index T = x.size(-2), d = x.size(-1), half = d / 2;
  const Tensor t = kind == same_everywhere ? ones({T}) : arange(static_cast<double>(T)) + (kind == from_1 ? 1 : 0);
  const double factor = kind == one_speed ? 0 : kind == without_2 ? 1 : 2;
  const Tensor speeds = exp(arange(static_cast<double>(half)) * (-factor * std::log(10000.0) / static_cast<double>(d)));
  const Tensor angle = unsqueeze(t, 1) * speeds, c = cos(angle), s = kind == backwards ? -sin(angle) : sin(angle);
  const bool apart = kind == neighbours;
  const Tensor a = apart ? slice(x, -1, 0, d, 2) : slice(x, -1, 0, half);
  const Tensor b = apart ? slice(x, -1, 1, d, 2) : slice(x, -1, half, d);
  const Tensor new_a = a * c - b * s, other = kind == overwritten ? new_a : a;
  const Tensor new_b = kind == two_minuses ? b * c - a * s : b * c + other * s;
  return apart ? reshape(stack({new_a, new_b}, -1), x.shape()) : concat({new_a, new_b}, -1);
}

static const Row<Turn> rows[] = {
    {"wrong direction", "You turn the wrong way: it is minus in the new a, and plus in the new b.", turned<backwards>},
    {"another place", "Row t is turned by t times the speed, where t counts from 0: row 0 stays as it is.",
     turned<same_everywhere>, turned<from_1>},
    {"neighbours", "You pair the neighbours 2i and 2i + 1, as some models do. Here the pairs are i and i + d/2.",
     turned<neighbours>},
    {"two minuses", "A turn has one minus and one plus: b cos + a sin for the new b; with two minuses it is none.",
     turned<two_minuses>},
    {"overwritten", "The new b is made of the old a: yours has the new a in it. Give the new one another name.",
     turned<overwritten>},
    {"exponent without 2", "The speed of pair i is 10000^(-2i/d); yours is 10000^(-i/d).", turned<without_2>},
    {"one speed", "All pairs have the speed 1: pair i has 10000^(-2i/d). Were whole numbers divided?",
     turned<one_speed>},
    {"hard-coded", of_example,
     [](const Tensor&) {
       return tensor({{1, 2, 3, 4}, {-1.984, 1.960, 2.462, 4.020}});
     }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
Tensor turned_by_place(const Tensor& x) {
  const Index T = x.size(-2), d = x.size(-1);
  const Tensor speeds = exp(arange(d / 2) * (-2 * std::log(10000.0) / d));  // [d/2]
  const Tensor angle = unsqueeze(arange(T), 1) * speeds;                    // [T, d/2]
  const Tensor c = cos(angle), s = sin(angle);
  const Tensor a = slice(x, -1, 0, d / 2), b = slice(x, -1, d / 2, d);
  return concat({a * c - b * s, b * c + a * s}, -1);
}
}  // namespace solution
static const Right right([] { check(solution::turned_by_place); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(turned_by_place); }, YOURS, {"rotary"});
}
