// What tests need of the system: environment variables for one scope, functions run in a forked child, this test
// program run again with other settings.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "engine/base/env.h"

// Sanitizers keep large shadow memory and threads of their own: tests that limit or measure the process leave them out.
#if defined(__has_feature)
#define MOTE_TEST_HAS(feature) __has_feature(feature)
#else
#define MOTE_TEST_HAS(feature) 0
#endif

namespace mote::test {

#if defined(__SANITIZE_THREAD__) || MOTE_TEST_HAS(thread_sanitizer)
constexpr bool thread_sanitizer = true;  // it ends a child of a process with threads that starts a thread
#else
constexpr bool thread_sanitizer = false;
#endif
#if defined(__SANITIZE_ADDRESS__) || MOTE_TEST_HAS(address_sanitizer) || MOTE_TEST_HAS(memory_sanitizer)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = thread_sanitizer;
#endif

/// One environment variable for one scope, without the settings being read again.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) {
      before_ = old;
      was_set_ = true;
    }
    ::setenv(name, value, 1);
  }
  ~Variable() {
    if (was_set_)
      ::setenv(name_, before_.c_str(), 1);
    else
      ::unsetenv(name_);
  }
  Variable(const Variable&) = delete;

 private:
  const char* name_;
  std::string before_;
  bool was_set_ = false;
};

/// A MOTE_ setting for one scope.
class Setting {
 public:
  Setting(const char* name, const char* value) : variable_(new Variable(name, value)) { reload_settings(); }
  ~Setting() {
    delete variable_;
    reload_settings();
  }
  Setting(const Setting&) = delete;

 private:
  Variable* variable_;
};

/// What a child process came to: "exit 0", "signal 11", or "still running after 10 s" (then it is killed).
inline std::string outcome(pid_t child) {
  for (int i = 0; i < 1000; ++i) {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == child)
      return WIFEXITED(status) ? "exit " + std::to_string(WEXITSTATUS(status))
                               : "signal " + std::to_string(WTERMSIG(status));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return "still running after 10 s";
}

/// Runs f, which returns an exit code, in a forked child. An exception there gives "exit 99".
template <class F>
std::string in_child(F f) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return outcome(child);
  int code = 99;
  try {
    code = f();
  } catch (...) {
  }
  std::_Exit(code);
}

/// Runs one test case of this program again in a new process, which reads the environment anew; "exit 0" if it passes.
inline std::string run_again(const std::string& test_case) {
  const std::string filter = "--test-case=" + test_case;
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return outcome(child);
  ::execl("/proc/self/exe", "mote_test", filter.c_str(), "--no-skip", "--minimal", static_cast<char*>(nullptr));
  std::_Exit(98);
}

}  // namespace mote::test
