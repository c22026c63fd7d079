// The handlers of StopSignal.
#include "train/loop/stop_signal.h"

#include <atomic>
#include <csignal>
#include <iterator>

namespace mote {
namespace {

constexpr int signals[] = {
    SIGINT, SIGTERM
#ifdef SIGHUP
    ,
    SIGHUP  // the terminal was closed
#endif
};
std::atomic<int> signal_received{0};
static_assert(std::atomic<int>::is_always_lock_free);  // else no handler may touch it

std::atomic<bool> taken[std::size(signals)];  // those that are not ignored
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void stop_signal_came(int signal) {
  const bool first = signal_received.exchange(signal) == 0;
  for (std::size_t i = 0; i < std::size(signals); ++i)
    if (taken[i]) std::signal(signals[i], SIG_DFL);
  if (!first) std::raise(signal);  // both came at once, in two threads: this one ends the program when it returns
}

using Handler = void (*)(int);
Handler handlers_before[std::size(signals)];

}  // namespace

// std::signal as the C libraries have it: calls that a signal interrupts go on, so the step in which it comes ends as
// any other.
StopSignal::StopSignal() {
  signal_received = 0;
  for (std::size_t i = 0; i < std::size(signals); ++i) {
    taken[i] = true;
    handlers_before[i] = std::signal(signals[i], stop_signal_came);
    if (handlers_before[i] != SIG_IGN) continue;
    taken[i] = false;
    std::signal(signals[i], SIG_IGN);
  }
}
StopSignal::~StopSignal() {
  for (std::size_t i = 0; i < std::size(signals); ++i) std::signal(signals[i], handlers_before[i]);
  signal_received = 0;
}

int StopSignal::received() { return signal_received; }

}  // namespace mote
