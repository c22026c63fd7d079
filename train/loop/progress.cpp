// The text of a progress line, and when to print it.
#include "train/loop/progress.h"

#include <algorithm>
#include <cmath>
#include <vector>

#ifdef __unix__
#include <sys/ioctl.h>
#include <unistd.h>
#endif

#include "engine/base/number_text.h"

namespace mote {
namespace {

std::string loss_text(double x) {
  const bool plain = x == 0 || (std::abs(x) >= 1e-3 && std::abs(x) < 1e6);
  return plain ? fixed_text(x, 4) : scientific_text(x, 3);
}

/// A number as 950.0, 45.2k or 1.3M.
std::string thousands_text(double x) {
  if (x >= 1e6) return fixed_text(x / 1e6, 1) + "M";
  if (x >= 1e3) return fixed_text(x / 1e3, 1) + "k";
  return fixed_text(x, 1);
}

/// A duration as 42s, 5m12s or 3h05m.
std::string duration_text(double seconds) {
  const auto two_digits = [](long long n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  const long long s = static_cast<long long>(std::min(seconds, 1e12));
  const long long m = s / 60;
  if (s < 60) return std::to_string(s) + "s";
  if (m < 60) return std::to_string(m) + "m" + two_digits(s % 60) + "s";
  return std::to_string(m / 60) + "h" + two_digits(m % 60) + "m";
}

/// Columns of the terminal that this program writes to, 80 if unknown.
int terminal_width() {
#ifdef __unix__
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
#endif
  return 80;
}

}  // namespace

std::string progress_text(const StepReport& newest, Real steps_per_second, Integer tokens_per_step, std::size_t room) {
  const double rate = steps_per_second;
  std::vector<std::string> fields{"step " + std::to_string(newest.step + 1) + "/" + std::to_string(newest.steps),
                                  "loss " + loss_text(newest.loss), "lr " + scientific_text(newest.learning_rate, 2),
                                  "norm " + loss_text(newest.grad_norm)};
  if (rate > 0) {
    fields.push_back(duration_text(static_cast<double>(newest.steps - newest.step - 1) / rate) + " left");
    fields.push_back(thousands_text(rate * static_cast<double>(tokens_per_step)) + " tokens/s");
  }

  std::string line = fields[0].substr(0, room);
  for (std::size_t i = 1; i < fields.size() && line.size() + 3 + fields[i].size() <= room; ++i)
    line += " | " + fields[i];
  return line;
}

Progress::Progress(std::ostream& out, Flag terminal, Integer every_steps, Integer tokens_per_step)
    : out_(out),
      terminal_(terminal),
      every_steps_(std::max<Index>(1, every_steps)),
      tokens_per_step_(tokens_per_step) {}

Progress::~Progress() {
  try {
    if (shown_ > 0) out_ << '\n' << std::flush;  // so that an error message starts on its own line
  } catch (...) {                                // a stream that throws must not end the program
  }
}

void Progress::update(const StepReport& report) {
  const bool first = !newest_;
  newest_ = report;
  newest_time_ = std::chrono::steady_clock::now();
  pending_ = true;
  if (first) {
    first_step_ = report.step;
    first_time_ = newest_time_;
  }

  const Index taken = report.step + 1;
  const bool due =
      terminal_ ? newest_time_ - written_time_ >= std::chrono::milliseconds(100) : taken % every_steps_ == 0;
  if (first || taken == report.steps || due) write();
}

void Progress::write() {
  const double seconds = std::chrono::duration<double>(newest_time_ - first_time_).count();
  const double rate = seconds > 0 ? static_cast<double>(newest_->step - first_step_) / seconds : 0;
  if (terminal_) {
    // Leave one column free, because many terminals wrap as soon as the last column is filled.
    const std::size_t room = static_cast<std::size_t>(std::max(1, terminal_width() - 1));
    std::string line = progress_text(*newest_, rate, tokens_per_step_, room);
    const std::size_t now_shown = line.size();
    line.resize(std::max(line.size(), std::min(shown_, room)), ' ');  // erases the rest of the previous line
    shown_ = now_shown;
    out_ << '\r' << line << std::flush;
  } else {
    out_ << progress_text(*newest_, rate, tokens_per_step_, std::string::npos) << '\n' << std::flush;
  }
  pending_ = false;
  written_time_ = newest_time_;
}

void Progress::note(const std::string& line) {
  if (shown_ > 0) out_ << '\r' << std::string(shown_, ' ') << '\r';
  shown_ = 0;
  out_ << line << '\n' << std::flush;
  if (terminal_ && newest_) write();
}

void Progress::finish() {
  if (pending_) write();
  if (shown_ > 0) out_ << '\n' << std::flush;
  shown_ = 0;
}

}  // namespace mote
