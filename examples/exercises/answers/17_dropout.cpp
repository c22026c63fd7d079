// Checks 17: dropout.

// hint: Two cases. Unless training, return x. In training, multiply x by a mask of zeros and ones with the shape of x.
// hint: The mask is bernoulli(1 - p, x.shape(), random). Multiply x by the mask, and divide by 1 - p.
// why: About n (1 - p) of n numbers are kept. Divided by 1 - p, their sum is on average the same as without dropout.
// why: In evaluation all numbers are kept. Thanks to the division in training, sums still have the same size.
// why: The gradient is multiplied by the same mask, so a dropped number passes no gradient back in this step.
#include "examples/exercises/answers/check.h"

namespace of_check {
using MyDropout = Tensor(const Tensor& x, double p, bool training, const Generator& random);

/// Takes all pairs of numbers that stand `distance` positions apart. Returns the share of pairs in which both numbers
/// are kept or both are dropped.
static double together(const Tensor& kept, Index distance) {
  const Tensor flat = reshape(kept, {-1});
  const Index n = flat.numel() - distance;
  return mean(tensor(slice(flat, 0, 0, n) == slice(flat, 0, distance, n + distance))).item();
}

static void check(MyDropout my_dropout) {
  const Tensor x = rand({60, 200}, Generator(7)) + 1, dy = randn(x.shape(), Generator(8));  // no number of x is 0
  for (const double p : {0.3, 0.8}) {
    const Generator random(9), unused(9);
    const Tensor still = my_dropout(x, p, false, random);
    expect(!close(still, x * (1 - p)), "scaled in evaluation");
    expect(close(still, x) && random.get_state() == unused.get_state(), "evaluation");
    const Tensor through = my_dropout(Tensor(x.array()).requires_grad_(), p, false, random);
    expect(through.requires_grad(), "evaluation");

    const Tensor leaf = Tensor(x.array()).requires_grad_();
    const Tensor got = my_dropout(leaf, p, true, random), again = my_dropout(x, p, true, random);
    expect_close("my_dropout of x [60, 200], with zeros in place of its numbers,", zeros(got.shape()),
                 zeros(x.shape()));
    const Tensor kept = tensor(got != Tensor(0));
    expect(mean(kept).item() < 1, "In training nothing is dropped.");
    const double dropped = 1 - mean(kept).item();
    for (const Index distance : {1, 2, 3, 199, 200, 201, 6000})
      expect(std::abs(together(kept, distance) - p * p - (1 - p) * (1 - p)) < 0.05, "shared draws");
    expect(std::abs(dropped - (1 - p)) > 0.03, "p is kept");
    expect(std::abs(dropped - p) < 0.03, "You drop a share of " + printed(dropped) + ", but p is " + printed(p) + ".");
    const Tensor factors = masked_fill(got / x, got == Tensor(0), 1 / (1 - p));
    expect_close("What a kept number is multiplied by", max(factors).item(), 1 / (1 - p));
    expect_close("my_dropout in training", got, x * kept / (1 - p));
    expect(!close(got, again), "begins anew");
    expect(close(my_dropout(x, p, true, Generator(5)), my_dropout(x, p, true, Generator(5))), "begins anew");
    expect_by_hand(got, {"dropout"});
    sum(got * dy).backward();
    expect_close("its gradient", leaf.grad(), kept / (1 - p) * dy);
    expect_close("my_dropout with p = 0", my_dropout(x, 0, true, random), x);

    for (const Shape& shape : {Shape{4}, Shape{}, Shape{20, 30, 20}, Shape{0, 3}})
      expect_close("the shape of my_dropout of x " + printed(shape),
                   zeros(my_dropout(ones(shape), p, true, random).shape()), zeros(shape));
    const Tensor cube = tensor(my_dropout(ones({20, 30, 20}), p, true, random) != Tensor(0));
    for (const Index distance : {1, 2, 20, 600, 6000})
      expect(std::abs(together(cube, distance) - p * p - (1 - p) * (1 - p)) < 0.05, "shared draws");
    std::set<double> counts;
    for (int i = 0; i < 4; ++i) counts.insert(sum(tensor(my_dropout(x, p, true, random) != Tensor(0))).item());
    expect(counts.size() > 1, "the same count");
  }
}

/// Returns x times a random mask, divided by `divisor`. The mask has the shape `shape`, and its numbers are 1 with the
/// probability `keep` and otherwise 0.
static Tensor masked(const Tensor& x, double keep, const Shape& shape, double divisor, const Generator& random) {
  return x * bernoulli(keep, shape, random) / divisor;
}

static const Row<MyDropout> rows[] = {
    {"evaluation", "In evaluation nothing may happen: return x itself, and draw nothing.",
     [](const Tensor& x, double p, bool, const Generator& r) { return masked(x, 1 - p, x.shape(), 1 - p, r); },
     [](const Tensor& x, double p, bool training, const Generator& r) {
       return training ? masked(x, 1 - p, x.shape(), 1 - p, r) : x.detach();
     },
     [](const Tensor& x, double p, bool training, const Generator& r) {
       const Tensor y = masked(x, 1 - p, x.shape(), 1 - p, r);
       return training ? y : x;
     }},
    {"scaled in evaluation", "In evaluation you multiply by 1 - p: nothing happens there, and training divides.",
     [](const Tensor& x, double p, bool training, const Generator& r) {
       return training ? masked(x, 1 - p, x.shape(), 1, r) : x * (1 - p);
     }},
    {"another factor", "What is kept is divided by 1 - p. That makes up for what is dropped.",
     [](const Tensor& x, double p, bool training, const Generator& r) {
       return training ? masked(x, 1 - p, x.shape(), 1, r) : x;
     },
     [](const Tensor& x, double p, bool training, const Generator& r) {
       return training ? masked(x, 1 - p, x.shape(), 1 / (1 - p), r) : x;
     },
     [](const Tensor& x, double p, bool training, const Generator& r) {
       return training ? masked(x, 1 - p, x.shape(), p, r) : x;
     }},
    {"p is kept", "You keep a share of p: p is the share that is dropped.",
     [](const Tensor& x, double p, bool training, const Generator& r) {
       return training ? masked(x, p, x.shape(), p, r) : x;
     }},
    {"shared draws", "Some numbers are dropped or kept together: each number needs a draw of its own.",
     [](const Tensor& x, double p, bool training, const Generator& r) {  // one draw for a row
       return training ? masked(x, 1 - p, x.shape().with(-1, 1), 1 - p, r) : x;
     },
     [](const Tensor& x, double p, bool training, const Generator& r) {  // one draw for a column
       return training ? masked(x, 1 - p, {x.size(-1)}, 1 - p, r) : x;
     },
     [](const Tensor& x, double p, bool training, const Generator& r) {  // one draw for two neighbours
       if (!training) return x;
       const Tensor half = bernoulli(1 - p, {(x.numel() + 1) / 2, 1}, r) / (1 - p);
       const Tensor all = reshape(expand(half, {half.size(0), 2}), {-1});
       return x * reshape(slice(all, 0, 0, x.numel()), x.shape());
     },
     [](const Tensor& x, double p, bool training, const Generator& r) {  // one draw for all examples
       return training ? masked(x, 1 - p, x.dim() == 3 ? x.shape().with(0, 1) : x.shape(), 1 - p, r) : x;
     }},
    {"begins anew",
     "A second call drops the same numbers again, or one seed others: draw from `random`, which goes on.",
     [](const Tensor& x, double p, bool training, const Generator&) {
       return training ? masked(x, 1 - p, x.shape(), 1 - p, Generator(1)) : x;
     },
     [](const Tensor& x, double p, bool training, const Generator&) {
       static const Generator own(1);
       return training ? masked(x, 1 - p, x.shape(), 1 - p, own) : x;
     }},
    {"the same count", "Each time you drop the same count: each number is dropped or kept by a draw of its own.",
     [](const Tensor& x, double p, bool training, const Generator& r) {
       if (!training) return x;
       const std::vector<Index> order = r.randperm(x.numel());
       Array kept = Array::zeros(x.shape());
       for (Index i = 0; i < std::lround(double(x.numel()) * (1 - p)); ++i) kept.mutate()[order[i]] = 1 / (1 - p);
       return x * Tensor(kept);
     }},
    {"hard-coded", of_example,
     [](const Tensor& x, double, bool training, const Generator&) {
       return training ? tensor({2, 0, 6, 0}) : x;
     }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
Tensor my_dropout(const Tensor& x, double p, bool training, const Generator& random) {
  if (!training) return x;
  return x * bernoulli(1 - p, x.shape(), random) / (1 - p);
}
}  // namespace solution
static const Right right([] { check(solution::my_dropout); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(my_dropout); });
}
