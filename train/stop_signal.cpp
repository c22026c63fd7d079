// The handlers of StopSignal.
#include "train/stop_signal.h"

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

#ifdef SA_RESTART
using Action = struct sigaction;

/// Calls that a signal interrupts go on: the step in which it comes ends as any other.
Action stop_action() {
  Action action{};
  action.sa_handler = stop_signal_came;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int each : signals) sigaddset(&action.sa_mask, each);  // one at a time
  return action;
}
Action action_of(int signal) {
  Action action{};
  sigaction(signal, nullptr, &action);
  return action;
}
bool ignored(const Action& action) { return action.sa_handler == SIG_IGN; }
void set_action(int signal, const Action& action) { sigaction(signal, &action, nullptr); }
#else
using Action = void (*)(int);

Action stop_action() { return stop_signal_came; }
Action action_of(int signal) {
  const Action action = std::signal(signal, SIG_IGN);
  std::signal(signal, action);
  return action;
}
bool ignored(Action action) { return action == SIG_IGN; }
void set_action(int signal, Action action) { std::signal(signal, action); }
#endif

Action before[std::size(signals)];

}  // namespace

StopSignal::StopSignal() {
  signal_received = 0;
  for (std::size_t i = 0; i < std::size(signals); ++i) {
    before[i] = action_of(signals[i]);
    taken[i] = !ignored(before[i]);
  }
  for (std::size_t i = 0; i < std::size(signals); ++i)
    if (taken[i]) set_action(signals[i], stop_action());
}
StopSignal::~StopSignal() {
  for (std::size_t i = 0; i < std::size(signals); ++i) set_action(signals[i], before[i]);
}

int StopSignal::received() { return signal_received; }

}  // namespace mote
