// Progress, the line that shows how far training has come.
#pragma once

#include <chrono>
#include <optional>
#include <ostream>
#include <string>

#include "engine/base/argument.h"
#include "train/loop/fit.h"

namespace mote {

/// "step 1200/5000 | loss 1.2345 | lr 3.00e-04 | norm 0.5234 | 5m12s left | 45.2k tokens/s" of the newest step.
///
/// The text has at most `room` characters: fields that do not fit are left out at its end. A rate of 0 is one that is
/// not known yet: then time and tokens are left out.
std::string progress_text(const StepReport& newest, Real steps_per_second, Integer tokens_per_step, std::size_t room);

/// Prints progress_text() to `out`. A terminal shows one line, which rewrites itself ten times a second. Elsewhere a
/// line comes now and then. The text is plain ASCII without colours. The rate is an average since the first update.
class Progress {
 public:
  /// Elsewhere than on a terminal a line comes at each multiple of `every_steps`, for 0 at every step.
  Progress(std::ostream& out, Flag terminal, Integer every_steps, Integer tokens_per_step);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A step was taken. The first and the last are always printed.
  void update(const StepReport& report);
  /// Prints a line of the caller's, such as a validation loss, without breaking the progress line.
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
