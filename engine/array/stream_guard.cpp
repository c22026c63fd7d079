// StreamGuard's list of streams, and their way back.
#include "engine/array/stream_guard.h"

#include <exception>

namespace mote {

void StreamGuard::remember(const Generator& stream) {
  if (drawn_.empty()) exceptions_ = std::uncaught_exceptions();
  drawn_.push_back({stream, stream.get_state()});
  stream.stream_->guard = this;
}

void StreamGuard::finish() noexcept {
  const bool failed = std::uncaught_exceptions() > exceptions_;
  for (const Drawn& d : drawn_) {
    d.stream.stream_->guard = nullptr;
    if (failed) d.stream.stream_->state = d.before;
  }
}

}  // namespace mote
