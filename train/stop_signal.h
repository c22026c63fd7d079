// StopSignal, which turns Ctrl-C into a question that a training asks after each step.
#pragma once

namespace mote {

/// While one lives, the first SIGINT or SIGTERM only raises a flag, so that a training can end its step, save and say how
/// to go on; the second ends the program at once, as without it. A signal that the program ignores, as SIGINT of a job
/// that a script runs in the background, stays ignored. Make one at a time.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();  ///< what the program did about the signals before, it does again
  StopSignal(const StopSignal&) = delete;

  /// The signal that came since the last one was made, SIGINT or SIGTERM; 0: none.
  static int received();
  /// Ends the program as the signal would have, so that its caller sees why: exit code 130 or 143 in a shell.
  [[noreturn]] static void end_program();
};

}  // namespace mote
