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

TEST_CASE("check: a control character in a sentence becomes a picture, all else stays") {
  const auto sentence = [](const std::string& text) { return std::string(Error(text).what()); };
  CHECK(sentence("a\x1b[31m\r\x1f\x7f" + std::string(1, '\0')) == "a\u241b[31m\u240d\u241f\u2421\u2400");
  for (const char* const text : {" ", "~", "\u00e9", "\u202e", "two:\n  first\n  second"})
    CHECK(sentence(text) == text);
  CHECK(sentence("a\n b\n") == "a\u240a b\u240a");
}

}  // namespace
}  // namespace mote::test::check_test
