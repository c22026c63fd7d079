// Reading the MOTE_* variables (env.h says what each one means).
#include "engine/base/env.h"

#include <charconv>
#include <cstdlib>

#include "engine/base/check.h"

namespace mote {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

int thread_count(const std::string& text) {
  if (text.empty()) return 0;
  int n = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), n);
  check(status == std::errc() && end == text.data() + text.size() && n >= 1 && n <= 1024, "MOTE_THREADS=", text,
        " is not a number of threads from 1 to 1024");
  return n;
}

/// Returns whether the variable `name` has the value `on`. Returns false if the variable is unset or empty, or has the
/// value `off` or `other`. Errors: any other value.
bool is_on(const char* name, const char* on, const char* off, const std::string& other = "") {
  const std::string text = variable(name);
  check(text == other || text.empty() || text == on || text == off, name, "=", text, " is not known: use ", on,
        other.empty() ? "" : ", " + other, " or ", off);
  return text == on;
}

Settings read() {
  Settings s;
  s.threads = thread_count(variable("MOTE_THREADS"));
  s.simd = variable("MOTE_SIMD");
  s.system_alloc = is_on("MOTE_ALLOC", "system", "cache");
  s.debug = is_on("MOTE_DEBUG", "1", "0", "origin");
  s.origin = variable("MOTE_DEBUG") == "origin";
  s.check_finite = is_on("MOTE_CHECK", "finite", "off") || s.origin;
  s.profile = is_on("MOTE_PROFILE", "1", "0");
  return s;
}

}  // namespace

const Settings& settings() {
  static Settings s = read();
  return s;
}

void reload_settings() {
  const_cast<Settings&>(settings()) = read();
  thread_context.environment_read = false;  // so that observers are installed anew
}

}  // namespace mote
