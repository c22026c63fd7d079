// What is here: positions: learned (a table) and sinusoidal (a formula).
// What is not: where a model adds them (models/gpt.h, models/attention_lm.h).
// Read next: transformer_block.h.
#pragma once

#include "engine/math.h"
#include "engine/ops/view.h"
#include "nn/embedding.h"

namespace mote {

/// A trained row per position: length T -> [T, C]. weight [max_length, C], drawn N(0, 1) as any Embedding.
/// Errors: T below 0 or above max_length.
struct LearnedPositions : Layer<LearnedPositions> {
  Parameter weight;

  LearnedPositions(Index max_length, Index width, const Init& init) : weight(init.normal({max_length, width}, 0, 1)) {}
  Tensor forward(Index length) const {
    check_in("LearnedPositions", length >= 0, "length ", length, " is below 0");
    check_in("LearnedPositions", length <= weight.shape()[0], "length ", length, " is above the ", weight.shape()[0],
             " positions there are");
    return slice(weight, 0, 0, length);
  }
  void visit(Visitor& v) override { v("weight", weight); }
};

/// Fixed waves: column 2i of row t is sin(t / 10000^(2i/C)), column 2i + 1 its cosine. length T -> [T, C].
/// Errors: T below 0 or above max_length. Source: Vaswani et al. 2017.
struct SinusoidalPositions : Layer<SinusoidalPositions> {
  Array table;  ///< [max_length, C]: a buffer, not trained

  SinusoidalPositions(Index max_length, Index width) : table(Array::zeros({max_length, width})) {
    real* const out = table.mutate();
    for (Index t = 0; t < max_length; ++t)
      for (Index c = 0; c < width; ++c) {
        const double exponent = static_cast<double>(c / 2 * 2) / static_cast<double>(width);
        const double angle = static_cast<double>(t) * math::exp(-exponent * math::log(10000.0));
        out[t * width + c] = static_cast<real>(c % 2 == 0 ? math::sin(angle) : math::cos(angle));
      }
  }
  Tensor forward(Index length) const {
    check_in("SinusoidalPositions", length >= 0, "length ", length, " is below 0");
    check_in("SinusoidalPositions", length <= table.shape()[0], "length ", length, " is above the ", table.shape()[0],
             " positions there are");
    return table.slice(0, 0, length);
  }
  void visit(Visitor& v) override { v.buffer("table", table); }
};

}  // namespace mote
