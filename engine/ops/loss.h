// Losses: cross_entropy, nll_loss, mse_loss, l1_loss, binary_cross_entropy, binary_cross_entropy_with_logits.
#pragma once

#include <algorithm>
#include <concepts>
#include <limits>

#include "engine/array/int_array.h"
#include "engine/base/math.h"
#include "engine/ops/reduce.h"
#include "engine/ops/softmax.h"

namespace mote {

/// How the losses of single rows or elements are combined.
enum class Reduction { none, mean, sum };

/// The settings of cross_entropy, with PyTorch's names and defaults.
struct CrossEntropyOptions {
  Index ignore_index = -100;              ///< rows with this target are ignored
  Reduction reduction = Reduction::mean;  ///< Reduction::mean averages over the rows that are not ignored
  double label_smoothing = 0;             ///< share of the target spread evenly over all classes
};

namespace detail {

/// Checks the targets of cross_entropy or nll_loss. Returns how many of them are not ignored.
inline Index check_targets(const Tensor& logits, const IntArray& targets, const CrossEntropyOptions& options) {
  check(logits.dim() >= 1, "logits [] need a last axis of classes");
  const Shape rows = logits.shape().without(-1);
  check(targets.shape() == rows, "targets ", targets.shape(), " must be ", rows, ", the shape of logits ",
        logits.shape(), " without the last axis");
  check(options.label_smoothing >= 0 && options.label_smoothing <= 1, "label_smoothing ", options.label_smoothing,
        " is outside [0, 1]");
  const Index classes = logits.size(-1);
  Index counted = 0;
  for (const Index t : targets.values()) {
    check(t == options.ignore_index || (t >= 0 && t < classes), "target ", t, " is out of range for V = ", classes,
          " and is not ignore_index ", options.ignore_index);
    counted += t != options.ignore_index;
  }
  return counted;
}

}  // namespace detail

/// -log softmax(logits)[target], with the classes on the last axis: logits [..., V], targets [...] -> rank 0. With
/// Reduction::none the result is [...], and 0 where the target is ignored. With label smoothing s, the target
/// distribution is (1 - s) one-hot + s / V. The mean of no rows is NaN, with zero gradients, as in PyTorch. Errors: a
/// target outside [0, V) that is not ignore_index, shapes that do not fit.
inline Tensor cross_entropy(const Tensor& logits, IntArray targets, const CrossEntropyOptions& options = {}) {
  Op op("cross_entropy", logits);
  targets = targets.contiguous();
  const Index counted = detail::check_targets(logits, targets, options);
  const Index classes = logits.size(-1);
  const Array x = logits.array().contiguous();
  Array stats = Array::empty(targets.shape().insert(-1, 2)), losses = Array::zeros(targets.shape());
  real* const st = stats.mutate();
  real* const out = losses.mutate();
  const kernels::Table& t = kernels::table();
  const real spread = static_cast<real>(options.label_smoothing / static_cast<double>(classes));
  const real sharp = static_cast<real>(1 - options.label_smoothing);
  detail::for_rows(x.shape(), [&](Index row, Index at) {
    const Index target = targets.data()[row];
    if (target == options.ignore_index) return;
    real* const s = st + 2 * row;
    t.log_sum_exp(x.data() + at, s, classes);
    out[row] = -(x.data()[at + target] - s[0] - s[1]) * sharp;
    if (spread > 0) out[row] -= math::product(spread, t.sum_log_softmax(x.data() + at, s, classes));
  });
  const bool mean = options.reduction == Reduction::mean;
  // The losses of the rows that are not ignored, stored side by side. So their sum equals, bit for bit, the sum for a
  // batch without the ignored rows.
  Array counted_losses = Array::empty({counted});
  real* next = counted_losses.mutate();
  for (Index row = 0; row < targets.numel(); ++row)
    if (targets.data()[row] != options.ignore_index) *next++ = out[row];
  Array result = options.reduction == Reduction::none ? losses : sum(counted_losses);
  if (mean) result = counted ? result / static_cast<real>(counted) : Array(std::numeric_limits<real>::quiet_NaN());
  return op.record(result, save(x, stats, targets, options, counted, mean, sharp, spread),
                   [](const Array& dy, Grads& dx, const Array& x, const Array& stats, const IntArray& targets,
                      const CrossEntropyOptions& options, Index counted, bool mean, real sharp, real spread) {
                     const Array g = dy.expand(targets.shape()).contiguous();
                     const Index classes = x.shape()[-1];
                     Array d = Array::empty(x.shape());
                     real* const to = d.mutate();
                     const auto f = kernels::table().cross_entropy_backward;
                     detail::for_rows(x.shape(), [&](Index row, Index at) {
                       const Index target = targets.data()[row];
                       if (target == options.ignore_index) return void(std::fill_n(to + at, classes, real(0)));
                       const real scale = mean ? g.data()[row] / static_cast<real>(counted) : g.data()[row];
                       f(x.data() + at, stats.data() + 2 * row, {target, sharp, spread, scale}, to + at, classes);
                     });
                     dx.add(0, d);
                   });
}

template <class T>
requires(!std::convertible_to<const T&, IntArray>)
    __attribute__((unavailable("targets are class ids, whole numbers: write ints({1, 0}), not tensor({1, 0})"))) Tensor
    cross_entropy(const Tensor& logits, const T& targets, const CrossEntropyOptions& options = {});
template <class N>
requires std::is_arithmetic_v<N>
__attribute__((unavailable("options stand in braces: write cross_entropy(logits, targets, {.label_smoothing = 0.1})")))
Tensor
cross_entropy(const Tensor& logits, const IntArray& targets, N option);
__attribute__((unavailable("braces have no type: write ints({1, 0})"))) Tensor cross_entropy(
    const Tensor& logits, std::initializer_list<Nested<Index>> targets, const CrossEntropyOptions& options = {});

namespace detail {
/// Averages or sums the losses of single elements, or leaves them as they are, and records the op. The gradient of
/// the first input is dy times `slope`. The gradient of the second input is dy times `other`.
inline Tensor reduced_losses(Op& op, const Array& losses, Reduction reduction, const Array& slope, const Array& other) {
  const real scale = reduction == Reduction::mean ? real(1) / static_cast<real>(losses.numel()) : real(1);
  Array result = reduction == Reduction::none ? losses : sum(losses);
  if (reduction == Reduction::mean) result = result / static_cast<real>(losses.numel());
  return op.record(result, save(slope, other, scale),
                   [](const Array& dy, Grads& dx, const Array& slope, const Array& other, real scale) {
                     if (dx.wants(0)) dx.add(0, slope * (dy * scale));
                     if (dx.wants(1)) dx.add(1, other * (dy * scale));
                   });
}
}  // namespace detail

/// -log_probs[target], with the classes on the last axis. cross_entropy computes the same loss from logits. log_probs
/// [..., V], targets [...] -> rank 0. With Reduction::none the result is [...], and 0 where the target is ignored.
/// Errors: those of cross_entropy, and a label_smoothing other than 0.
inline Tensor nll_loss(const Tensor& log_probs, IntArray targets, const CrossEntropyOptions& options = {}) {
  Op op("nll_loss", log_probs);
  targets = targets.contiguous();
  check(options.label_smoothing == 0, "label_smoothing is an option of cross_entropy alone");
  const Index counted = detail::check_targets(log_probs, targets, options);
  const Array x = log_probs.array().contiguous();
  const Index classes = log_probs.size(-1);
  Array losses = Array::zeros(targets.shape()), slope = Array::zeros(x.shape());
  real* const out = losses.mutate();
  real* const slopes = slope.mutate();
  const bool mean = options.reduction == Reduction::mean;
  for (Index row = 0; row < targets.numel(); ++row) {
    const Index target = targets.data()[row];
    if (target == options.ignore_index) continue;
    out[row] = -x.data()[row * classes + target];
    slopes[row * classes + target] = mean ? real(-1) / static_cast<real>(counted) : real(-1);
  }
  Array result = options.reduction == Reduction::none ? losses : sum(losses);
  if (mean) result = counted ? result / static_cast<real>(counted) : Array(std::numeric_limits<real>::quiet_NaN());
  return op.record(result, save(slope, targets.shape()),
                   [](const Array& dy, Grads& dx, const Array& slope, const Shape& rows) {
                     dx.add(0, slope * dy.expand(rows).unsqueeze(-1));
                   });
}

/// |y - target|, averaged (default), summed, or element by element. The gradient is 0 where y equals target. Errors:
/// y and target have different shapes.
inline Tensor l1_loss(const Tensor& y, const Tensor& target, Reduction reduction = Reduction::mean) {
  Op op("l1_loss", y, target);
  check(y.shape() == target.shape(), "y ", y.shape(), " and target ", target.shape(), " must have the same shape");
  const Array difference = y.array() - target.array();
  const Array slope = combine<Array>(difference, [](real d) { return static_cast<real>((d > 0) - (d < 0)); });
  return detail::reduced_losses(op, map(kernels::table().abs, difference), reduction, slope, -slope);
}

/// -target log p - (1 - target) log(1 - p) with p = sigmoid(logits), averaged (default), summed, or element by
/// element. With x = logits it is computed as max(x, 0) - x target + log(1 + e^-|x|), in which nothing overflows.
/// Errors: logits and target have different shapes.
inline Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                               Reduction reduction = Reduction::mean) {
  Op op("binary_cross_entropy_with_logits", logits, target);
  check(logits.shape() == target.shape(), "logits ", logits.shape(), " and target ", target.shape(),
        " must have the same shape");
  const Array& x = logits.array();
  const Array losses = combine<Array>(x, target.array(), [](real x, real t) {
    const real part = t == 0 ? real(0) : math::product(x, t);  // also if x is infinite
    return (x > 0 ? x : real(0)) - part + math::log1p(math::exp(-std::abs(x)));
  });
  return detail::reduced_losses(op, losses, reduction, map(kernels::table().sigmoid, x) - target.array(), -x);
}

/// -target log y - (1 - target) log(1 - y) of probabilities y, averaged (default), summed, or element by element. As in
/// PyTorch, logarithms are at least -100, also in the gradient of the target. binary_cross_entropy_with_logits is more
/// exact where y is close to 0 or 1. Errors: y and target have different shapes, a y outside [0, 1].
inline Tensor binary_cross_entropy(const Tensor& y, const Tensor& target, Reduction reduction = Reduction::mean) {
  Op op("binary_cross_entropy", y, target);
  check(y.shape() == target.shape(), "y ", y.shape(), " and target ", target.shape(), " must have the same shape");
  for (const real p : y.to_vector()) check(p >= 0 && p <= 1, "y has ", p, ", but probabilities are in [0, 1]");
  const auto log_of = [](real p) { return std::max(math::log(p), real(-100)); };
  const auto log_of_rest = [](real p) { return std::max(math::log1p(-p), real(-100)); };
  const Array losses = combine<Array>(y.array(), target.array(), [=](real p, real t) {
    return math::product(t - 1, log_of_rest(p)) - math::product(t, log_of(p));
  });
  const Array slope = combine<Array>(y.array(), target.array(), [](real p, real t) {
    return (p - t) / std::max(math::product(1 - p, p), real(1e-12));
  });
  const Array of_target = combine<Array>(y.array(), [=](real p) { return log_of_rest(p) - log_of(p); });
  return detail::reduced_losses(op, losses, reduction, slope, of_target);
}

/// (y - target)^2, averaged (default), summed, or element by element. The mean of no elements is NaN. Errors:
/// different shapes, because [N, 1] and [N] would broadcast to [N, N], which is hardly ever intended. To broadcast on
/// purpose, expand() both inputs first.
inline Tensor mse_loss(const Tensor& y, const Tensor& target, Reduction reduction = Reduction::mean) {
  Op op("mse_loss", y, target);
  check(y.shape() == target.shape(), "y ", y.shape(), " and target ", target.shape(), " must have the same shape");
  const Array difference = y.array() - target.array();
  const real scale = reduction == Reduction::mean ? real(1) / static_cast<real>(difference.numel()) : real(1);
  Array result = reduction == Reduction::mean
                     ? detail::mean_square(difference, {}, false, static_cast<real>(difference.numel()))
                     : difference * difference;
  if (reduction == Reduction::sum) result = sum(result);
  return op.record(result, save(difference, scale),
                   [](const Array& dy, Grads& dx, const Array& difference, real scale) {
                     const Array d = difference * (dy * (2 * scale));
                     if (dx.wants(0)) dx.add(0, d);
                     if (dx.wants(1)) dx.add(1, -d);
                   });
}

}  // namespace mote
