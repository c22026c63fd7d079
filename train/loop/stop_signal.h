// StopSignal, which turns Ctrl-C into a flag that a training checks after each step.
#pragma once

namespace mote {

/// While a StopSignal exists, the first SIGINT, SIGTERM or SIGHUP (a closed terminal) only sets a flag. So a training
/// can finish its step, save a checkpoint and say how to resume. A second signal ends the program at once, as it would
/// without a StopSignal. A signal that the program ignores stays ignored, also after the first signal of another kind.
/// Examples are SIGINT in a job that a script runs in the background, and SIGHUP in a job under nohup. Only one
/// StopSignal may exist at a time. A program that has stopped should end as the signal would have ended it, so that
/// its caller sees why; end_by_signal() in examples/programs/program.h does so.
class StopSignal {
 public:
  /// The first signal also writes the text `says` to standard error. The text must outlive the StopSignal.
  explicit StopSignal(const char* says = "");
  ~StopSignal();  ///< restores the signal handlers that the program had before
  StopSignal(const StopSignal&) = delete;

  /// The signal that came since the StopSignal was made: SIGINT, SIGTERM or SIGHUP. 0: no signal came, or no
  /// StopSignal exists.
  static int received();
};

}  // namespace mote
