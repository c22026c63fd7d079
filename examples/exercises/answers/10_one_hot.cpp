// Checks 10: one-hot rows.

// hint: Element (n, k) is 1 where ids[n] == k. A column [N, 1] compared with a row [1, K] gives all of them, [N, K].
// hint: tensor(unsqueeze(tensor(ids), 1) == unsqueeze(arange(K), 0)), and K is a whole number: arange takes a double.
// why: Any two one-hot rows are equally far apart, so no id is nearer to another before something was learned.
// why: A one-hot row times a matrix is one row of the matrix; embedding() takes that row and saves all the products.
// why: Softmax minus the one-hot row of the right answer is the gradient of cross-entropy: lesson 4 builds on it.
#include "examples/exercises/answers/check.h"

namespace of_check {
using OneHot = Tensor(const IntArray& ids, Index K);

/// Zeros, but `value` in column id + shift of each row, if there is one; or the id itself, if value is 0.
static Tensor filled(const IntArray& ids, Index K, Index shift, double value) {
  std::vector<real> y(ids.numel() * K);
  for (Index n = 0; n < ids.numel(); ++n) {
    const Index id = ids.at({n}), k = id + shift;
    if (k >= 0 && k < K) y[n * K + k] = value == 0 ? id : value;
  }
  return Array({ids.numel(), K}, y);
}

static void check(OneHot one_hot) {
  for (const IntArray& ids :
       {randint(0, 5, {3}, Generator(7)), ints({4, 0, 1, 1, 4, 2, 0, 3}), ints({1}), IntArray({0})}) {
    const Index K = 5;
    const Tensor got = one_hot(ids, K), want = filled(ids, K, 0, 1);
    if (ids.numel() > 1) {
      expect_not(got, filled(ids, K, -1, 1), "Shifted by one to the left: ids count from 0, so id 0 has column 0.");
      expect_not(got, filled(ids, K, 1, 1), "Shifted by one to the right: columns count from 0, so id 0 has column 0.");
      expect_not(got, transpose(want, 0, 1), "Transposed: a row for each id and K columns, so the shape is [N, K].");
      expect_not(got, filled(ids, K, 0, 0), "The id itself stands in its column. An id is only a name: put a 1 there.");
      expect_not(got, 1 - want, "The wrong way round: 0 where it should be 1, and 1 elsewhere.");
    }
    expect_close("one_hot of " + printed(ids), got, want);
  }
  expect_close("one_hot of {6, 2} among 7", one_hot(ints({6, 2}), 7),
               tensor({{0, 0, 0, 0, 0, 0, 1}, {0, 0, 1, 0, 0, 0, 0}}));
}

#ifdef PROVE
namespace solution {
Tensor one_hot(const IntArray& ids, Index K) {
  const Tensor column = unsqueeze(tensor(ids), 1);                  // [N, 1]
  const Tensor row = unsqueeze(arange(static_cast<double>(K)), 0);  // [1, K]
  return tensor(column == row);
}
}  // namespace solution

static const Tried tried[] = {
    {"solution", "", [] { check(solution::one_hot); }},
    {"rows of eye", "", [] { check([](const IntArray& ids, Index K) { return embedding(eye(K), ids); }); }},
    {"counted from 1", "to the left",
     [] { check([](const IntArray& ids, Index K) { return filled(ids, K, -1, 1); }); }},
    {"one too far", "to the right", [] { check([](const IntArray& ids, Index K) { return filled(ids, K, 1, 1); }); }},
    {"transposed", "Transposed",
     [] { check([](const IntArray& ids, Index K) { return transpose(filled(ids, K, 0, 1), 0, 1); }); }},
    {"id instead of 1", "The id itself",
     [] { check([](const IntArray& ids, Index K) { return filled(ids, K, 0, 0); }); }},
    {"inverted", "wrong way round",
     [] { check([](const IntArray& ids, Index K) { return 1 - filled(ids, K, 0, 1); }); }},
    {"hard-coded", "one_hot of",
     [] { check([](const IntArray&, Index) {
            return tensor({{0, 0, 1, 0}, {1, 0, 0, 0}});
          }); }},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(one_hot); });
}
