// StreamGuard, which puts random streams back where they were when an error ends a scope.
#pragma once

#include <exception>
#include <vector>

#include "engine/array/random.h"
#include "engine/base/context.h"
#include "engine/base/storage.h"

namespace mote {

/// During its lifetime, remembers the streams that this thread draws from. If an exception ends the scope, they are put
/// back, so that a call that fails, for lack of memory say, leaves the model as it was, dropout's stream included; and
/// the same call, made again, draws the same numbers. Inside another guard it does nothing: the outer one decides.
/// Layers open one when they are called, fit() one for each step, generate() one.
class StreamGuard {
 public:
  [[nodiscard]] StreamGuard() {
    if (thread_context.streams) return;
    thread_context.streams = this, exceptions_ = std::uncaught_exceptions();
  }
  ~StreamGuard() {
    if (thread_context.streams != this) return;
    thread_context.streams = nullptr;
    if (!drawn_.empty()) [[unlikely]]
      finish();
  }
  StreamGuard(const StreamGuard&) = delete;

 private:
  friend class Generator;
  struct Drawn {
    Generator stream;
    GeneratorState before;
  };
  void remember(const Generator& stream) {
    drawn_.push_back({stream, stream.get_state()});
    stream.stream_->guard = this;
  }
  void finish() noexcept {
    const bool failed = std::uncaught_exceptions() > exceptions_;
    for (const Drawn& d : drawn_) {
      d.stream.stream_->guard = nullptr;
      if (failed) d.stream.stream_->state = d.before;
    }
  }

  std::vector<Drawn, CachedAllocator<Drawn>> drawn_;
  int exceptions_ = 0;  // in flight when it began
};

}  // namespace mote
