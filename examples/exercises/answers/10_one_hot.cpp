// Checks 10: one-hot rows.

// hint: Element (n, k) is 1 where ids[n] == k. Compare a column [N, 1] with a row [1, K] to get all elements, [N, K].
// hint: tensor(unsqueeze(tensor(ids), 1) == unsqueeze(arange(K), 0)). arange takes a double, so K is converted.
// why: All one-hot rows are equally far apart, so before training no id is nearer to one id than to another.
// why: A one-hot row times a matrix is one row of the matrix. embedding() takes that row without any multiplication.
// why: The gradient of cross-entropy is softmax minus the one-hot row of the right answer. Lesson 4 builds on that.
#include "examples/exercises/answers/check.h"

namespace of_check {
using OneHot = Tensor(const IntArray& ids, Index K);

/// A table of zeros [N, K], in which row n has value(ids[n]) in column ids[n] + shift, if there is such a column.
template <auto value>
static Tensor filled(const IntArray& ids, Index K, Index shift) {
  std::vector<real> y(ids.numel() * K);
  for (Index n = 0; n < ids.numel(); ++n) {
    const Index id = ids.at({n}), k = id + shift;
    if (k >= 0 && k < K) y[n * K + k] = value(id);
  }
  return Array({ids.numel(), K}, y);
}
static double one(Index) { return 1; }
static double itself(Index id) { return static_cast<double>(id); }

static void check(OneHot one_hot) {
  for (const IntArray& ids :
       {ints({4, 0, 1, 1, 4, 2, 0, 3}), randint(0, 5, {3}, Generator(7)), ints({1}), IntArray({0})})
    expect_close("one_hot of " + printed(ids) + " among 5", one_hot(ids, 5), filled<one>(ids, 5, 0));
  expect_close("one_hot of {6, 2} among 7", one_hot(ints({6, 2}), 7), filled<one>(ints({6, 2}), 7, 0));
  expect_close("one_hot of {0, 0} among 1", one_hot(ints({0, 0}), 1), ones({2, 1}));
}

static const Row<OneHot> rows[] = {
    {"counted from 1", "Shifted by one to the left: ids count from 0, so id 0 has column 0.",
     [](const IntArray& ids, Index K) { return filled<one>(ids, K, -1); }},
    {"one too far", "Shifted by one to the right: columns count from 0, so id 0 has column 0.",
     [](const IntArray& ids, Index K) { return filled<one>(ids, K, 1); }},
    {"transposed", "Transposed: a row for each id and K columns, so the shape is [N, K].",
     [](const IntArray& ids, Index K) { return transpose(filled<one>(ids, K, 0), 0, 1); }},
    {"id instead of 1", "The id itself stands in its column. An id is only a name: put a 1 there.",
     [](const IntArray& ids, Index K) { return filled<itself>(ids, K, 0); }},
    {"inverted", "The wrong way round: 0 where it should be 1, and 1 elsewhere.",
     [](const IntArray& ids, Index K) { return 1 - filled<one>(ids, K, 0); }},
    {"one row", "All ids stand in one row, but each has a row of its own.",
     [](const IntArray& ids, Index K) { return sum(filled<one>(ids, K, 0), {0}); }},
    {"too few columns", "The number of columns is K, not the largest id and 1: an id that is not there has one, too.",
     [](const IntArray& ids, Index) {
       Index most = 0;
       for (const Index id : ids.to_vector()) most = std::max(most, id);
       return filled<one>(ids, most + 1, 0);
     }},
    {"hard-coded", of_example,
     [](const IntArray&, Index) {
       return tensor({{0, 0, 1, 0}, {1, 0, 0, 0}});
     }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
Tensor one_hot(const IntArray& ids, Index K) {
  const Tensor column = unsqueeze(tensor(ids), 1);                  // [N, 1]
  const Tensor row = unsqueeze(arange(static_cast<double>(K)), 0);  // [1, K]
  return tensor(column == row);
}
}  // namespace solution
static Tensor rows_of_eye(const IntArray& ids, Index K) { return embedding(eye(K), ids); }
static const Right right([] { check(solution::one_hot); }, [] { check(rows_of_eye); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(one_hot); });
}
