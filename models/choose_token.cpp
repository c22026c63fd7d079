// How a token is chosen: top_k, temperature, softmax, top_p, min_p, and a draw.
#include "models/choose_token.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/ops/ops.h"

namespace mote {
namespace {
constexpr real infinity = std::numeric_limits<real>::infinity();
}  // namespace

TokenChooser::TokenChooser(const GenerateOptions& options, const Generator& random, Index vocabulary)
    : options_(options), random_(random), p_(static_cast<std::size_t>(vocabulary)) {
  // Converted to `real` (float), a larger temperature would become infinity. A logit of -infinity divided by it would
  // be NaN.
  options_.temperature = std::min(options.temperature, static_cast<double>(std::numeric_limits<real>::max()));
}

real TokenChooser::largest(const real* logits, Index position) const {
  const real top = kernels::table().max(logits, static_cast<Index>(p_.size()));  // NaN if any logit is NaN
  check_in(
      "generate", !std::isnan(top) && top != infinity, "the logits after position ", position,
      " contain NaN or infinity: weights that are not finite, or a learning rate too high; MOTE_CHECK=finite shows ",
      "where it starts");
  check_in("generate", top != -infinity, "the logits after position ", position,
           " are all -infinity: no token is left to choose");
  return top;
}

Index TokenChooser::operator()(const real* logits, real largest) {
  const Index V = static_cast<Index>(p_.size());
  const real temperature = static_cast<real>(options_.temperature);
  if (temperature == 0) return std::find(logits, logits + V, largest) - logits;  // also if too small for `real`
  const kernels::Table& t = kernels::table();
  real* const p = p_.data();
  if (options_.top_k > 0 && options_.top_k < V) {
    keep_top_k(logits);
    logits = p;
  }
  t.sub(logits, 1, &largest, 0, p, V);  // the largest logit becomes 0, so dividing by a low temperature cannot overflow
  if (temperature != 1) t.div(p, 1, &temperature, 0, p, V);
  t.softmax(p, nullptr, p, nullptr, V);
  if (options_.top_p < 1) keep_top_p();
  if (options_.min_p > 0) keep_min_p();
  return draw_one(p_, random_);
}

/// Sets p_ to the logits, but to -infinity where a logit is below the k-th largest logit.
void TokenChooser::keep_top_k(const real* logits) {
  const Index V = static_cast<Index>(p_.size());
  rank_first(logits, V, options_.top_k, ranked_);
  const real least = logits[ranked_.back()];
  for (Index i = 0; i < V; ++i) p_[static_cast<std::size_t>(i)] = logits[i] < least ? -infinity : logits[i];
}

/// Keeps the smallest set of likeliest tokens whose probabilities sum to at least top_p, and sets all other
/// probabilities to 0. Of two tokens with the same probability, the one with the lower id counts as likelier. Very
/// small probabilities are set to 0 before the sort, so that few tokens are sorted. All other probabilities then still
/// sum to more than top_p, even with rounding errors.
void TokenChooser::keep_top_p() {
  double total = 0;
  for (const real x : p_) total += static_cast<double>(x);
  const double least = (total - options_.top_p - 1e-9) / static_cast<double>(p_.size());
  candidates_.clear();
  const auto p = [this](Index token) -> real& { return p_[static_cast<std::size_t>(token)]; };
  for (Index token = 0; token < static_cast<Index>(p_.size()); ++token)
    if (static_cast<double>(p(token)) < least)
      p(token) = 0;
    else
      candidates_.push_back(token);
  std::sort(candidates_.begin(), candidates_.end(),
            [&](Index a, Index b) { return p(a) != p(b) ? p(a) > p(b) : a < b; });
  double reached = 0;
  for (const Index token : candidates_) {
    real& x = p(token);
    if (reached >= options_.top_p)
      x = 0;
    else
      reached += static_cast<double>(x);
  }
}

/// Sets every probability below min_p times the largest probability to 0.
void TokenChooser::keep_min_p() {
  const real top = kernels::table().max(p_.data(), static_cast<Index>(p_.size()));
  const real least = static_cast<real>(options_.min_p) * top;
  for (real& x : p_) x = x < least ? real(0) : x;
}

}  // namespace mote
