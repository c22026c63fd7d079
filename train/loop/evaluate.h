// MeanLoss, a loss and how many terms it is of; evaluation in the middle of a training: a scope that leaves the run as
// it was, and the mean loss over fixed batches.
#pragma once

#include <utility>
#include <vector>

#include "engine/autograd/tensor.h"
#include "nn/evaluation.h"

namespace mote {

/// A loss that is the mean of `count` terms, such as the targets that are not ignored. The count tells how much a batch
/// weighs among others, of one step or of one evaluation.
struct MeanLoss {
  Tensor loss;
  Index count = 1;
  MeanLoss(Tensor mean, Integer terms = 1) : loss(std::move(mean)), count(terms) {}
};

/// During its lifetime a model is in evaluation mode and nothing is recorded; afterwards each of its modules has the
/// mode that it had, and each random stream that its layers draw from the state: a training that is interrupted by one,
/// for a loss or for a sample, takes the same steps as one that is not.
class InferenceMode {
 public:
  [[nodiscard]] explicit InferenceMode(Module& model) : evaluation_(model) {
    for (const NamedStream& s : named_streams(model)) before_.emplace_back(s.stream, s.stream.get_state());
  }
  ~InferenceMode() {
    for (const auto& [stream, state] : before_) stream.set_state(state);
  }
  InferenceMode(const InferenceMode&) = delete;

 private:
  NoGrad no_grad_;
  Evaluation evaluation_;
  std::vector<std::pair<Generator, GeneratorState>> before_;
};

/// The mean of loss(batch) over batches that stay the same for the whole training, drawn once from a stream of their
/// own: of Tensors all weigh alike, a MeanLoss as much as it has terms. Disturbs nothing; see InferenceMode.
/// Errors: no batches, or none with terms; a loss that is not one element.
template <class Batches, class Loss>
double mean_loss(Module& model, const Batches& batches, const Loss& loss) {
  const InferenceMode inference(model);
  double sum = 0, total = 0;
  Index first = 0;  // weights are relative to this count: of batches alike, the mean is that of their losses
  for (const auto& batch : batches) {
    const MeanLoss one = loss(batch);
    check_in("mean_loss", one.loss.numel() == 1, "a loss has shape ", one.loss.shape(), ", not one element");
    check_in("mean_loss", one.count >= 0, "a loss is a mean over ", one.count, " terms");
    if (one.count == 0) continue;
    if (first == 0) first = one.count;
    const double weight = static_cast<double>(one.count) / static_cast<double>(first);
    sum += static_cast<double>(one.loss.item()) * weight;
    total += weight;
  }
  check_in("mean_loss", total > 0, "needs at least one batch that has terms");
  return sum / total;
}

}  // namespace mote
