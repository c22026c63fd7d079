// Progress, the line that shows how far training has come.
#pragma once

#include <chrono>
#include <optional>
#include <ostream>
#include <string>

#include "engine/base/argument.h"
#include "train/loop/fit.h"

namespace mote {

/// A step's progress line, "step 1200/5000 | loss 1.2345 | lr 3.00e-04 | norm 0.5234 | 5m12s left | 45.2k tokens/s".
///
/// The text has at most `room` characters. Fields at its end that do not fit are left out. A steps_per_second of 0
/// means that the rate is not known yet. Then the time left and the tokens per second are left out.
std::string progress_text(const StepReport& newest, Real steps_per_second, Integer tokens_per_step, std::size_t room);

/// Prints progress_text() to `out`. On a terminal the text is one line, which is rewritten up to ten times a second.
/// Elsewhere a new line is printed every `every_steps` steps. The text is plain ASCII without colours. The rate of
/// steps is an average since the first update.
class Progress {
 public:
  /// `every_steps` has an effect only if `out` is not a terminal. 0 prints a line at every step.
  Progress(std::ostream& out, Flag terminal, Integer every_steps, Integer tokens_per_step);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Reports that a step was taken. The first and the last step are always printed.
  void update(const StepReport& report);
  /// Prints a line of text, such as a validation loss, without breaking the progress line.
  void note(const std::string& line);
  /// Prints the last update if it is pending, and ends the line.
  void finish();

 private:
  using Time = std::chrono::steady_clock::time_point;
  void write();

  std::ostream& out_;
  bool terminal_;
  Index every_steps_, tokens_per_step_;
  std::optional<StepReport> newest_;
  bool pending_ = false;  // the newest update is not printed yet
  Index first_step_ = 0;
  Time first_time_, newest_time_, written_time_;
  std::size_t shown_ = 0;  // characters of the line that a terminal shows now
};

}  // namespace mote
