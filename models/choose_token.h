// TokenChooser, which draws the next token from a row of logits.
#pragma once

#include <vector>

#include "engine/array/random.h"
#include "models/gpt.h"

namespace mote {

/// Chooses tokens as GenerateOptions says. It reuses its buffers from token to token.
class TokenChooser {
 public:
  TokenChooser(const GenerateOptions& options, const Generator& random, Index vocabulary);
  /// The largest of a row of logits [V]. `position` is for the error message. Errors: a logit that is NaN or infinity;
  /// a row with nothing but -infinity.
  real largest(const real* logits, Index position) const;
  /// Chooses a token from a row of logits [V] whose largest logit is `largest`. Takes 2 V 32-bit words from the random
  /// stream, as torch.multinomial does, or none if the temperature is 0.
  Index operator()(const real* logits, real largest);

 private:
  void keep_top_k(const real* logits);
  void keep_top_p();
  void keep_min_p();

  GenerateOptions options_;
  Generator random_;
  std::vector<real> p_;  // [V]: the logits that top_k leaves, then the probabilities
  std::vector<Index> ranked_, candidates_;
};

}  // namespace mote
