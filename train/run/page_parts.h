// The fixed parts of a report's page: its style, and the script that draws what heads look at.
#pragma once

namespace mote::detail {

extern const char* const report_style;
extern const char* const report_script;

}  // namespace mote::detail
