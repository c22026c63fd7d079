// What the progress line says, and when.
#include "train/loop/progress.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <string>

namespace mote::test::progress_test {
namespace {

constexpr std::size_t wide = 200;

StepReport report(Index taken, Index steps, double loss = 4) { return {taken - 1, steps, loss, 1e-3, 0.5}; }

/// What a stream received since the last time, without the two fields that the clock decides.
std::string take(std::ostringstream& out) {
  const std::string text = out.str();
  out.str("");
  return std::regex_replace(text, std::regex(" \\| [0-9hms]+ left( \\| [0-9.kM]+ tokens/s)?"), "");
}

}  // namespace

TEST_CASE("progress: the line has six fields, the last of them where there is a rate") {
  const std::string begin = "step 100/1000 | loss 4.0000 | lr 1.00e-03 | norm 0.5000";
  CHECK(progress_text(report(100, 1000), 0, 12, wide) == begin);
  CHECK(progress_text(report(100, 1000), 100, 12, wide) == begin + " | 9s left | 1.2k tokens/s");
  CHECK(progress_text(report(100, 1000), 2.5, 20, wide) == begin + " | 6m00s left | 50.0 tokens/s");
  CHECK(progress_text(report(100, 1000), 0.1, 1, wide) == begin + " | 2h30m left | 0.1 tokens/s");
  CHECK(progress_text(report(100, 1000), 0.002, 1000000000, wide) == begin + " | 125h00m left | 2.0M tokens/s");
}

TEST_CASE("progress: fields that have no room are left out at the end of the line") {
  const auto line = [](std::size_t room) { return progress_text(report(100, 1000), 100, 12, room); };
  const std::string begin = "step 100/1000 | loss 4.0000 | lr 1.00e-03 | norm 0.5000 | 9s left";
  CHECK(line(begin.size() + 16) == begin + " | 1.2k tokens/s");
  CHECK(line(begin.size() + 15) == begin);
  CHECK(line(begin.size() - 1) == "step 100/1000 | loss 4.0000 | lr 1.00e-03 | norm 0.5000");
  CHECK(line(20) == "step 100/1000");
  CHECK(line(5) == "step ");
}

TEST_CASE("progress: very small and very large losses have an exponent") {
  const auto loss = [](double x) { return progress_text(report(1, 9, x), 0, 0, 26).substr(11); };
  CHECK(loss(0) == "loss 0.0000");
  CHECK(loss(1e-9) == "loss 1.000e-09");
  CHECK(loss(-0.5) == "loss -0.5000");
  CHECK(loss(1e7) == "loss 1.000e+07");
}

TEST_CASE("progress: elsewhere than on a terminal a line comes now and then") {
  std::ostringstream out;
  Progress p(out, false, 10, 1);
  p.update(report(1, 30));
  CHECK(take(out) == "step 1/30 | loss 4.0000 | lr 1.00e-03 | norm 0.5000\n");
  for (Index taken = 2; taken < 10; ++taken) p.update(report(taken, 30));
  CHECK(take(out) == "");
  p.update(report(10, 30));
  CHECK(take(out) == "step 10/30 | loss 4.0000 | lr 1.00e-03 | norm 0.5000\n");

  p.note("validation 3.1");
  CHECK(take(out) == "validation 3.1\n");
  p.update(report(29, 30));
  CHECK(take(out) == "");
  p.finish();  // stopped early: the last word is still heard
  CHECK(take(out) == "step 29/30 | loss 4.0000 | lr 1.00e-03 | norm 0.5000\n");
  p.finish();
  CHECK(take(out) == "");
}

TEST_CASE("progress: every step has a line for 0, and the last one always") {
  std::ostringstream out;
  Progress every(out, false, 0, 1);
  for (const Index taken : {1, 2, 3}) {
    every.update(report(taken, 30));
    CHECK(take(out).starts_with("step " + std::to_string(taken) + "/30 | "));
  }
  Progress rare(out, false, 100, 1);
  rare.update(report(29, 30));
  take(out);
  rare.update(report(30, 30));
  CHECK(take(out).starts_with("step 30/30 | "));
}

TEST_CASE("progress: a terminal's line is rewritten") {
  std::ostringstream out;
  Progress p(out, true, 0, 0);
  p.update(report(1, 9000));
  CHECK(take(out) == "\rstep 1/9000 | loss 4.0000 | lr 1.00e-03 | norm 0.5000");
  for (Index taken = 2; taken <= 8000; ++taken) p.update(report(taken, 9000));
  const std::string lines = take(out);  // one in a tenth of a second
  CHECK(std::count(lines.begin(), lines.end(), '\r') < 4000);

  p.update(report(8001, 9000, 1e-30));
  take(out);
  p.note("hello");
  const std::string noted = take(out);
  CHECK(noted.starts_with("\r  "));
  CHECK(noted.ends_with(" \rhello\n\rstep 8001/9000 | loss 1.000e-30 | lr 1.00e-03 | norm 0.5000"));
  p.update(report(9000, 9000));
  const std::string last = take(out);
  CHECK(last.starts_with("\rstep 9000/9000 | loss 4.0000 | lr 1.00e-03 | norm 0.5000 "));
  CHECK(last.ends_with(" "));  // over what was longer

  p.finish();
  CHECK(take(out) == "\n");
}

TEST_CASE("progress: an exception on its way out leaves a clean line on a terminal") {
  std::ostringstream out;
  {
    Progress p(out, true, 0, 0);
    p.update(report(1, 2));
    take(out);
  }
  CHECK(take(out) == "\n");
}

}  // namespace mote::test::progress_test
