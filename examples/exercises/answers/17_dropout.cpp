// Checks 17: dropout.

// hint: Two cases. Unless training, return x; else multiply x by a mask of zeros and ones that has the shape of x.
// hint: bernoulli(1 - p, x.shape(), random) is 1 where a number is kept; x times that, divided by 1 - p.
// why: Of n numbers about n (1 - p) are left; divided by 1 - p their sum is on average what it was without dropout.
// why: So a model in evaluation, which uses all its numbers, meets sums of the size it was trained with.
// why: The gradient passes the same mask: what was dropped learns nothing from this step.
#include "examples/exercises/answers/check.h"

namespace of_check {
using MyDropout = Tensor(const Tensor& x, double p, bool training, const Generator& random);

static void check(MyDropout my_dropout) {
  const Tensor x = rand({60, 200}, Generator(7)) + 1, dy = randn(x.shape(), Generator(8));  // no number of x is 0
  for (const double p : {0.3, 0.8}) {
    const Generator random(9), unused(9);
    const Tensor leaf = Tensor(x.array()).requires_grad_(), still = my_dropout(x, p, false, random);
    for (const Tensor& y : {still})
      expect(y.defined() && y.shape() == x.shape(), "my_dropout of random x [60, 200] has not the shape of x.");
    expect_not(still, x * (1 - p), "In evaluation you multiply by 1 - p: nothing happens there; training divides.");
    expect(close(still, x), "In evaluation, when training is false, nothing may happen: return x.");
    expect(random.get_state() == unused.get_state(), "In evaluation you draw from `random`: not even that may happen.");
    const Tensor through = my_dropout(Tensor(x.array()).requires_grad_(), p, false, random);
    expect(through.requires_grad(), "In evaluation the gradient has to come through: return x itself.");
    const Tensor got = my_dropout(leaf, p, true, random), again = my_dropout(x, p, true, random);
    expect(got.defined() && got.shape() == x.shape(), "my_dropout of random x [60, 200] has not the shape of x.");
    expect_not(got, x, "In training nothing is dropped.");
    const Tensor kept = tensor(got != Tensor(0)), rows = mean(kept, {1}), columns = mean(kept, {0});
    const double dropped = 1 - mean(kept).item();
    expect(max(rows - rows * rows).item() > 0, "Whole rows are dropped or kept: every number needs a draw of its own.");
    expect(max(columns - columns * columns).item() > 0, "All rows drop the same columns: draw for every row anew.");
    expect(std::abs(dropped - (1 - p)) > 0.03, "You keep a share of p: p is the share that is dropped.");
    expect(std::abs(dropped - p) < 0.03, "You drop a share of " + printed(dropped) + ", but p is " + printed(p) + ".");
    expect_not(got, x * kept, "What is kept stays as it is: divide it by 1 - p, or all sums become smaller.");
    expect_not(got, x * kept * (1 - p), "You multiply by 1 - p: divide, to make up for what is dropped.");
    expect_not(got, x * kept / p, "You divide by p: the share that is kept is 1 - p.");
    expect_close("my_dropout in training", got, x * kept / (1 - p));
    expect(!close(got, again), "A second call drops the same numbers again: draw from `random`, which goes on.");
    expect(close(my_dropout(x, p, true, Generator(5)), my_dropout(x, p, true, Generator(5))),
           "The same seed has to drop the same numbers: draw from `random` and nothing else.");
    expect_by_hand(got, {"dropout"});
    sum(got * dy).backward();
    expect_close("its gradient", leaf.grad(), kept / (1 - p) * dy);
    expect_close("my_dropout with p = 0", my_dropout(x, 0, true, random), x);
    for (const Shape& shape : {Shape{4}, Shape{2, 3, 5}})
      expect(my_dropout(ones(shape), p, true, random).shape() == shape,
             "The mask has the shape of x, whatever that is.");
    std::set<double> counts;
    for (int i = 0; i < 4; ++i) counts.insert(sum(tensor(my_dropout(x, p, true, random) != Tensor(0))).item());
    expect(counts.size() > 1,
           "Each time you drop the same count: each number is dropped or kept by a draw of its own.");
  }
}

#ifdef PROVE
namespace solution {
Tensor my_dropout(const Tensor& x, double p, bool training, const Generator& random) {
  if (!training) return x;
  return x * bernoulli(1 - p, x.shape(), random) / (1 - p);
}
}  // namespace solution

enum Mistake {
  always,
  late,
  unscaled,
  multiplied,
  share_kept,
  by_row,
  by_column,
  anew,
  detached,
  draws,
  same_count,
  matrices,
  constant
};
template <Mistake mistake>
static void with() {
  check([](const Tensor& x, double p, bool training, const Generator& random) {
    if (mistake == constant) return tensor({2, 0, 6, 0});
    if (mistake == draws) bernoulli(p, {1}, random);
    if (mistake == matrices && x.dim() != 2) return x.size(0) == 4 ? ones({1}) : x;
    if (mistake == detached && !training) return x.detach();
    if (mistake == same_count && training && p > 0) {
      const std::vector<Index> order = random.randperm(x.numel());
      Array kept = Array::zeros(x.shape());
      for (Index i = 0; i < std::lround(double(x.numel()) * (1 - p)); ++i) kept.mutate()[order[i]] = 1 / (1 - p);
      return x * Tensor(kept);
    }
    if (!training && mistake != always) return mistake == late ? x * (1 - p) : x;
    const double keep = mistake == share_kept ? p : 1 - p;
    const Shape shape = mistake == by_row ? Shape{x.size(0), 1} : mistake == by_column ? Shape{x.size(1)} : x.shape();
    const Tensor some = x * bernoulli(keep, shape, mistake == anew ? Generator(1) : random);
    return mistake == unscaled || mistake == late ? some : mistake == multiplied ? some * keep : some / keep;
  });
}
static const Tried tried[] = {
    {"solution", "", [] { check(solution::my_dropout); }},
    {"in evaluation", "nothing may happen", with<always>},
    {"scaled in evaluation", "nothing happens there", with<late>},
    {"not scaled", "stays as it is", with<unscaled>},
    {"multiplied", "to make up for", with<multiplied>},
    {"p is kept", "You keep a share of p", with<share_kept>},
    {"a draw for a row", "Whole rows", with<by_row>},
    {"a draw for a column", "the same columns", with<by_column>},
    {"begins anew", "A second call", with<anew>},
    {"detached in evaluation", "has to come through", with<detached>},
    {"draws in evaluation", "not even that", with<draws>},
    {"the same count", "the same count", with<same_count>},
    {"for matrices alone", "whatever that is", with<matrices>},
    {"hard-coded", "my_dropout of random x", with<constant>},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(my_dropout); });
}
