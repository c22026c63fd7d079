// Which mote a program is linked with.
#pragma once

namespace mote {

/// "0.1.0": what CMakeLists.txt calls it. train/CHANGES.md says what each version changed in files and bits.
const char* version();

}  // namespace mote
