// StopSignal: the first signal is a flag, the second ends the program; what was done about signals before comes back.
#include "train/loop/stop_signal.h"

#include <doctest/doctest.h>

#include "tests/process.h"

namespace mote::test::stop_signal_test {
namespace {

void own(int) {}

/// As a shell starts a program; under nohup SIGHUP is ignored.
void nothing_ignored() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
}

void (*handler_of(int signal))(int) {
  struct sigaction action {};
  ::sigaction(signal, nullptr, &action);
  return action.sa_handler;
}

TEST_CASE("stop signal: the first only raises a flag, and the step goes on") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    CHECK(in_child([=] {
            nothing_ignored();
            const StopSignal stop;
            if (StopSignal::received() != 0) return 1;
            ::raise(signal);
            return StopSignal::received() == signal ? 0 : 2;
          }) == "exit 0");
}

TEST_CASE("stop signal: the first, and no other, says on standard error what it was given") {
  const std::string said = [] {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    CHECK(in_child([&] {
            nothing_ignored();
            ::dup2(ends[1], STDERR_FILENO);
            const StopSignal stop("stopping\n");
            errno = 7;
            ::raise(SIGTERM);
            return errno == 7 ? 0 : 1;
          }) == "exit 0");
    if (!thread_sanitizer)
      CHECK(in_child([&] {
              nothing_ignored();
              ::dup2(ends[1], STDERR_FILENO);
              { const StopSignal earlier("earlier\n"); }
              const StopSignal stop;
              ::raise(SIGINT);
              ::raise(SIGINT);
              return 0;
            }) == "signal " + std::to_string(SIGINT));
    ::close(ends[1]);
    std::string text(100, '\0');
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(ends[0], text.data(), text.size()))));
    ::close(ends[0]);
    return text;
  }();
  CHECK(said == "stopping\n");
}

TEST_CASE("stop signal: the second ends the program at once, whichever they are") {
  if (thread_sanitizer) return;  // it delivers a signal later, at a call of its own
  for (const int first : {SIGINT, SIGTERM, SIGHUP})
    for (const int second : {SIGINT, SIGTERM, SIGHUP})
      CHECK(in_child([=] {
              nothing_ignored();
              const StopSignal stop;
              ::raise(first);
              ::raise(second);
              return 0;
            }) == "signal " + std::to_string(second));
}

TEST_CASE("stop signal: handlers are those of before again; what is ignored stays so, as SIGHUP under nohup, always") {
  CHECK(in_child([] {
          nothing_ignored();
          ::signal(SIGINT, own);
          for (const int signal : {SIGTERM, SIGHUP}) ::signal(signal, SIG_IGN);
          for (int i = 0; i < 2; ++i) {
            {
              const StopSignal stop;
              if (handler_of(SIGINT) == own) return 1;
              ::raise(SIGTERM);
              ::raise(SIGHUP);
              if (StopSignal::received() != 0) return 2;
              ::raise(SIGINT);
              if (StopSignal::received() != SIGINT || handler_of(SIGINT) != SIG_DFL) return 3;
              ::raise(SIGTERM);
              ::raise(SIGHUP);  // after the first of another kind, too
              if (StopSignal::received() != SIGINT) return 5;
            }
            if (handler_of(SIGINT) != own || handler_of(SIGTERM) != SIG_IGN) return 4;
          }
          return 0;
        }) == "exit 0");
}

TEST_CASE("stop signal: a signal that interrupts a call lets it go on") {
  if (thread_sanitizer) return;  // its own handler ends the call
  CHECK(in_child([] {
          nothing_ignored();
          const StopSignal stop;
          int ends[2];
          if (::pipe(ends) != 0) return 1;
          const pid_t parent = ::getpid();
          if (::fork() == 0) {
            ::usleep(20'000);
            ::kill(parent, SIGINT);
            ::usleep(20'000);
            std::_Exit(::write(ends[1], "x", 1) == 1 ? 0 : 1);
          }
          char text = 0;
          if (::read(ends[0], &text, 1) != 1 || text != 'x') return 2;
          return StopSignal::received() == SIGINT ? 0 : 3;
        }) == "exit 0");
}

}  // namespace
}  // namespace mote::test::stop_signal_test
