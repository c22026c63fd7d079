// write_report: the report of a kept run, from its logs and its settings.
#pragma once

#include "train/run/run.h"

namespace mote {

/// Writes report.html, loss.svg and heads.svg into the folder of a run. No clock is in them: they are the same for one
/// that was interrupted. Errors: a run that is not kept; a log that somebody has changed.
void write_report(const Run& run);

}  // namespace mote
