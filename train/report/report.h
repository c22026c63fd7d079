// The report of a run, made from its folder alone.
#pragma once

#include <string>

#include "train/run/run.h"

namespace mote {

/// Writes report.html, loss.svg and learning.svg into the folder of a run, which may have been stopped or killed, or
/// train still. No clock is in them: they are the same for a run that was interrupted. Errors: there is no run; a log
/// that somebody has changed.
void write_report(const std::string& folder);
/// The same of a run that is kept. Errors: it is not.
inline void write_report(const Run& run) { write_report(run.folder().path()); }

}  // namespace mote
