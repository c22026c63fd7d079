// L-BFGS, a quasi-Newton method: it estimates the curvature of the loss from its last steps.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/engine.h"

using Numbers = std::vector<double>;
inline double dot(const Numbers& a, const Numbers& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }
inline void add(Numbers& x, double factor, const Numbers& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += factor * y[i];
}

/// Minimizes loss() over these weights, in at most `steps` steps along -H gradient. H estimates the inverse Hessian
/// from past steps and the changes of the gradient in these steps. The number of past steps that are kept is at most
/// the number of weights (Nocedal and Wright 2006, algorithm 7.4). The length of a step is bisected or doubled until
/// the loss has fallen enough and its slope is a tenth less steep (weak Wolfe conditions). Ends early if no step
/// lowers the loss, because rounding hides lower losses.
inline void lbfgs(const std::vector<mote::Parameter>& weights, const std::function<mote::Tensor()>& loss, int steps) {
  const auto numbers = [&](const auto& array_of) {
    Numbers all;
    for (const mote::Parameter& w : weights)
      for (const mote::real number : array_of(w).to_vector()) all.push_back(static_cast<double>(number));
    return all;
  };
  Numbers x = numbers([](const mote::Parameter& w) { return w.value(); });
  Numbers g, to, to_g;
  const auto at = [&](const Numbers& place, Numbers& gradient) {
    auto from = place.begin();
    for (const mote::Parameter& w : weights) {
      w.zero_grad();
      std::generate_n(w.mutate(), w.numel(), [&] { return static_cast<mote::real>(*from++); });
    }
    const mote::Tensor value = loss();
    value.backward();
    gradient = numbers([](const mote::Parameter& w) { return w.grad(); });
    return static_cast<double>(value.item());
  };
  struct Step {
    Numbers way, change;  // the changes of the weights and of the gradient
    double bend = 0;      // the dot product of both changes
  };
  std::vector<Step> past;
  for (double value = at(x, g); steps > 0; --steps) {
    Numbers d(x.size()), share(past.size());
    add(d, -1, g);
    for (std::size_t i = past.size(); i-- > 0; add(d, -share[i], past[i].change))
      share[i] = dot(past[i].way, d) / past[i].bend;
    const double usual =
        past.empty() ? 0.01 / std::sqrt(dot(d, d)) : past.back().bend / dot(past.back().change, past.back().change);
    for (double& element : d) element *= usual;
    for (std::size_t i = 0; i < past.size(); ++i) add(d, share[i] - dot(past[i].change, d) / past[i].bend, past[i].way);
    const double slope = dot(g, d);
    double low = 0, high = 0, length = 1, next = 0;
    for (int tries = 0; tries < 30; ++tries) {
      to = x;
      add(to, length, d);
      next = at(to, to_g);
      if (next > value + 1e-4 * length * slope)
        high = length;
      else if (dot(to_g, d) < 0.9 * slope)
        low = length;
      else
        break;
      length = high > 0 ? (low + high) / 2 : 2 * length;
    }
    if (!(next < value)) break;
    Step step{to, to_g};
    add(step.way, -1, x);
    add(step.change, -1, g);
    step.bend = dot(step.way, step.change);
    if (step.bend > 0) past.push_back(std::move(step));
    if (past.size() > x.size()) past.erase(past.begin());
    x = to;
    g = to_g;
    value = next;
  }
  at(x, g);  // sets the weights to those of the last step, because a later trial may have changed them
}
