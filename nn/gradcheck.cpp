// The part of a module's gradcheck that does not depend on its type: streams that restart, the scale of the result.
#include "nn/gradcheck.h"

#include <algorithm>
#include <cmath>

#include "engine/ops/arithmetic.h"
#include "engine/ops/sample.h"

namespace mote {
namespace {

/// Restarts all random streams of a module; at the end they are where they were.
class Streams {
 public:
  explicit Streams(const Module& module) {
    for (const NamedStream& s : named_streams(module)) states_.emplace_back(s.stream, s.stream.get_state());
  }
  ~Streams() { restart(); }
  Streams(const Streams&) = delete;
  void restart() const {
    for (const auto& [stream, state] : states_) stream.set_state(state);
  }

 private:
  std::vector<std::pair<Generator, GeneratorState>> states_;
};

/// Takes the gradients from these places; at the end they have them again.
class WithoutGradients {
 public:
  explicit WithoutGradients(const detail::Places& places) : places_(places) {
    for (const auto& [name, p] : places) before_.push_back(p.grad());
    for (const auto& [name, p] : places) p.zero_grad();
  }
  ~WithoutGradients() {
    for (std::size_t i = 0; i < before_.size(); ++i)
      before_[i].defined() ? places_[i].second.set_grad(before_[i]) : places_[i].second.zero_grad();
  }
  WithoutGradients(const WithoutGradients&) = delete;

 private:
  const detail::Places& places_;
  std::vector<Array> before_;
};

double largest(const Array& x) {
  double most = 0;
  for (const real v : x.to_vector()) most = std::max(most, std::abs(static_cast<double>(v)));
  return most;
}

/// Below 1, gradcheck counts errors as they are. So in double the result is multiplied by a power of two that lifts the
/// largest gradient of every place to 1, as long as the rounding of differences stays below the tolerance.
real lifting_scale(const detail::Places& places, const std::function<Tensor()>& call) {
  if (sizeof(real) < 8) return 1;  // differences in float are too coarse
  const Tensor y = call();
  const WithoutGradients now(places);
  const Tensor dy = uniform(0.5, 1.5, y.shape(), Generator(1));  // all ones would hide what a norm or a softmax sums to
  if (y.requires_grad()) y.backward(dy.array());
  double least = 1;
  for (const auto& [name, p] : places)
    if (p.grad().defined()) least = std::min(least, largest(p.grad()));
  const double size = largest(y.array()) * std::sqrt(static_cast<double>(y.numel()));
  // A difference is off by about 2.2e-16 size scale / step, with step 6e-6: a tenth of the tolerance 1e-6 at 2,700.
  const double most = std::max(1.0, 2000 / std::max(size, 1e-6));
  return static_cast<real>(std::exp2(std::ceil(std::log2(std::clamp(1 / least, 1.0, most)))));
}

}  // namespace

GradcheckResult detail::gradcheck_module(const Module& module, Places places, const std::function<Tensor()>& call,
                                         const GradcheckOptions& options) {
  for (const NamedParameter& p : named_parameters(module)) places.emplace_back(p.name, p.parameter);
  const Streams streams(module);
  const std::function<Tensor()> same = [&] {
    streams.restart();
    return call();
  };
  const real scale = lifting_scale(places, same);
  return gradcheck([&] { return scale == 1 ? same() : mul(same(), scale); }, places, options);
}

}  // namespace mote
