// What is here: what an Op tells its thread's observer: kept out of line, since nearly always nobody listens.
// What is not: Observer itself (observer.h).
// Read next: ../nn/trace.cpp, which listens.
#include "engine/observer.h"

#include "engine/tensor.h"

namespace mote {

void Op::tell_opened() {
  try {
    place::observer->op_opened(*this);
  } catch (...) {  // from the constructor: there will be no destructor to do this
    place::op = outer_;
    throw;
  }
}

void Op::tell_recorded(const Array& value) const {
  std::vector<const Array*> inputs;
  for (std::size_t i = 0; i < count_; ++i)
    if (array(i).defined()) inputs.push_back(&array(i));
  place::observer->op_recorded(*this, inputs, value);
}

}  // namespace mote
