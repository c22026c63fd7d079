// What an Op tells its thread's observer: kept out of line, since nearly always nobody listens.
#include "engine/autograd/observer.h"

#include "engine/autograd/op.h"

namespace mote {

void Op::tell_opened() {
  try {
    thread_context.observer->op_opened(*this);
  } catch (...) {  // from the constructor: there will be no destructor to do this
    thread_context.op = outer_;
    throw;
  }
}

void Op::tell_recorded(const Array& value) const {
  std::vector<const Array*> inputs;
  for (std::size_t i = 0; i < count_; ++i)
    if (array(i).defined()) inputs.push_back(&array(i));
  thread_context.observer->op_recorded(*this, inputs, value);
}

}  // namespace mote
