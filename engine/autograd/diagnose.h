// The longer error messages of autograd, kept out of the code that they would interrupt.
#pragma once

#include <initializer_list>

#include "engine/autograd/node.h"

namespace mote {

/// Throws the error for backward() on a tensor without a graph.
[[noreturn]] void fail_untracked();
/// Throws the error for backward() through a node that an earlier backward() has consumed.
[[noreturn]] void fail_consumed(const Node& node);
/// Throws the error for grad() on a result that keeps no gradient.
[[noreturn]] void fail_no_gradient(const Node& node);

// The most common methods of PyTorch's Tensor, such as x.sum(). In mote every op is a function, like the ops that a
// user adds. Calling such a method is a compile error that names the function to write instead.
#define MOTE_WRITE(call) __attribute__((unavailable("a function, not a method: write " call)))
#define MOTE_FUNCTION(name, ...)         \
  template <class... A>                  \
  MOTE_WRITE(#name "(" #__VA_ARGS__ ")") \
  void name(A&&...) const;               \
  template <class... A>                  \
  MOTE_WRITE(#name "(" #__VA_ARGS__ ")") \
  void name(std::initializer_list<Index>, A&&...) const
struct TorchMethods {
  MOTE_FUNCTION(view, x, {6, 4});
  MOTE_FUNCTION(reshape, x, {6, 4});
  MOTE_FUNCTION(transpose, x, 0, 1);
  MOTE_FUNCTION(unsqueeze, x, 0);
  MOTE_FUNCTION(split, x, size, axis);
  MOTE_FUNCTION(sum, x, {-1});
  MOTE_FUNCTION(mean, x, {-1});
  MOTE_FUNCTION(max, x, {-1});
  MOTE_FUNCTION(matmul, x, y);
  MOTE_FUNCTION(softmax, x, -1);
  MOTE_FUNCTION(masked_fill, x, mask, value);
  MOTE_FUNCTION(pow, x, exponent);
  MOTE_FUNCTION(exp, x);
  MOTE_FUNCTION(log, x);
  MOTE_FUNCTION(tanh, x);
  MOTE_FUNCTION(relu, x);
  MOTE_FUNCTION(abs, x);
  MOTE_FUNCTION(sqrt, x);
  MOTE_FUNCTION(sigmoid, x);
  MOTE_FUNCTION(min, x, {-1});
  MOTE_FUNCTION(var, x, {-1});
  MOTE_FUNCTION(norm, x, {-1});
  MOTE_FUNCTION(prod, x, axis);
  MOTE_FUNCTION(cumsum, x, axis);
  MOTE_FUNCTION(argmax, x, -1);
  MOTE_FUNCTION(argmin, x, -1);
  MOTE_FUNCTION(sort, x, -1);
  MOTE_FUNCTION(topk, x, k);
  MOTE_FUNCTION(flatten, x);
  MOTE_FUNCTION(permute, x, {1, 0});
  MOTE_FUNCTION(squeeze, x, 0);
  MOTE_FUNCTION(expand, x, {6, 4});
  MOTE_FUNCTION(repeat, x, {2, 1});
  MOTE_FUNCTION(flip, x, {0});
  MOTE_FUNCTION(gather, x, axis, ids);
  MOTE_FUNCTION(clamp, x, lowest, highest);
  MOTE_FUNCTION(contiguous, x);
  MOTE_FUNCTION(tril, x);
  template <class... A>
  MOTE_WRITE("stddev(x, {-1})")
  void std(A&&...) const;
  __attribute__((unavailable("write x.numel()"))) void nelement() const;
  __attribute__((unavailable("write transpose(x, -2, -1)"))) static constexpr int T = 0;
  template <class I>
  __attribute__((unavailable("write index(x, {0, Slice(), -1}), or select(x, axis, position)"))) void operator[](
      I) const;
};
#undef MOTE_FUNCTION
#undef MOTE_WRITE

}  // namespace mote
