// The version of the library with which a program is linked.
#pragma once

namespace mote {

/// The version in CMakeLists.txt, such as "0.1.0". train/CHANGES.md lists how each version changed file formats and the
/// bits of results.
const char* version();

}  // namespace mote
