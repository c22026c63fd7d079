// Check and check_in: how the parts of a sentence are written.
#include "engine/base/check.h"

#include "tests/tools.h"

namespace mote::test::check_test {
namespace {

TEST_CASE("check: every kind of part as text; nothing is thrown while the condition holds") {
  CHECK(error_of([] { check(false, 'c', ' ', -3, " ", 7u, " ", 0.25f, " ", 1e-7, " ", std::string("end")); }) ==
        "c -3 7 0.25 1e-07 end");
  CHECK(error_of([] { check(false, text_of('c'), text_of(-3LL), text_of(7ULL), text_of(0.25), text_of("end")); }) ==
        "c-370.25end");
  CHECK(error_of([] { check_in("here", false, 1, " of ", 2); }) == "here: 1 of 2");
  CHECK(error_of([] {
          check(true, "never");
          check_in("here", true, "never");
        }) == "(no error)");
}

TEST_CASE("check: the first and last of each kind of control character are not in a sentence, their neighbours are") {
  const auto kept = [](const std::string& text) { return without_controls(text) == text; };
  for (const char* const text : {"\x1f", "\x7f", "\xC2\x80", "\xC2\x9F"}) CHECK(!kept(text));
  for (const char* const text : {" ", "~", "\xC2\xA0", "\xC3\x80", "\xC3\x9F"}) CHECK(kept(text));
}

}  // namespace
}  // namespace mote::test::check_test
