// gradcheck, which compares backward() with central differences. mote's tests call it for every op, layer and model.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/autograd/parameter.h"

namespace mote {

/// How thoroughly gradcheck checks.
struct GradcheckOptions {
  enum class Mode {
    full,        ///< every element of every input, with two calls of f for each element
    directional  ///< all elements along one random direction, with two calls of f in all; for whole models
  };
  Mode mode = Mode::full;
  /// The gradients agree if |analytic - numeric| <= tolerance * max(1, |analytic|, |numeric|). A tolerance of 0 means
  /// 1e-6 in double and 1e-2 in float, because differences in float are no more accurate. So check the mathematics in
  /// the build mote_f64, where `real` is double. Then compare results in float with those of mote_f64.
  double tolerance = 0;
  /// Replaces the 1 in the formula of `tolerance` by the size of the gradients, if they are small, as far as rounding
  /// allows. Works only if `real` is double.
  bool small_gradients = false;
  /// Each element x moves by step * max(1, |x|) to either side, so a kink of f, such as that of relu at 0, must be
  /// farther away from x. A step of 0 means 6e-6 in double and 4e-3 in float. These are the cube roots of the rounding
  /// errors, for which the errors of truncation and of rounding are about equal.
  double step = 0;
};

/// The result of gradcheck. `text` is one sentence, which names the worst element with its two gradients, and the
/// inputs without gradient.
struct [[nodiscard]] GradcheckResult {
  bool ok = false;
  double worst = 0;  ///< the largest |analytic - numeric| / max(1, |analytic|, |numeric|)
  std::string text;
  std::vector<std::string> without_gradient;  ///< inputs that backward() never reached; their gradient counts as 0
  explicit operator bool() const { return ok; }
};

/// Compares the gradient of f at `inputs` with (f(x + h) - f(x - h)) / 2h, element by element. f gets one tracked
/// tensor per input. The gradients are those of sum(y * dy), where y is the result of f and dy is fixed and
/// pseudo-random. f must give the same value for the same inputs, so an f that draws random numbers creates its
/// Generator inside. gradcheck reports an f that gives different values, and a result that depends on no input.
GradcheckResult gradcheck(const std::function<Tensor(const std::vector<Tensor>&)>& f, const std::vector<Array>& inputs,
                          const GradcheckOptions& options = {});

/// Checks the gradients of named parameters that f reads, such as a module's. Values and gradients are restored
/// afterwards. A parameter with two names is checked once, under the first name. A frozen parameter is skipped.
GradcheckResult gradcheck(const std::function<Tensor()>& f,
                          const std::vector<std::pair<std::string, Parameter>>& parameters,
                          const GradcheckOptions& options = {});

}  // namespace mote
