// gradcheck of a module in one call: checks every parameter, named by its path, and every input.
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

/// An argument with which gradcheck calls the module. A tensor becomes a parameter, so that gradcheck can change its
/// elements. Any other argument is passed on as it is.
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

/// Compares the gradients of module(inputs...) with central differences, for all trainable parameters of the module
/// and all inputs that are tensors. Ids, masks and other inputs are passed on. The result converts to bool. Its text
/// names the element that differs most, with the path of the parameter, and lists parameters without a gradient:
///
///     const GradcheckResult result = gradcheck(layer, randn({2, 3, 4}, random));
///     if (!result) std::cout << result.text << "\n";
///
/// Random streams restart before every call, so that dropout stays the same. Values, gradients and streams are
/// restored afterwards. Every element costs two calls of the module, so check a small layer, or pass options with
/// Mode::directional as the first argument. In float, differences show only errors of some percent, and only in
/// gradients of about 1 or more. In double (mote_f64), differences show errors of about 1e-6, and small gradients are
/// checked as precisely as rounding allows.
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
