// The text of a progress line, and when to print it.
#include "train/loop/progress.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <vector>

#ifdef __unix__
#include <sys/ioctl.h>
#include <unistd.h>
#endif

#include "engine/base/check.h"
#include "engine/base/number_text.h"

namespace mote {
namespace {

std::string loss_text(double x) {
  const bool plain = x == 0 || (std::abs(x) >= 1e-3 && std::abs(x) < 1e6);
  return plain ? fixed_text(x, 4) : scientific_text(x, 3);
}

std::string rate_text(double x) {
  const bool plain = x >= 1 && x < 1e6;
  return plain ? fixed_text(x, 1) : general_text(x, 3);
}

/// 950, 45.2k, 1.3M.
std::string thousands_text(double x) {
  if (!(x >= 1000)) return rate_text(x);
  const bool millions = x >= 1e6;
  return rate_text(x / (millions ? 1e6 : 1e3)) + (millions ? "M" : "k");
}

/// 3, 'h', 5, 'm' as "3h05m".
std::string two_units(long long large, char large_unit, long long small, char small_unit) {
  std::string text = std::to_string(large) + large_unit;
  if (small < 10) text += '0';
  return text + std::to_string(small) + small_unit;
}

}  // namespace

std::string format_duration(Real duration) {
  const double seconds = duration;
  if (!std::isfinite(seconds)) return "?";
  if (seconds >= 1000.0 * 24 * 3600) return "over 1000d";
  const long long s = static_cast<long long>(std::max<double>(0, seconds)), m = s / 60, h = m / 60, d = h / 24;
  if (s < 60) return std::to_string(s) + "s";
  if (h < 1) return two_units(m, 'm', s % 60, 's');
  if (h < 100) return two_units(h, 'h', m % 60, 'm');
  return two_units(d, 'd', h % 24, 'h');
}

int terminal_width() {
#ifdef __unix__
  for (const int file : {STDOUT_FILENO, STDERR_FILENO}) {
    winsize size{};
    if (isatty(file) && ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  }
#endif
  if (const char* const text = std::getenv("COLUMNS")) {
    int columns = 0;
    const std::string_view all(text);
    const auto end = std::from_chars(all.data(), all.data() + all.size(), columns).ptr;
    if (end == all.data() + all.size() && columns > 0) return columns;
  }
  return 80;
}

Progress::Progress(std::ostream& out, Flag terminal, ProgressOptions options)
    : out_(out), terminal_(terminal), options_(std::move(options)) {
  check_in("Progress", options_.width >= 0 && options_.every_steps >= 0, "width ", options_.width, " and every_steps ",
           options_.every_steps, " must be at least 0");
  const char* const term = std::getenv("TERM");
  if (term && std::string_view(term) == "dumb") terminal_ = false;
}

Progress::~Progress() {
  try {
    if (shown_ > 0) out_ << '\n' << std::flush;  // so that an error message starts on its own line
  } catch (...) {                                // a stream that throws must not end the program
  }
}

/// The clock, which never runs backwards.
double Progress::now() {
  const double time = options_.clock
                          ? options_.clock()
                          : std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  if (!started_ || time > newest_time_) newest_time_ = time;
  return newest_time_;
}

void Progress::update(Integer step, Integer total, Real loss, Real learning_rate, std::optional<Real> grad_norm) {
  const double time = now();
  const bool begins = !started_ || step < step_;  // a smaller step begins another run
  if (begins) first_step_ = step, first_time_ = time;
  started_ = true;
  pending_ = true;
  step_ = step, total_ = total, loss_ = loss, learning_rate_ = learning_rate, grad_norm_ = grad_norm;
  const Index every = std::max<Index>(1, options_.every_steps);
  const bool due = terminal_ ? time - written_time_ >= 0.1 : step / every != written_step_ / every;
  if (begins || step == total || due) write(time);
}

std::string Progress::text(double time, std::size_t room) const {
  struct Item {
    std::string text;
    int rank;  // which goes first where there is no room for all: the highest
  };
  const std::string of = total_ > 0 ? "/" + std::to_string(total_) : "";
  std::vector<Item> items{{"step " + std::to_string(step_) + of, 0},
                          {"loss " + loss_text(loss_), 1},
                          {"lr " + scientific_text(learning_rate_, 2), 4}};
  if (grad_norm_) items.push_back({"norm " + loss_text(*grad_norm_), 6});
  const double rate = static_cast<double>(step_ - first_step_) / (time - first_time_);
  if (rate > 0 && std::isfinite(rate)) {  // else it is the first update, or a stopped clock
    items.push_back({rate_text(rate) + " steps/s", 3});
    const double tokens = rate * static_cast<double>(options_.tokens_per_step);
    if (tokens > 0) items.push_back({thousands_text(tokens) + " tokens/s", 5});
    if (total_ > 0)
      items.push_back({format_duration(static_cast<double>(std::max<Index>(0, total_ - step_)) / rate) + " left", 2});
  }
  while (true) {
    std::string line;
    for (const Item& item : items) line += (line.empty() ? "" : " | ") + item.text;
    if (line.size() <= room || items.size() == 1) return line.substr(0, room);
    items.erase(
        std::max_element(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.rank < b.rank; }));
  }
}

void Progress::write(double time) {
  if (terminal_) {
    // Leave one column free: many terminals wrap as soon as the last column is filled.
    const int width = options_.width > 0 ? options_.width : terminal_width();
    const std::size_t room = static_cast<std::size_t>(std::max(1, width - 1));
    std::string line = text(time, room);
    const std::size_t now_shown = line.size();
    line.resize(std::max(line.size(), std::min(shown_, room)), ' ');  // erases the rest of the previous line
    shown_ = now_shown;
    out_ << '\r' << line << std::flush;
  } else {
    out_ << text(time, std::string::npos) << '\n' << std::flush;
  }
  pending_ = false;
  written_step_ = step_;
  written_time_ = time;
}

void Progress::note(const std::string& line) {
  if (shown_ > 0) out_ << '\r' << std::string(shown_, ' ') << '\r';
  shown_ = 0;
  out_ << line << '\n' << std::flush;
  if (terminal_ && started_) write(newest_time_);
}

void Progress::finish() {
  if (pending_) write(newest_time_);
  if (shown_ > 0) out_ << '\n' << std::flush;
  shown_ = 0;
  started_ = false;
}

}  // namespace mote
