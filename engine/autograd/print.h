// Tensors and parameters as text: as their arrays (array/print.h), and what PyTorch says of their gradients.
#pragma once

#include "engine/array/print.h"
#include "engine/autograd/parameter.h"

namespace mote {

/// to_text of the array, with the tensor's origin: "grad_fn=<mul>" with the op's name in mote, or "requires_grad=True"
/// for a leaf.
inline std::string to_text(const Tensor& x, PrintOptions options = {}) {
  if (options.suffix.empty() && x.requires_grad())
    options.suffix = x.node()->leaf ? "requires_grad=True" : std::string("grad_fn=<").append(x.node()->op).append(">");
  return to_text(x.array(), options);
}

inline std::ostream& operator<<(std::ostream& out, const Tensor& x) {
  return out << (x.defined() ? to_text(x, print_options(out)) : std::string("(undefined)"));
}
/// As PyTorch prints a parameter: "Parameter containing:" and the tensor.
inline std::string to_text(const Parameter& p, const PrintOptions& options = {}) {
  return "Parameter containing:\n" + to_text(Tensor(p), options);
}
inline std::ostream& operator<<(std::ostream& out, const Parameter& p) {
  return out << (p.defined() ? to_text(p, print_options(out)) : std::string("(undefined)"));
}

}  // namespace mote
