// BackwardRule, which holds an op's gradient lambda.
#pragma once

#include <type_traits>
#include <utility>

#include "engine/array/array.h"

namespace mote {

class Grads;

/// The lambda that sends an op's gradient back: any callable (const Array& dy, Grads& dx). What std::function would do,
/// but its captures lie in a cached block, so that a warm training step asks the system for no memory.
class BackwardRule {
 public:
  BackwardRule() = default;
  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, BackwardRule>>>
  BackwardRule(F&& f) {
    using Rule = std::decay_t<F>;
    static_assert(alignof(Rule) <= 64);
    captures_ = ::new (allocate_block(sizeof(Rule))) Rule(std::forward<F>(f));
    call_ = [](void* rule, const Array& dy, Grads& dx) { (*static_cast<Rule*>(rule))(dy, dx); };
    destroy_ = [](void* rule) {
      static_cast<Rule*>(rule)->~Rule();
      free_block(rule, sizeof(Rule));
    };
  }
  BackwardRule(BackwardRule&& other) noexcept { *this = std::move(other); }
  BackwardRule& operator=(BackwardRule&& other) noexcept {
    std::swap(captures_, other.captures_);
    std::swap(call_, other.call_);
    std::swap(destroy_, other.destroy_);
    return *this;
  }
  ~BackwardRule() {
    if (captures_) destroy_(captures_);
  }
  explicit operator bool() const { return captures_ != nullptr; }
  void operator()(const Array& dy, Grads& dx) const { call_(captures_, dy, dx); }

 private:
  void* captures_ = nullptr;
  void (*call_)(void*, const Array&, Grads&) = nullptr;
  void (*destroy_)(void*) = nullptr;
};

}  // namespace mote
