// gradcheck of a module in one call: every parameter, by its path, and every input.
#pragma once

#include <concepts>
#include <tuple>

#include "engine/watch/gradcheck.h"
#include "nn/module.h"

namespace mote {

namespace detail {
using NamedPlaces = std::vector<std::pair<std::string, Parameter>>;
GradcheckResult gradcheck_module(const Module& module, NamedPlaces places, const std::function<Tensor()>& call,
                                 GradcheckOptions options);

/// What a module is called with: a tensor becomes a parameter, so that gradcheck can move it; anything else stays.
template <class T>
auto checked_input(const T& x, int& position, NamedPlaces& places) {
  const std::string name = "input " + std::to_string(position++);
  if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, Array>) {
    const Parameter p(Tensor(x).array());
    places.emplace_back(name, p);
    return p;
  } else {
    return x;
  }
}
}  // namespace detail

/// Compares the gradients of module(inputs...) with differences: of all its trainable parameters and of all inputs that
/// are tensors (ids, masks and other values are passed on). The result converts to bool; its text names the parameter
/// by its path, the element that differs most, and parameters without a gradient:
///
///     const GradcheckResult result = gradcheck(layer, randn({2, 3, 4}, random));
///     if (!result) std::cout << result.text << "\n";
///
/// Random streams restart before every call, so that dropout stays the same; values, gradients and streams are
/// restored. Two calls per element: check a small layer, or pass options with Mode::directional first. In float,
/// differences show mistakes of some percent, and only in gradients of about 1 or more. In double (mote_f64) they show
/// mistakes of a millionth. Small gradients are checked as sharply as rounding allows.
template <std::derived_from<Module> M, class... Inputs>
GradcheckResult gradcheck(const GradcheckOptions& options, const M& module, const Inputs&... inputs) {
  detail::NamedPlaces places;
  int position = 0;
  const std::tuple held{detail::checked_input(inputs, position, places)...};
  const auto call = [&]() -> Tensor { return std::apply([&](const auto&... x) { return module(x...); }, held); };
  return detail::gradcheck_module(module, places, call, options);
}
template <std::derived_from<Module> M, class... Inputs>
GradcheckResult gradcheck(const M& module, const Inputs&... inputs) {
  return gradcheck(GradcheckOptions{}, module, inputs...);
}

}  // namespace mote
