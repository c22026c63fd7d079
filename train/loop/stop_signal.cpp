// The handlers of StopSignal.
#include "train/loop/stop_signal.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
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
static_assert(std::atomic<int>::is_always_lock_free);  // otherwise a handler must not touch it

std::atomic<const char*> text_of_first{""};
static_assert(std::atomic<const char*>::is_always_lock_free);

std::atomic<bool> taken[std::size(signals)];  // whether signals[i] is handled, because the program does not ignore it
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void stop_signal_came(int signal) {
  const bool first = signal_received.exchange(signal) == 0;
  for (std::size_t i = 0; i < std::size(signals); ++i)
    if (taken[i]) std::signal(signals[i], SIG_DFL);
  if (!first) {  // two signals came at once, in two threads: the second one ends the program
    std::raise(signal);
    return;
  }
  const int error = errno;  // the code that the signal interrupts may be about to read it
  const char* const text = text_of_first;
  [[maybe_unused]] const auto lost = ::write(STDERR_FILENO, text, std::strlen(text));
  errno = error;
}

using Handler = void (*)(int);
Handler handlers_before[std::size(signals)];

}  // namespace

// In the usual C libraries, std::signal restarts system calls that the signal interrupts. So the step in which a
// signal comes ends as any other.
StopSignal::StopSignal(const char* says) {
  signal_received = 0;
  text_of_first = says;
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
