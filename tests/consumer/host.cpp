// A program that knows mote's errors, and gets one from a shared library.
#include <string>

#include "engine/base/check.h"

void wrong_shapes();

int main() {
  try {
    wrong_shapes();
  } catch (const mote::Error& e) {
    return e.what() == std::string("add: shapes [2, 3] and [2, 4] do not broadcast (axis -1: 3 against 4)") ? 0 : 2;
  }
  return 1;
}
