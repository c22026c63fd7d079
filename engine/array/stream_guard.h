// StreamGuard, which puts random streams back where they were when an error ends a scope.
#pragma once

#include <exception>
#include <utility>
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
  struct Drawn {
    Generator stream;
    GeneratorState before;
  };
  using Streams = std::vector<Drawn, CachedAllocator<Drawn>>;

  /// With `own` it remembers for itself also inside another.
  [[nodiscard]] explicit StreamGuard(bool own = false) {
    if (thread_context.streams && !own) return;
    around_ = std::exchange(thread_context.streams, this), exceptions_ = std::uncaught_exceptions();
  }
  ~StreamGuard() {
    if (thread_context.streams != this) return;
    thread_context.streams = around_;
    if (!drawn_.empty()) [[unlikely]]
      finish();
  }
  StreamGuard(const StreamGuard&) = delete;
  /// The streams drawn from so far, and where they stood.
  const Streams& drawn() const { return drawn_; }

 private:
  friend class Generator;
  void remember(const Generator& stream) {
    if (around_ && around_ != stream.stream_->guard) around_->remember(stream);
    drawn_.push_back({stream, stream.get_state()});
    stream.stream_->guard = this;
  }
  void finish() noexcept {
    const bool failed = std::uncaught_exceptions() > exceptions_;
    for (const Drawn& d : drawn_) {
      d.stream.stream_->guard = around_;
      if (failed) d.stream.stream_->state = d.before;
    }
  }

  Streams drawn_;
  StreamGuard* around_ = nullptr;
  int exceptions_ = 0;  // in flight when it began
};

}  // namespace mote
