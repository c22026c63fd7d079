// What fit() does that need not be compiled with its caller.
#include "train/fit.h"

#include <algorithm>

namespace mote {

namespace {

/// The first eight of a list of words, and how many more there are.
std::string listed(const std::vector<std::string>& words) {
  constexpr std::size_t shown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, words.size()); ++i) text += (i > 0 ? ", " : "") + words[i];
  return words.size() > shown ? text + " and " + std::to_string(words.size() - shown) + " more" : text;
}

}  // namespace

void detail::look_at_first_step(const Optimizer& optimizer, const FieldWatch& fields,
                                const std::function<void(const std::string&)>& on_warning) {
  const std::string problem =
      fields.problem([](const Node& leaf) { return !leaf.grad.defined() || Optimizer::any_updates(leaf); });
  check_in("fit", problem.empty(), problem);
  std::vector<std::string> without, strangers;
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
    if (leaf->grad.defined() && !Optimizer::any_updates(*leaf)) strangers.push_back(text_of(leaf->shape));
  std::sort(strangers.begin(), strangers.end());  // used() is in the order of addresses
  if (!strangers.empty())
    on_warning("no optimizer updates " + std::to_string(strangers.size()) +
               " parameters that the loss depends on, of shape " + listed(strangers) +
               ": add them to the optimizer, or freeze them by set_trainable()");
}

bool detail::mean_of_nothing(const Tensor& loss, const Optimizer& optimizer) {
  if (!std::isnan(loss.item()) || !loss.requires_grad()) return false;
  loss.backward();
  const std::vector<Parameter>& all = optimizer.parameters();
  const bool reached = std::any_of(all.begin(), all.end(), [](const Parameter& p) { return p.grad().defined(); });
  const bool flat = clip_grad_norm(all, std::numeric_limits<double>::infinity()) == 0;
  optimizer.zero_grad();
  return reached && flat;
}

void detail::step_at(Optimizer& optimizer, double learning_rate, real grad_scale) {
  const double before = optimizer.learning_rate();
  optimizer.set_learning_rate(learning_rate);
  try {
    optimizer.step(grad_scale);
  } catch (...) {
    optimizer.set_learning_rate(before);
    throw;
  }
}

}  // namespace mote
