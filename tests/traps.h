// raised, the floating-point exceptions of a piece of code, where the platform can tell.
#pragma once

#include <fenv.h>

namespace mote::test {

#ifdef FE_DIVBYZERO
/// The exceptions among division by zero and invalid that f raises, without traps that a program may set on them.
template <class F>
int raised(const F& f) {
  feclearexcept(FE_ALL_EXCEPT);
  f();
  return fetestexcept(FE_DIVBYZERO | FE_INVALID);
}
#endif

}  // namespace mote::test
