// MeanLoss, a loss and how many terms it is the mean of.
#pragma once

#include <utility>

#include "engine/autograd/tensor.h"

namespace mote {

/// A loss that is the mean of `count` terms, such as the targets that are not ignored. The count tells how much a batch
/// weighs among others, of one step or of one evaluation.
struct MeanLoss {
  Tensor loss;
  Index count = 1;
  MeanLoss(Tensor mean, Index terms = 1) : loss(std::move(mean)), count(terms) {}
};

}  // namespace mote
