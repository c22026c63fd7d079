// Evaluation, a scope in which a module is in evaluation mode.
#pragma once

#include <vector>

#include "nn/module.h"

namespace mote {

/// During its lifetime, keeps a module and all modules inside it in evaluation mode. A train() inside the scope takes
/// effect when the scope ends. Scopes nest, and several threads may evaluate one module at the same time.
class Evaluation {
 public:
  [[nodiscard]] explicit Evaluation(Module& module) : modules_(detail::modules_of(module)) {
    for (Module* m : modules_) ++m->evaluations_;
    ++open_;
  }
  ~Evaluation() {
    for (Module* m : modules_) --m->evaluations_;
    --open_;
  }
  Evaluation(const Evaluation&) = delete;

 private:
  friend class Module;
  static inline constinit thread_local int open_ = 0;  // the number of Evaluations that are open on this thread
  std::vector<Module*> modules_;
};

}  // namespace mote
