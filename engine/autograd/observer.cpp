// The chain of a thread's observers.
#include "engine/autograd/observer.h"

namespace mote {
namespace {

constinit thread_local Observer* innermost = nullptr;

bool opens(const Event& e) {
  return e.kind == Event::layer_opened || e.kind == Event::op_opened || e.kind == Event::rule_opened;
}

}  // namespace

void tell(const Event& e) {
  const During<Observer*> what_they_do_is_not_told(thread_context.observer, nullptr);
  Event closed = e;
  closed.kind = static_cast<Event::Kind>(e.kind + 1);
  for (Observer* o = innermost; o; o = o->outer_) try {
      o->event(e);
    } catch (...) {
      for (Observer* told = innermost; opens(e) && told != o; told = told->outer_) try {
          told->event(closed);
        } catch (...) {  // an exception from a closing event is dropped
        }
      throw;
    }
}

void tell_closed(const Event& e) noexcept {
  const During<Observer*> what_they_do_is_not_told(thread_context.observer, nullptr);
  for (Observer* o = innermost; o; o = o->outer_) try {
      o->event(e);
    } catch (...) {
    }
}

void Observer::watch() {
  watching();  // observers from MOTE_* environment variables begin first, and so are outermost
  check_in("Observer", !innermost || thread_context.observer,
           "a scope such as Record or Change cannot begin inside another observer's function");
  for (const Observer* o = innermost; o; o = o->outer_)
    if (o == this) return;
  outer_ = std::exchange(innermost, this);
  thread_context.observer = this;
}

Observer::~Observer() {
  Observer** o = &innermost;
  while (*o && *o != this) o = &(*o)->outer_;
  if (*o) *o = outer_;
  if (thread_context.observer) thread_context.observer = innermost;
}

}  // namespace mote
