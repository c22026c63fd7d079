// TokenChooser, which draws the next token from a row of logits.
#pragma once

#include <vector>

#include "engine/array/random.h"
#include "models/gpt.h"

namespace mote {

/// Chooses tokens as GenerateOptions says, without memory of its own for each.
class TokenChooser {
 public:
  TokenChooser(const GenerateOptions& options, const Generator& random, Index vocabulary);
  /// The largest of a row of logits [V]. Errors: NaN or infinity among them, or nothing but -infinity.
  real largest(const real* logits, Index position) const;
  /// A token. Draws 2 V words, or none if the temperature is 0.
  Index operator()(const real* logits, real largest);

 private:
  void keep_top_k(const real* logits);
  void keep_top_p();
  void keep_min_p();

  GenerateOptions options_;
  Generator random_;
  std::vector<real> p_;  // what is left of the probabilities
  std::vector<Index> ranked_, candidates_;
};

}  // namespace mote
