// Tensors and parameters as text: the text of their arrays (array/print.h), with grad_fn or requires_grad as in
// PyTorch.
#pragma once

#include "engine/array/print.h"
#include "engine/autograd/parameter.h"

namespace mote {

/// The text of the array, with "requires_grad=True" for a leaf, or "grad_fn=<mul>" for the result of an op. The op is
/// written with its name in mote, not with PyTorch's name MulBackward0.
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
