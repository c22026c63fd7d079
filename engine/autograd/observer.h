// Observer, which is told of every layer and op that opens and closes on a thread.
#pragma once

#include <span>
#include <utility>

#include "engine/array/array.h"

namespace mote {

class Op;

/// Is told what this thread does while thread_context.observer points to it. Override what you need. Scopes nest, and each one
/// that was opened is closed, by an exception too: hence no exception from layer_closed and op_closed. A scope may
/// close whose opening was not seen. Results never depend on an observer.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void layer_opened(const LayerScope&) {}
  virtual void layer_closed(const LayerScope&) noexcept {}
  virtual void op_opened(const Op&) {}
  virtual void op_flops(const Op&, Index) {}
  virtual void op_noted(const Op&, const char*, const Shape&) {}
  /// The op's result, and those of its inputs that are defined. An op without a Tensor to give records nothing.
  virtual void op_recorded(const Op&, std::span<const Array* const>, const Array&) {}
  virtual void op_closed(const Op&) noexcept {}
};

namespace place {
inline constinit thread_local Observer* observer = nullptr;
}

/// While one lives, this thread's observer is told nothing.
class Unobserved {
 public:
  [[nodiscard]] Unobserved() : before_(std::exchange(thread_context.observer, nullptr)) {}
  ~Unobserved() { thread_context.observer = before_; }
  Unobserved(const Unobserved&) = delete;

 private:
  Observer* before_;
};

}  // namespace mote
