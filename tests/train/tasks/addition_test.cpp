// The addition task: check_task, sums by hand in both orders, what it refuses.
#include "train/tasks/addition.h"

#include "tests/check_task.h"

namespace mote::test::addition_test {
namespace {

/// By the sum of the two numbers, as text.
Rule rule(bool plain) {
  return [plain](const Sequence& prompt) {
    const std::size_t n = prompt.size() / 2 - 1;
    long long numbers[2] = {0, 0};
    for (std::size_t i = 0; i < n; ++i) {
      numbers[0] = 10 * numbers[0] + prompt[i];
      numbers[1] = 10 * numbers[1] + prompt[n + 1 + i];
    }
    std::string text = std::to_string(numbers[0] + numbers[1]);
    text = std::string(n + 1 - text.size(), '0') + text;
    Sequence digits;
    for (const char c : text) digits.push_back(c - '0');
    return plain ? digits : Sequence(digits.rbegin(), digits.rend());
  };
}

TEST_CASE("addition task") {
  check_task("addition", rule(false));
  check_task("addition_3_digits", rule(false));
  check_task("addition_plain", rule(true));
  check_task("addition", rule(true), {{"digits", "5"}, {"plain", "true"}});
}

TEST_CASE("addition task: sums by hand") {
  const AdditionTask reversed, plain({.digits = 2, .plain = true});
  CHECK(reversed.text(reversed.answer(reversed.ids("57+68"))) == "521");
  CHECK(plain.text(plain.answer(plain.ids("57+68"))) == "125");
  CHECK(plain.text(plain.answer(plain.ids("07+02"))) == "009");
  CHECK(reversed.text(row_of(reversed.questions(1, Split::validation, Generator(1)).prompts, 0)).ends_with("="));
}

TEST_CASE("addition task: what it refuses") {
  for (const std::string digits : {"0", "-3", "19", "9000000000000000000"})
    check_refused("addition", {{{{"digits", digits}}, "AdditionTask: digits " + digits + " must be 1 to 18"}});
}

}  // namespace
}  // namespace mote::test::addition_test
