// The handlers of StopSignal.
#include "train/stop_signal.h"

#include <csignal>
#include <cstdlib>

namespace mote {
namespace {

volatile std::sig_atomic_t signal_received = 0;

void restore() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

extern "C" void stop_signal_came(int signal) {
  signal_received = signal;
  restore();
}

}  // namespace

StopSignal::StopSignal() {
  signal_received = 0;
  std::signal(SIGINT, stop_signal_came);
  std::signal(SIGTERM, stop_signal_came);
}
StopSignal::~StopSignal() { restore(); }

int StopSignal::received() { return signal_received; }

void StopSignal::end_program() {
  restore();
  if (signal_received != 0) std::raise(signal_received);
  std::exit(128 + signal_received);
}

}  // namespace mote
