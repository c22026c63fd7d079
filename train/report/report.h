// The report of a run, made from its folder alone.
#pragma once

#include <string>

#include "train/run/run.h"

namespace mote {

/// Writes report.html, loss.svg and learning.svg into the folder of a run. The run may have ended, may have been
/// stopped or killed, or may still train. The files contain no times, so a run that was interrupted and resumed writes
/// the same files as one that was not. Errors: there is no run in the folder; a log that somebody has changed.
void write_report(const std::string& folder);
/// Writes the report of a run that has a folder. Errors: the run has no folder.
inline void write_report(const Run& run) { write_report(run.folder().path()); }

}  // namespace mote
