// What calling a layer needs: the scope that it opens, and concepts that recognize wrong arguments.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

#include "engine/array/int_array.h"
#include "engine/array/mask.h"
#include "engine/array/stream_guard.h"
#include "engine/autograd/op.h"

namespace mote {

class Module;

namespace detail {
/// Whether a layer's forward() takes these arguments.
template <class L, class... A>
concept Takes = requires(const L& layer, A&&... arguments) {
  layer.forward(std::forward<A>(arguments)...);
};
/// Whether something else was given where forward() takes ids, or a Tensor; or a Tensor where it takes a Mask.
template <class L, class T, class... A>
concept NotIds = !Takes<L, T, A...> && Takes<L, const IntArray&, A...>;
template <class L, class T, class... A>
concept NotTensor = !Takes<L, T, A...> && !NotIds<L, T, A...> && Takes<L, const Tensor&, A...>;
template <class L, class T, class... A>
concept NotMask =
    std::same_as<std::remove_cvref_t<T>, Tensor> && !Takes<L, A..., Exactly<Tensor>> && Takes<L, A..., const Mask&>;

/// The layer stack's dotted path, found by visiting from the outermost module; LayerScope::path (check.h).
std::string layer_path(const LayerScope& innermost);
/// Module::type_name() of the innermost layer.
std::string layer_type(const LayerScope& innermost);

class OpenLayer {
 public:
  explicit OpenLayer(const Module& m) : scope_{&m, thread_context.layer, layer_path, layer_type} {
    if (watched_) [[unlikely]]
      Watchers::tell([this](Observer& o) { o.layer_opened(scope_); });
    thread_context.layer = &scope_;
  }
  ~OpenLayer() {
    thread_context.layer = scope_.outer;
    if (watched_) [[unlikely]]
      Watchers::tell([this](Observer& o) { o.layer_closed(scope_); });
  }
  OpenLayer(const OpenLayer&) = delete;

 private:
  LayerScope scope_;
  StreamGuard streams_;
  bool watched_ = Watchers::any();
};
}  // namespace detail

}  // namespace mote
