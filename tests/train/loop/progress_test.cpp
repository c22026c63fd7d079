// What the progress line says, and when, with a clock that the test turns.
#include "train/loop/progress.h"

#include <doctest/doctest.h>

#include <fcntl.h>

#include <cstdlib>
#include <limits>
#include <sstream>

#include "engine/base/check.h"
#include "tests/process.h"

namespace mote::test::progress_test {
namespace {

constexpr double NaN = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

struct Screen {
  std::ostringstream out;
  double time = 1000;
  ProgressOptions options(int width = 100) {
    ProgressOptions o;
    o.width = width;
    o.every_steps = 10;
    o.clock = [this] { return time; };
    return o;
  }
  std::string take() {
    std::string text = out.str();
    out.str("");
    return text;
  }
};

struct Term {  // TERM for the length of a test
  std::string before = std::getenv("TERM") ? std::getenv("TERM") : "";
  explicit Term(const char* now) { setenv("TERM", now, 1); }
  ~Term() { setenv("TERM", before.c_str(), 1); }
};

}  // namespace

TEST_CASE("format_duration") {
  CHECK(format_duration(0) == "0s");
  CHECK(format_duration(59.9) == "59s");
  CHECK(format_duration(60) == "1m00s");
  CHECK(format_duration(312) == "5m12s");
  CHECK(format_duration(3600) == "1h00m");
  CHECK(format_duration(359999) == "99h59m");
  CHECK(format_duration(360000) == "4d04h");
  CHECK(format_duration(1e300) == "over 1000d");
  CHECK(format_duration(-5) == "0s");
  CHECK(format_duration(NaN) == "?");
  CHECK(format_duration(inf) == "?");
}

TEST_CASE("progress: plain lines") {
  Screen s;
  Progress p(s.out, false, s.options());
  p.update(1, 100, 4.17438, 3e-4);
  CHECK(s.take() == "step 1/100 | loss 4.1744 | lr 3.00e-04\n");
  for (Index step = 2; step < 10; ++step) s.time += 0.5, p.update(step, 100, 4, 3e-4);
  CHECK(s.take() == "");
  s.time += 0.5, p.update(10, 100, 3.5, 1e-3);
  CHECK(s.take() == "step 10/100 | loss 3.5000 | lr 1.00e-03 | 2.0 steps/s | 45s left\n");
  s.time += 9.5, p.update(29, 100, 0, 0);  // a multiple passed by counts
  CHECK(s.take() == "step 29/100 | loss 0.0000 | lr 0.00e+00 | 2.0 steps/s | 35s left\n");
  p.note("validation 3.1");
  p.update(99, 100, 1, 1), s.take();
  p.update(100, 100, 1e-9, 1);
  CHECK(s.take() == "step 100/100 | loss 1.000e-09 | lr 1.00e+00 | 7.1 steps/s | 0s left\n");
  p.finish();
  CHECK(s.take() == "");
  p.update(3, 100, 1, 1), s.take();
  p.update(4, 100, 2, 1), p.finish();  // stopped early: the last word is still heard
  CHECK(s.take() == "step 4/100 | loss 2.0000 | lr 1.00e+00\n");
  p.update(7, 100, 1, 1);  // whatever follows finish() is another run, a larger step too
  CHECK(s.take() == "step 7/100 | loss 1.0000 | lr 1.00e+00\n");
}

TEST_CASE("progress: odd numbers and clocks") {
  Screen s;
  ProgressOptions o = s.options();
  o.every_steps = 0;
  Progress p(s.out, false, o);
  p.update(0, 0, NaN, NaN);
  CHECK(s.take() == "step 0 | loss nan | lr nan\n");
  p.update(1, -3, inf, inf);  // no time has passed
  CHECK(s.take() == "step 1 | loss inf | lr inf\n");
  s.time = 10, p.update(2, 5, -inf, -1);  // the clock went back
  CHECK(s.take() == "step 2/5 | loss -inf | lr -1.00e+00\n");
  s.time = 1000 + 1e7, p.update(3, 1000, 1e300, 1e-300);
  CHECK(s.take() == "step 3/1000 | loss 1.000e+300 | lr 1.00e-300 | 3e-07 steps/s | over 1000d left\n");
  p.update(2000, 1000, -0.5, 1);  // beyond the end
  CHECK(s.take() == "step 2000/1000 | loss -0.5000 | lr 1.00e+00 | 0.0002 steps/s | 0s left\n");
  p.update(1, 1000, 1, 1);  // another run
  CHECK(s.take() == "step 1/1000 | loss 1.0000 | lr 1.00e+00\n");
  s.time += 100, p.update(2, 6000, 1, 1);
  CHECK(s.take() == "step 2/6000 | loss 1.0000 | lr 1.00e+00 | 0.01 steps/s | 6d22h left\n");
}

TEST_CASE("progress: a terminal's line is rewritten and never wraps") {
  const Term xterm("xterm");
  Screen s;
  {
    Progress p(s.out, true, s.options());
    p.update(1, 1000, 4, 1e-3);
    CHECK(s.take() == "\rstep 1/1000 | loss 4.0000 | lr 1.00e-03");
    s.time += 0.0625, p.update(2, 1000, 4, 1e-3);
    CHECK(s.take() == "");  // not yet
    const std::string full = "\rstep 101/1000 | loss 4.0000 | lr 1.00e-03 | 800.0 steps/s | 1s left";
    s.time += 0.0625, p.update(101, 1000, 4, 1e-3);
    CHECK(s.take() == full);
    p.note("hello");
    CHECK(s.take() == "\r" + std::string(67, ' ') + "\rhello\n" + full);
    s.time += 1e5, p.update(101, 0, 4, 1e-3);
    CHECK(s.take() == "\rstep 101 | loss 4.0000 | lr 1.00e-03 | 0.001 steps/s" + std::string(15, ' '));
    p.update(102, 0, 4, 1e-3), p.finish();
    CHECK(s.take().back() == '\n');
    p.finish();
    CHECK(s.take() == "");
    p.update(1, 2, 1, 1), s.take();
  }
  CHECK(s.take() == "\n");  // an exception on its way out leaves a clean line
  for (const int width : {1, 2, 10, 30, 200}) {
    s.take();
    Progress p(s.out, true, s.options(width));
    for (Index step = 1; step <= 3; ++step) {
      s.time += 1, p.update(step, 1000000, 1e-30, 1e-3);
      const std::string line = s.take();
      CHECK(line.front() == '\r');
      CHECK(line.size() - 1 <= static_cast<std::size_t>(std::max(1, width - 1)));
      for (const char c : line.substr(1)) CHECK((c >= ' ' && c <= '~'));
    }
  }
}

TEST_CASE("progress: the norm of the gradient and tokens per second; what has no room goes, the rest stays whole") {
  const Term xterm("xterm");
  const auto line = [](int width, Index tokens) {
    Screen s;
    ProgressOptions o = s.options(width);
    o.tokens_per_step = tokens;
    Progress p(s.out, true, o);
    p.update(1, 1000, 4, 1e-3, 0.5), s.take();
    s.time += 1, p.update(101, 1000, 4, 1e-3, 0.5);
    const std::string text = s.take();
    return text.substr(0, text.find_last_not_of(' ') + 1);  // spaces erase a longer line
  };
  const std::string begin = "\rstep 101/1000 | loss 4.0000 | ";
  CHECK(line(200, 12) == begin + "lr 1.00e-03 | norm 0.5000 | 100.0 steps/s | 1.2k tokens/s | 8s left");
  CHECK(line(200, 2) == begin + "lr 1.00e-03 | norm 0.5000 | 100.0 steps/s | 200.0 tokens/s | 8s left");
  CHECK(line(200, 12345678) == begin + "lr 1.00e-03 | norm 0.5000 | 100.0 steps/s | 1234.6M tokens/s | 8s left");
  CHECK(line(87, 12) == begin + "lr 1.00e-03 | 100.0 steps/s | 1.2k tokens/s | 8s left");
  CHECK(line(80, 12) == begin + "lr 1.00e-03 | 100.0 steps/s | 8s left");
  CHECK(line(60, 12) == begin + "100.0 steps/s | 8s left");
  CHECK(line(45, 12) == begin + "8s left");
  CHECK(line(20, 12) == "\rstep 101/1000");
  CHECK(line(6, 12) == "\rstep");
}

TEST_CASE("progress: by default the clock is the system's and the width the terminal's") {
  const Term xterm("xterm");
  const ProgressOptions defaults;
  CHECK((defaults.width == 0 && defaults.every_steps == 100));
  Screen s;
  Progress p(s.out, true);
  p.update(1, 2, 1, 1);
  CHECK(s.take() == "\rstep 1/2 | loss 1.0000 | lr 1.00e+00");
}

TEST_CASE("progress: a dumb terminal gets lines; errors; widths") {
  const Term dumb("dumb");
  Screen s;
  Progress p(s.out, true, s.options());
  p.update(1, 2, 1, 1);
  CHECK(s.take() == "step 1/2 | loss 1.0000 | lr 1.00e+00\n");
  CHECK_THROWS_AS(Progress(s.out, true, {.width = -1}), Error);
  CHECK_THROWS_AS(Progress(s.out, true, {.every_steps = -1}), Error);
  CHECK(terminal_width() > 0);
  const auto width_elsewhere = [](const char* columns) {  // where neither stdout nor stderr is a terminal
    return in_child([columns] {
      const int nowhere = ::open("/dev/null", O_WRONLY);
      ::dup2(nowhere, STDOUT_FILENO), ::dup2(nowhere, STDERR_FILENO);
      setenv("COLUMNS", columns, 1);
      return terminal_width();
    });
  };
  CHECK(width_elsewhere("57") == "exit 57");
  for (const char* unusable : {"", "0", "-5", "9x"}) CHECK(width_elsewhere(unusable) == "exit 80");
}

}  // namespace mote::test::progress_test
