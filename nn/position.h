// Positions: learned (a table), sinusoidal (a formula), and rotary (rotated queries and keys).
#pragma once

#include <cmath>
#include <limits>

#include "engine/base/math.h"
#include "engine/ops/rotary.h"
#include "engine/ops/view.h"
#include "nn/embedding.h"

namespace mote {

namespace detail {
inline void check_positions(OpName who, Index length, Index start, Index positions) {
  check_in(who, length >= 0, "length ", length, " must be at least 0");
  check_in(who, start >= 0, "start ", start, " must be at least 0");
  check_in(who, length <= positions && start <= positions - length, "length ", length, " from position ", start,
           " is out of range for ", positions, " positions");
}
}  // namespace detail

/// Learned positions, one trained row per position: length T -> [T, C] for the positions start, start + 1, ... The
/// weight [max_length, C] is drawn from N(0, 1), like that of an Embedding. Errors: T or start below 0, start + T
/// above max_length.
struct LearnedPositions : Layer<LearnedPositions> {
  Parameter weight;

  LearnedPositions(Integer max_length, Integer width, const Init& init)
      : weight(init.normal({max_length, width}, 0, 1)) {}
  Tensor forward(Integer length, Integer start = 0) const {
    detail::check_positions("LearnedPositions", length, start, weight.shape()[0]);
    return slice(weight, 0, start, start + length);
  }
  void visit(Visitor& v) override { v("weight", weight); }
};

/// Sinusoidal positions: column 2i of row t is sin(t / 10000^(2i/C)), and column 2i + 1 is the cosine of the same
/// angle. length T -> [T, C] for the positions start, start + 1, ... Frequencies and angles are rounded to `real`, as
/// in PyTorch's tutorials. Errors: T or start below 0, start + T above max_length. Source: Vaswani et al. 2017.
struct SinusoidalPositions : Layer<SinusoidalPositions> {
  Array table;  ///< [max_length, C]: a buffer, not trained

  SinusoidalPositions(Integer max_length, Integer width) : table(Array::zeros({max_length, width})) {
    real* const out = table.mutate();
    const real step = static_cast<real>(-math::log(10000.0) / static_cast<double>(Index(width)));
    for (Index c = 0; c < width; ++c) {
      const real exponent = static_cast<real>(c / 2 * 2) * step;
      const real frequency = static_cast<real>(math::exp(static_cast<double>(exponent)));
      for (Index t = 0; t < max_length; ++t) {
        const real angle = static_cast<real>(t) * frequency;
        out[t * width + c] = c % 2 == 0 ? math::sin(angle) : math::cos(angle);
      }
    }
  }
  Tensor forward(Integer length, Integer start = 0) const {
    detail::check_positions("SinusoidalPositions", length, start, table.shape()[0]);
    return table.slice(0, start, start + length);
  }
  void visit(Visitor& v) override { v.buffer("table", table); }
};

/// How queries and keys are rotated.
struct RotaryOptions {
  double base = 10000;  ///< of r rotated columns, pair i rotates by position * base^(-2i/r), so pair 0 rotates fastest
  double fraction = 1;  ///< the share of a head's columns that is rotated: r = fraction * width, rounded down to even
  Index length = 0;     ///< positions whose angles are precomputed; later ones are computed on demand
};

/// Rotary positions: rotates the first `heads` heads of x [B, T, C], which lie side by side, and keeps the shape. The
/// first row of x is at position `start`. rotary() in engine/ops/rotary.h has the formula. Frequencies and angles are
/// rounded to `real`, as in PyTorch programs, so an angle in float is off by up to 6e-5 at position 1,024. Rotary has
/// no parameters. Errors: an odd width if all columns are rotated; a fraction outside (0, 1], or one that gives less
/// than one pair of columns; a base that is not above 0. Source: Su et al. 2021.
class Rotary {
 public:
  /// Precomputes the angles of options.length positions, or of `length` positions if options.length is 0.
  Rotary(Integer width, const RotaryOptions& options, Integer length = 0) : width_(width), base_(options.base) {
    check_in("Rotary", options.fraction > 0 && options.fraction <= 1, "fraction ", options.fraction,
             " must be in (0, 1]");
    check_in("Rotary", options.base > 0 && std::isfinite(options.base), "base ", options.base,
             " must be above 0 and finite");
    check_in("Rotary", options.length >= 0, "length ", options.length, " must be at least 0");
    check_in("Rotary", width <= Shape::max_numel, "width ", width, " must be at most ", Shape::max_numel);
    half_ = static_cast<Index>(options.fraction * static_cast<double>(Index(width))) / 2;
    check_in("Rotary", options.fraction < 1 || width % 2 == 0, "a head of width ", width,
             " is odd, but its columns are rotated in pairs");
    check_in("Rotary", half_ >= 1, "width ", width, " with fraction ", options.fraction, " leaves ", 2 * half_,
             " columns to rotate: one pair is the least");
    fill(0, options.length != 0 ? options.length : Index(length), cosines_, sines_);
  }
  Tensor operator()(const Tensor& x, Integer start, Integer heads = 1) const {
    check_in("Rotary", start >= 0, "start ", start, " must be at least 0");
    check_in("Rotary", start <= std::numeric_limits<Index>::max() - x.size(-2), "start ", start, " is too large: the ",
             x.size(-2), " positions of x would end above ", std::numeric_limits<Index>::max());
    const Index end = start + x.size(-2);
    if (end <= cosines_.shape()[0])
      return rotary(x, cosines_.slice(0, start, end), sines_.slice(0, start, end), heads, width_);
    Array cosines, sines;
    fill(start, end, cosines, sines);
    return rotary(x, cosines, sines, heads, width_);
  }

 private:
  void fill(Index start, Index end, Array& cosines, Array& sines) const {
    cosines = Array::empty({end - start, half_});
    sines = Array::empty({end - start, half_});
    if (start == end) return;
    real* const c = cosines.mutate();
    real* const s = sines.mutate();
    for (Index i = 0; i < half_; ++i) {
      const real exponent = static_cast<real>(2 * i) / static_cast<real>(2 * half_);
      const double power = math::pow(static_cast<double>(static_cast<real>(base_)), static_cast<double>(exponent));
      const real frequency = real(1) / static_cast<real>(power);
      for (Index t = start; t < end; ++t) {
        const real angle = static_cast<real>(t) * frequency;
        c[(t - start) * half_ + i] = math::cos(angle);
        s[(t - start) * half_ + i] = math::sin(angle);
      }
    }
  }
  Index width_;
  double base_;
  Index half_ = 0;
  Array cosines_, sines_;
};

}  // namespace mote
