// Preloaded into a program: a signal every 100 microseconds, without SA_RESTART, so that calls end with EINTR.
#include <signal.h>
#include <sys/time.h>

namespace {

void nothing(int) {}

[[gnu::constructor]] void begin() {
  struct sigaction action {};
  action.sa_handler = nothing;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often{{0, 100}, {0, 100}};
  setitimer(ITIMER_REAL, &often, nullptr);
}

}  // namespace
