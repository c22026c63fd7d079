// The version, which the build knows.
#include "engine/base/version.h"

namespace mote {

const char* version() { return MOTE_VERSION; }

}  // namespace mote
