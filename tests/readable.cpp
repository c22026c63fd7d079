// Reads every safetensors file it is given to its last byte, with checksums. Exit code 1 and a sentence for one that is
// not whole.
#include <cstdio>

#include "engine/io/files/safetensors.h"
#include "tests/sources.h"

int main(int argc, char** argv) {
  try {
    for (int i = 1; i < argc; ++i) {
      const mote::SafetensorsFile file(argv[i]);
      mote::check(file.has_checksums(), argv[i], " has no checksums");
      mote::check_all(file);
    }
  } catch (const mote::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
