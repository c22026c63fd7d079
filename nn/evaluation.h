// Evaluation, a scope in which a module is in evaluation mode.
#pragma once

#include <vector>

#include "nn/module.h"

namespace mote {

/// Keeps a module in evaluation mode during its lifetime, in which train() takes effect at the end; then each of its
/// modules is back in its own mode. Several threads may evaluate one module at a time: it is back when the last is
/// done.
class Evaluation {
 public:
  [[nodiscard]] explicit Evaluation(Module& module) : modules_(detail::modules_of(module)) {
    for (Module* m : modules_) m->mode_.fetch_add(2, std::memory_order_relaxed);
    ++open_;
  }
  ~Evaluation() {
    for (Module* m : modules_) m->mode_.fetch_sub(2, std::memory_order_relaxed);
    --open_;
  }
  Evaluation(const Evaluation&) = delete;

 private:
  friend class Module;
  static inline constinit thread_local int open_ = 0;  // of this thread
  std::vector<Module*> modules_;
};

}  // namespace mote
