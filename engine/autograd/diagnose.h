// The longer sentences of autograd's errors, away from the code that they interrupt.
#pragma once

#include <initializer_list>

#include "engine/autograd/node.h"

namespace mote {

/// For backward() of a tensor without a graph.
[[noreturn]] void fail_untracked();
/// For backward() over a node that an earlier one has consumed.
[[noreturn]] void fail_consumed(const Node& node);
/// For grad() of a result that keeps none.
[[noreturn]] void fail_no_gradient(const Node& node);

// PyTorch's methods that are typed most. Here whatever makes a tensor is a function, as what a user adds is.
#define MOTE_WRITE(name) __attribute__((unavailable("a function, not a method: write " #name "(x, ...)")))
#define MOTE_FUNCTION(name) \
  template <class... A>     \
  MOTE_WRITE(name)          \
  void name(A&&...) const;  \
  template <class... A>     \
  MOTE_WRITE(name)          \
  void name(std::initializer_list<Index>, A&&...) const
struct TorchMethods {
  MOTE_FUNCTION(view);
  MOTE_FUNCTION(reshape);
  MOTE_FUNCTION(transpose);
  MOTE_FUNCTION(permute);
  MOTE_FUNCTION(sum);
  MOTE_FUNCTION(mean);
  MOTE_FUNCTION(max);
  MOTE_FUNCTION(argmax);
  MOTE_FUNCTION(matmul);
  MOTE_FUNCTION(softmax);
  MOTE_FUNCTION(masked_fill);
  MOTE_FUNCTION(exp);
  MOTE_FUNCTION(log);
  MOTE_FUNCTION(pow);
  MOTE_FUNCTION(sqrt);
  MOTE_FUNCTION(unsqueeze);
  MOTE_FUNCTION(squeeze);
  MOTE_FUNCTION(expand);
  MOTE_FUNCTION(var);
  MOTE_FUNCTION(tril);
  template <class I>
  __attribute__((unavailable("write select(x, axis, position), or slice(x, axis, start, end)"))) void operator[](
      I) const;
};
#undef MOTE_FUNCTION
#undef MOTE_WRITE

}  // namespace mote
