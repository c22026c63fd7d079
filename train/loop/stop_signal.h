// StopSignal, which turns Ctrl-C into a question that a training asks after each step.
#pragma once

namespace mote {

/// While one lives, the first SIGINT, SIGTERM or SIGHUP (a closed terminal) only raises a flag. So a training can end
/// its step, save and say how to go on. The second signal ends the program at once, as without it. A signal that the
/// program ignores stays ignored, also after the first of another kind: SIGINT of a job that a script runs in the
/// background, SIGHUP of one under nohup. Make one at a time. A program that has stopped should end as the signal would
/// have ended it, so that its caller sees why: end_by_signal() in examples/programs/program.h.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();  ///< what the program did about the signals before, it does again
  StopSignal(const StopSignal&) = delete;

  /// The signal that came since it was made, SIGINT, SIGTERM or SIGHUP; 0: none, or no StopSignal lives.
  static int received();
};

}  // namespace mote
