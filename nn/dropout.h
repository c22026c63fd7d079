// Dropout, which acts in training mode only.
#pragma once

#include "engine/ops/dropout.h"
#include "nn/module.h"

namespace mote {

/// In training, zeroes each element with probability p and multiplies the others by 1 / (1 - p). In evaluation,
/// returns x and draws nothing. The layer shares the stream of `generator`, so all draws from this stream happen in
/// program order. Errors: p outside [0, 1], NaN.
struct Dropout : Layer<Dropout> {
  double p;
  Generator random;

  Dropout(Real probability, const Generator& generator) : p(probability), random(generator) {
    check_in("Dropout", p >= 0 && p <= 1, "p = ", p, " is not a probability");
  }
  Tensor forward(const Tensor& x) const { return training() ? dropout(x, p, random) : x; }
  /// The probability now: p in training, 0 in evaluation.
  double now() const { return training() ? p : 0; }
  void visit(Visitor& v) override { v.stream("random", random); }
};

}  // namespace mote
