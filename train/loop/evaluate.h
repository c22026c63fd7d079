// MeanLoss, a loss and how many terms it is of; evaluation in the middle of a training: a scope that leaves the run as
// it was, and the mean loss over fixed batches.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "engine/autograd/tensor.h"
#include "nn/evaluation.h"

namespace mote {

/// A loss that is the mean of `count` terms, such as the targets that are not ignored. The count tells how much a batch
/// weighs among others, of one step or of one evaluation. A Tensor converts to one without a count: it can only be
/// alone.
struct MeanLoss {
  Tensor loss;
  std::optional<Index> count;
  MeanLoss(Tensor mean) : loss(std::move(mean)) {}
  MeanLoss(Tensor mean, Integer terms) : loss(std::move(mean)), count(terms) {}
};

/// During its lifetime a model is in evaluation mode and nothing is recorded. Afterwards each of its modules has the
/// mode that it had. Each random stream that its layers draw from has the state that it had. So it may stand in the
/// middle of a training, for a loss or for a sample. The training takes the same steps as without it.
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
/// own. Each weighs as much as it has terms: `loss` returns a MeanLoss. Of one batch a Tensor will do. Disturbs
/// nothing; see InferenceMode.
/// Errors: no batches, or none with terms; several, and a loss without a count; a loss that is not one element.
template <class Batches, class Loss>
double mean_loss(Module& model, const Batches& batches, const Loss& loss) {
  const InferenceMode inference(model);
  double sum = 0, total = 0;
  Index first = 0;  // weights are relative to this count: of batches alike, the mean is that of their losses
  bool alone = true, counted = true;
  for (const auto& batch : batches) {
    const MeanLoss one = loss(batch);
    check_in("mean_loss", one.loss.numel() == 1, "a loss must have one element, not shape ", one.loss.shape());
    counted = counted && one.count.has_value();
    check_in("mean_loss", alone || counted, "batches may differ in size, and a Tensor does not say how many terms it ",
             "is the mean of: return MeanLoss(loss, terms)");
    alone = false;
    const Index terms = one.count.value_or(1);
    check_in("mean_loss", terms >= 0, "the number of terms, ", terms, ", must be at least 0");
    if (terms == 0) continue;
    if (first == 0) first = terms;
    const double weight = static_cast<double>(terms) / static_cast<double>(first);
    sum += static_cast<double>(one.loss.item()) * weight;
    total += weight;
  }
  check_in("mean_loss", total > 0, "needs at least one batch that has terms");
  return sum / total;
}

}  // namespace mote
