// Progress, the line that shows how far training has come; durations as text.
#pragma once

#include <functional>
#include <optional>
#include <ostream>
#include <string>

#include "engine/base/argument.h"

namespace mote {

/// "42s", "5m12s", "3h05m", from 100 hours on "4d04h", "over 1000d". Below 0 counts as 0; NaN and infinity are "?".
std::string format_duration(Real seconds);

/// Columns of the terminal that this program writes to: as the terminal reports, else the variable COLUMNS, else 80.
int terminal_width();

struct ProgressOptions {
  int width = 0;                       ///< columns of the terminal; 0: terminal_width(), queried for each line
  Index every_steps = 100;             ///< not on a terminal: a line at each multiple of this; 0: at every step
  Index tokens_per_step = 0;           ///< 0: tokens per second are not shown
  std::function<double()> clock = {};  ///< seconds since any moment; empty: the system's steady clock
};

/// Prints "step 1200/5000 | loss 1.2345 | lr 3.00e-04 | norm 0.52 | 12.3 steps/s | 45.2k tokens/s | 5m12s left" to
/// `out`: on a terminal one line that rewrites itself ten times a second, without what does not fit; elsewhere a line
/// now and then. The text is plain ASCII without colours or escape codes, so NO_COLOR has nothing to switch off;
/// TERM=dumb selects lines. Rates are averages since the first update.
class Progress {
 public:
  /// Errors: options below 0.
  Progress(std::ostream& out, Flag terminal, ProgressOptions options = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `step` steps of `total` are done (total 0 or below: unknown); `grad_norm` is the norm of the gradient, if it is to
  /// be shown. The first and the last are always printed.
  void update(Integer step, Integer total, Real loss, Real learning_rate, std::optional<Real> grad_norm = {});
  /// Prints a line of the caller's, such as a validation loss, without breaking the progress line.
  void note(const std::string& line);
  /// Prints the last update if it is pending, and ends the line. Further updates begin a new run.
  void finish();

 private:
  double now();
  std::string text(double time, std::size_t room) const;
  void write(double time);

  std::ostream& out_;
  bool terminal_;
  ProgressOptions options_;
  bool started_ = false, pending_ = false;  // pending: the newest update is not printed yet
  Index first_step_ = 0, written_step_ = 0;
  double first_time_ = 0, written_time_ = 0, newest_time_ = 0;
  Index step_ = 0, total_ = 0;
  double loss_ = 0, learning_rate_ = 0;
  std::optional<double> grad_norm_;
  std::size_t shown_ = 0;  // characters of the line that a terminal shows now
};

}  // namespace mote
