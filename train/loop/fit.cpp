// The training loop, one step of it, and the checks of the first step.
#include "train/loop/fit.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/ops/arithmetic.h"
#include "nn/check_fields.h"
#include "train/loop/clip.h"

namespace mote {
namespace {

/// Returns the first eight of a list of words, followed by the number of the words that are left out.
std::string listed(const std::vector<std::string>& words) {
  constexpr std::size_t shown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, words.size()); ++i) text += (i > 0 ? ", " : "") + words[i];
  return words.size() > shown ? text + " and " + std::to_string(words.size() - shown) + " more" : text;
}

/// Makes the checks of fit() after its first backward. Errors: an optimizer none of whose parameters got a gradient; a
/// parameter or module that a layer uses but that its visit() does not list. A forgotten parameter is no error if it
/// got no gradient, or if the optimizer updates it.
void check_first_step(const Optimizer& optimizer, const FieldWatch& fields,
                      const std::function<void(const std::string&)>& on_warning) {
  const std::string problem =
      fields.problem([&](const Node& leaf) { return !leaf.grad.defined() || optimizer.updates(leaf); });
  check_in("fit", problem.empty(), problem);
  std::vector<std::string> without, not_updated;
  std::size_t trainable = 0;
  for (const ParameterGroup& group : optimizer.groups())
    for (const NamedParameter& p : group.parameters) {
      if (!p.parameter.trainable()) continue;
      ++trainable;
      if (!p.parameter.grad().defined()) without.push_back(p.name);
    }
  check_in("fit", without.empty() || without.size() < trainable,
           "no gradient reached any parameter of the optimizer: was it made for another model, or before this one was "
           "assigned?");
  if (!on_warning) return;
  if (!without.empty())
    on_warning("no gradient reached " + listed(without) + ": the loss does not depend on " +
               (without.size() == 1 ? "it" : "them") + " (a layer that forward does not call, or a detached result?)");
  for (const NodePtr& leaf : fields.used())
    if (leaf->grad.defined() && !optimizer.updates(*leaf)) not_updated.push_back(text_of(leaf->shape));
  std::sort(not_updated.begin(), not_updated.end());  // used() is in the order of addresses, which differ between runs
  if (!not_updated.empty())
    on_warning("the optimizer does not update " + std::to_string(not_updated.size()) +
               " parameters that the loss depends on, of shape " + listed(not_updated) +
               ": add them to it, or freeze them by set_trainable(), unless another optimizer updates them");
}

/// The losses of the batches of one step, and the sum of their gradients.
class StepLoss {
 public:
  StepLoss(Index step, Index batches) : step_(step), batches_(batches) {}
  /// Adds the loss of one batch and runs its backward. Errors: a loss that is not one element, or not finite.
  void add(const MeanLoss& batch) {
    const Tensor& loss = batch.loss;
    loss.array().require("fit");
    check_in("fit", loss.numel() == 1, "the loss of step ", step_, " has shape ", loss.shape(), ", not one element");
    check_in("fit", batches_ == 1 || batch.count, "with gradient_accumulation_steps ", batches_,
             " each loss must be a MeanLoss(loss, terms): batches may differ in size, and a Tensor does not say how ",
             "many terms it is the mean of");
    const Index count = batch.count.value_or(1);
    check_in("fit", count >= 0, "the loss of step ", step_, " is a mean over ", count,
             " terms: there must be at least 0");
    if (batches_ > 1 && count == 0) return;
    const double value = static_cast<double>(loss.item());
    check_in("fit", std::isfinite(value), "the loss of step ", step_, " is ", value,
             ": an empty batch, targets that are ",
             "all ignored, or a learning rate too high; MOTE_CHECK=finite shows where it starts");
    const Index terms = batches_ == 1 ? 1 : count;
    count_ += terms;
    sum_ += value * static_cast<double>(terms);
    const During<long long> errors_say_so(thread_context.step, step_);
    if (batches_ == 1) return loss.backward();
    const Tensor weighted = loss * static_cast<real>(terms);
    weighted.backward();
  }
  /// The mean loss over the terms of all batches. Errors: the batches have no terms.
  double mean() const {
    check_in("fit", count_ > 0, "the loss of step ", step_, " is a mean over nothing: every batch is empty, or every ",
             "target ignored");
    return sum_ / static_cast<double>(count_);
  }
  /// The factor that turns the accumulated gradients into those of the mean loss.
  double scale() const { return batches_ == 1 ? 1 : 1 / static_cast<double>(count_); }

 private:
  Index step_, batches_, count_ = 0;
  double sum_ = 0;
};

void check_fit(const FitOptions& options) {
  check_in("fit", options.grad_clip >= 0, "grad_clip ", options.grad_clip, " must be at least 0");
  check_in("fit", options.save_every >= 0, "save_every ", options.save_every, " must be at least 0");
  check_in("fit", options.steps >= 0, "steps ", options.steps, " must be at least 0");
  check_in("fit", options.first_step >= 0 && options.first_step <= options.steps, "first_step ", options.first_step,
           " must be 0 to steps ", options.steps);
  check_in("fit", options.gradient_accumulation_steps >= 1, "gradient_accumulation_steps ",
           options.gradient_accumulation_steps, " must be at least 1");
}

}  // namespace

StepReport fit_step(Optimizer& optimizer, const std::function<MeanLoss(Index)>& compute, const FitOptions& options,
                    Integer step, bool first) {
  check_fit(options);
  optimizer.zero_grad();
  std::optional<FieldWatch> fields;
  if (first) fields.emplace();

  StepLoss loss(step, options.gradient_accumulation_steps);
  const auto computed = [&] {
    const During<long long> errors_say_so(thread_context.step, step);
    return compute(step);
  };
  for (Index i = 0; i < options.gradient_accumulation_steps; ++i) loss.add(computed());
  StepReport report{step, options.steps, loss.mean()};
  if (fields) check_first_step(optimizer, *fields, options.on_warning);

  const std::vector<Parameter>& all = optimizer.parameters();
  report.grad_norm = detail::gradient_norm(all) * loss.scale();
  check_in("fit", std::isfinite(report.grad_norm), "the gradient of step ", step, " is not finite (norm ",
           report.grad_norm, "): run with MOTE_CHECK=finite to see where it starts");
  const real clipping = options.grad_clip > 0 ? detail::clip_factor(report.grad_norm, options.grad_clip) : real(1);
  detail::scale_gradients(all, static_cast<real>(static_cast<double>(clipping) * loss.scale()));

  const double before = optimizer.learning_rate();
  report.learning_rate = options.schedule ? options.schedule(step) : before;
  optimizer.set_learning_rate(report.learning_rate);
  try {
    optimizer.step();
  } catch (...) {
    optimizer.set_learning_rate(before);
    throw;
  }
  return report;
}

double fit(Optimizer& optimizer, const std::function<MeanLoss(Index)>& compute, const FitOptions& options) {
  check_in("fit", compute != nullptr, "needs a function that computes the loss");
  check_fit(options);
  double last = 0;
  for (Index step = options.first_step; step < options.steps; ++step) {
    const StepReport report = fit_step(optimizer, compute, options, step, step == options.first_step);
    last = report.loss;
    const bool go_on = !options.on_step || options.on_step(report);
    const bool last_step = !go_on || step + 1 == options.steps;
    if (options.save && (last_step || (options.save_every > 0 && (step + 1) % options.save_every == 0)))
      options.save(step + 1);
    if (!go_on) break;
  }
  return last;
}

}  // namespace mote
