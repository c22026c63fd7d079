// The machinery behind a call of a layer: the scope that the call opens, and concepts that recognize wrong arguments.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

#include "engine/array/int_array.h"
#include "engine/array/mask.h"
#include "engine/autograd/op.h"

namespace mote {

class Module;

namespace detail {
/// A stand-in for a T in a compile-time check. It converts to T, but not to the types that a T converts to.
template <class T>
struct Exactly {
  template <class U>
  requires std::is_same_v<U, T>
  operator U() const;
};

/// Whether a layer's forward() takes these arguments.
template <class L, class... A>
concept Takes = requires(const L& layer, A&&... arguments) {
  layer.forward(std::forward<A>(arguments)...);
};
/// Recognize a wrong argument of type T in a call of a layer L. NotIds: the first argument must be ids, but is a T.
/// NotTensor: the first argument must be a Tensor, but is a T. NotMask: the last argument must be a Mask, but is a
/// Tensor.
template <class L, class T, class... A>
concept NotIds = !Takes<L, T, A...> && Takes<L, const IntArray&, A...>;
template <class L, class T, class... A>
concept NotTensor = !Takes<L, T, A...> && !NotIds<L, T, A...> && Takes<L, const Tensor&, A...>;
template <class L, class T, class... A>
concept NotMask =
    std::same_as<std::remove_cvref_t<T>, Tensor> && !Takes<L, A..., Exactly<Tensor>> && Takes<L, A..., const Mask&>;

/// Overloads of a layer's call for wrong arguments. Each is a compile error that says what to write instead.
template <class Derived>
struct WrongCalls {
  template <class T, class... A>
  requires NotIds<Derived, T, A...>
  __attribute__((unavailable("this layer takes ids, an IntArray: write ints({{1, 2}})"))) void operator()(T&& ids,
                                                                                                          A&&...) const;
  template <class T, class... A>
  requires NotTensor<Derived, T, A...>
  __attribute__((unavailable("this layer takes a Tensor: write tensor(ids), or put an Embedding before it"))) void
  operator()(T&& x, A&&...) const;
  template <class X, class T>
  requires NotMask<Derived, T, X>
  __attribute__((
      unavailable("a Tensor is not a Mask: of 0 and 1 write m > 0, or from_blocked(m) whe"
                  "re 1 means blocked; of 0 and -infinity write m == 0"))) void
  operator()(X&&, T&& mask) const;
  template <class X, class Y, class Z, class T>
  requires NotMask<Derived, T, X, Y, Z>
  __attribute__((
      unavailable("a Tensor is not a Mask: of 0 and 1 write m > 0, or from_blocked(m) whe"
                  "re 1 means blocked; of 0 and -infinity write m == 0"))) void
  operator()(X&&, Y&&, Z&&, T&& mask) const;
  template <class... A>
  __attribute__((unavailable("braces have no type: write ints({{1, 2}}) for ids, tensor({{1, 2}}) for floats"))) void
  operator()(const Nested<double>&, A&&...) const;
  template <class... A>
  requires(!Takes<Derived, A...>)
      __attribute__((unavailable("a Layer needs a public `forward(...) const` that takes these arguments"))) void
      operator()(A&&...) const;
};

/// The dotted path of the innermost layer, found with visit() from the outermost module. LayerScope::path points to
/// this function.
std::string layer_path(const LayerScope& innermost);
/// Module::type_name() of the innermost layer.
std::string layer_type(const LayerScope& innermost);

class OpenLayer {
 public:
  explicit OpenLayer(const Module& m) : scope_{&m, thread_context.layer, layer_path, layer_type} {
    if (watching()) [[unlikely]]
      tell({.kind = Event::layer_opened, .layer = &scope_});
    thread_context.layer = &scope_;
  }
  ~OpenLayer() {
    thread_context.layer = scope_.outer;
    if (thread_context.observer) [[unlikely]]
      tell_closed({.kind = Event::layer_closed, .layer = &scope_});
  }
  OpenLayer(const OpenLayer&) = delete;
  /// Offers the layer's result y to the observers, which may replace it.
  void offer(Tensor& y) const {
    if (thread_context.observer) [[unlikely]]
      y = offer_value("", y);
  }

 private:
  LayerScope scope_;
};
}  // namespace detail

}  // namespace mote
