// Check and check_in: how the parts of a sentence are written.
#include "engine/base/check.h"

#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::check_test {
namespace {

TEST_CASE("check: every kind of part as text; nothing is thrown while the condition holds") {
  REFUSES(check(false, 'c', ' ', -3, " ", 7u, " ", 0.25f, " ", 1e-7, " ", std::string("end")));
  REFUSES(check(false, text_of('c'), text_of(-3LL), text_of(7ULL), text_of(0.25), text_of("end")));
  REFUSES(check_in("here", false, 1, " of ", 2));
  CHECK(error_of([] {
          check(true, "never");
          check_in("here", true, "never");
        }) == "(no error)");
}

TEST_CASE("check: a control character in a sentence becomes a picture, all else stays") {
  const auto sentence = [](const std::string& text) { return std::string(Error(text).what()); };
  CHECK_SENTENCE(sentence("a\x1b[31m\r\x1f\x7f" + std::string(1, '\0')));
  for (const char* const text : {" ", "~", "\u00e9", "\u202e", "two:\n  first\n  second"})
    CHECK(sentence(text) == text);
  CHECK_SENTENCE(sentence("a\n b\n"));
}

}  // namespace
}  // namespace mote::test::check_test
