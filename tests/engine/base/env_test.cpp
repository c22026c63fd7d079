// The MOTE_ variables: what is taken, and the sentences for what is not.
#include "engine/base/env.h"

#include "engine/kernels/kernels.h"
#include "tests/process.h"
#include "tests/tools.h"

namespace mote::test::env_test {
namespace {

std::string refusal(const char* name, const char* value) {
  const Variable variable(name, value);
  return error_of([] { reload_settings(); });
}

TEST_CASE("env: what each variable takes") {
  {
    const Setting threads("MOTE_THREADS", "7");
    CHECK(settings().threads == 7);
    ::unsetenv("MOTE_THREADS");
    reload_settings();
    CHECK(settings().threads == 0);  // one per core
  }
  for (const auto& [text, n] : std::vector<std::pair<const char*, int>>{{"", 0}, {"1", 1}, {"1024", 1024}}) {
    const Setting threads("MOTE_THREADS", text);
    CHECK(settings().threads == n);
  }
  using Flag = bool (*)();
  const std::tuple<const char*, const char*, Flag> flags[] = {
      {"MOTE_DEBUG", "0", [] { return settings().debug; }},
      {"MOTE_PROFILE", "0", [] { return settings().profile; }},
      {"MOTE_CHECK", "off", [] { return settings().check_finite; }},
      {"MOTE_ALLOC", "cache", [] { return settings().system_alloc; }}};
  for (const auto& [name, off, flag] : flags)
    for (const char* text : {"", off}) {
      const Setting setting(name, text);
      CHECK(!flag());
    }
  const Setting simd("MOTE_SIMD", "portable");
  const Setting debug("MOTE_DEBUG", "1");
  const Setting check("MOTE_CHECK", "finite");
  CHECK(!settings().origin);
  const Setting alloc("MOTE_ALLOC", "system");
  CHECK((settings().simd == "portable" && settings().debug && settings().check_finite && settings().system_alloc));
  {
    const Setting off("MOTE_CHECK", "off");
    const Setting origin("MOTE_DEBUG", "origin");
    CHECK((settings().origin && settings().check_finite && !settings().debug));
  }
}

TEST_CASE("env: what they do not take, and in which words") {
  for (const char* text : {"0", "-1", "abc", "1000000000", "1025", "4x", " 4", "4 ", "99999999999999999999", "+2"})
    CHECK(refusal("MOTE_THREADS", text) ==
          "MOTE_THREADS=" + std::string(text) + " is not a number of threads from 1 to 1024");
  CHECK(refusal("MOTE_ALLOC", "malloc") == "MOTE_ALLOC=malloc is not known: use system or cache");
  CHECK(refusal("MOTE_DEBUG", "yes") == "MOTE_DEBUG=yes is not known: use 1, origin or 0");
  CHECK(refusal("MOTE_PROFILE", "yes") == "MOTE_PROFILE=yes is not known: use 1 or 0");
  CHECK(refusal("MOTE_CHECK", "nan") == "MOTE_CHECK=nan is not known: use finite or off");
}

TEST_CASE("env: a refused value leaves the settings as they were") {
  const Setting before("MOTE_THREADS", "3");
  CHECK(refusal("MOTE_THREADS", "none") != "(no error)");
  CHECK(settings().threads == 3);
}

TEST_CASE("env: run again under a wrong MOTE_SIMD" * doctest::skip()) {
  std::string names;
  for (const kernels::Table* t : kernels::available_tables())
    names += (names.empty() ? "" : ", ") + std::string(t->name);
  const std::string expected = "MOTE_SIMD=sse9 is not available here: this processor and build support " + names;
  CHECK(error_of([] { kernels::table(); }) == expected);
  CHECK(error_of([] { Array::zeros({2}) + real(1); }) == expected);  // asked again, said again
}

TEST_CASE("env: run again under MOTE_SIMD=portable and MOTE_THREADS=5" * doctest::skip()) {
  CHECK(std::string(kernels::table().name) == "portable");
  CHECK(threads() == 5);
}

TEST_CASE("env: variables set before the program starts") {
  {
    const Variable variable("MOTE_SIMD", "sse9");
    CHECK(run_again("env: run again under a wrong MOTE_SIMD") == "exit 0");
  }
  const Variable simd("MOTE_SIMD", "portable"), threads("MOTE_THREADS", "5");
  CHECK(run_again("env: run again under MOTE_SIMD=portable and MOTE_THREADS=5") == "exit 0");
}

}  // namespace
}  // namespace mote::test::env_test
