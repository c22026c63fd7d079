// MeanLoss, a loss with its number of terms; InferenceMode, a scope for evaluation in the middle of a training;
// mean_loss, the mean loss over fixed batches.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "engine/autograd/tensor.h"
#include "nn/evaluation.h"

namespace mote {

/// A loss that is the mean of `count` terms, such as the targets that are not ignored. The count is the weight of a
/// batch among the other batches of a step or an evaluation. A Tensor converts to a MeanLoss without a count, which is
/// enough for a single batch.
struct MeanLoss {
  Tensor loss;
  std::optional<Index> count;
  MeanLoss(Tensor mean) : loss(std::move(mean)) {}
  MeanLoss(Tensor mean, Integer terms) : loss(std::move(mean)), count(terms) {}
};

/// A scope in which a model is in evaluation mode and nothing is recorded for backward. Its end restores the mode of
/// each module, and the state of each random stream that the layers draw from. So a training that computes a loss or a
/// sample in this scope takes the same steps as without the scope.
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

/// Returns the mean of loss(batch) over several batches, such as held-out batches that are drawn once for the whole
/// training. The weight of each batch is its number of terms, so `loss` returns a MeanLoss. For a single batch a Tensor
/// is enough. The training is not disturbed; see InferenceMode.
/// Errors: no batches, or none with terms; several batches and a loss without a count; a loss that is not one element.
template <class Batches, class Loss>
double mean_loss(Module& model, const Batches& batches, const Loss& loss) {
  const InferenceMode inference(model);
  double sum = 0, total = 0;
  Index first = 0;  // terms of the first batch; weights are relative to it, so batches of equal size have weight 1
  bool alone = true, counted = true;
  for (const auto& batch : batches) {
    const MeanLoss one = loss(batch);
    check_in("mean_loss", one.loss.numel() == 1, "a loss must have one element, not shape ", one.loss.shape());
    counted = counted && one.count.has_value();
    check_in("mean_loss", alone || counted,
             "of several batches each loss must be a MeanLoss(loss, terms): batches may differ in size, ",
             "and a Tensor does not say how many terms it is the mean of");
    alone = false;
    const Index terms = one.count.value_or(1);
    check_in("mean_loss", terms >= 0, "the number of terms, ", terms, ", must be at least 0");
    if (terms == 0) continue;
    if (first == 0) first = terms;
    const double weight = static_cast<double>(terms) / static_cast<double>(first);
    sum += static_cast<double>(one.loss.item()) * weight;
    total += weight;
  }
  check_in("mean_loss", total > 0, "no batch has a term: the mean needs at least one");
  return sum / total;
}

}  // namespace mote
