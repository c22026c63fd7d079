// A program that knows mote's errors, and gets them from two shared libraries, of mote and of mote_f64.
#include <string>

#include "engine/base/check.h"

void float_wrong_shapes();
void double_wrong_shapes();
double float_third();
double double_third();

namespace {

bool says_what_is_wrong(void (*wrong_shapes)()) {
  try {
    wrong_shapes();
  } catch (const mote::Error& e) {
    return e.what() == std::string("add: shapes [2, 3] and [2, 4] do not broadcast (axis -1: 3 against 4)");
  }
  return false;
}

}  // namespace

int main() {
  for (int i = 0; i < 3; ++i) {
    if (!says_what_is_wrong(float_wrong_shapes) || !says_what_is_wrong(double_wrong_shapes)) return 1;
    if (float_third() != static_cast<double>(1.0F / 3) || double_third() != 1.0 / 3) return 2;
  }
  return 0;
}
