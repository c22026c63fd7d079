// The version number, which the build defines.
#include "engine/base/version.h"

namespace mote {

const char* version() { return MOTE_VERSION; }

}  // namespace mote
