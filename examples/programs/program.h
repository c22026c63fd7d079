// run_program, the main() of every lesson and program. It checks the environment, prints errors as one line, and makes
// sure that the output arrives.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <string>

#ifdef __unix__
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#endif

#include "engine/base/check.h"
#include "engine/base/env.h"
#include "engine/kernels/kernels.h"

namespace mote {

/// A mistake in the command line or in the environment. It ends the program with exit code 2.
struct UsageError : Error {
  using Error::Error;
};

/// An error in writing to standard output.
struct OutputError : Error {
  using Error::Error;
};

/// Runs code that depends on options alone. An Error in it becomes a UsageError, because the user made the mistake.
template <class Body>
decltype(auto) checked_usage(const Body& body) {
  try {
    return body();
  } catch (const Error& e) {
    throw UsageError(e.what());
  }
}

[[noreturn]] inline void fail_output() {
#ifdef __unix__
  // The write that failed may be long ago, and errno is 0 then. Writing one more line sets errno again.
  [[maybe_unused]] const auto lost = errno == 0 ? write(STDOUT_FILENO, "\n", 1) : 0;
#endif
  throw OutputError(std::string("cannot write to standard output") + (errno ? ": " : "") +
                    (errno ? std::strerror(errno) : ""));
}

/// Whether standard output is a terminal that can move its cursor.
inline bool on_terminal() {
  const char* const kind = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && (!kind || std::strcmp(kind, "dumb") != 0);
}

/// Flushes standard output. Errors: an OutputError if standard output is closed or full, because printed text is lost
/// then.
inline void flush_output() {
  errno = 0;
  std::cout.flush();
  if (std::fflush(stdout) != 0 || !std::cout.good() || std::ferror(stdout) != 0) fail_output();
}

/// What a program that trains says when the first signal comes. On a terminal the line of progress ends before it.
inline const char* stopping_text() {
  static constexpr char text[] = "\nstopping after this step; a second signal ends the program at once\n";
  return on_terminal() ? text : text + 1;
}

/// Ends the program with a signal's default action. In a shell the exit code is 130 for SIGINT and 143 for SIGTERM,
/// and a script that started the program stops as well.
[[noreturn]] inline void end_by_signal(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  std::exit(128 + signal);
}

/// Runs a program and returns its exit code. An error becomes one line on stderr and exit code `failure`. A UsageError
/// gives exit code 2. The environment is checked before anything is printed. At the end the output is flushed, and
/// output that did not arrive is an error.
template <class Body>
int run_program(const char* name, const Body& body, int failure = 1) {
  try {
#ifdef __unix__
    std::signal(SIGXFSZ, SIG_IGN);                           // a file above the size limit is then an error
    if (fcntl(STDOUT_FILENO, F_GETFD) == -1) fail_output();  // if closed, the next opened file would be stdout
#endif
    checked_usage([] {
      settings();
      kernels::table();
    });
    const int code = body();
    flush_output();
    return code;
  } catch (const UsageError& e) {
    std::cerr << name << ": " << e.what() << "\n";
    return 2;
  } catch (const OutputError& e) {
#ifdef __unix__
    pollfd output{STDOUT_FILENO, POLLOUT, 0};  // without a reader the program ends as SIGPIPE would have ended it
    if (poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0) end_by_signal(SIGPIPE);
#endif
    std::cerr << name << ": " << e.what() << "\n";
  } catch (const std::bad_alloc&) {
    std::cerr << name << ": there is not enough memory for these sizes\n";
  } catch (const std::exception& e) {
    std::cerr << name << ": " << e.what() << "\n";
  }
  return failure;
}

}  // namespace mote
