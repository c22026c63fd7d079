// A text that mote makes itself, from a small grammar whose entropy is known.
#pragma once

#include <string>

#include "engine/base/real.h"

namespace mote {

struct MadeText {
  std::string text;
  double nats;  ///< -ln of the probability that the grammar makes this text: what the best model would need for it
};

/// Sentences about animals, always the same ones, until there are `bytes` of them or some more. Some sentences ask and
/// answer, and some count: what they repeat costs nothing to a model that looks back.
MadeText make_text(Index bytes);

}  // namespace mote
