// Copies strided elements of any type.
#include "engine/array/strided.h"

#include <cstdint>
#include <cstring>

#include "engine/array/strided_loop.h"

namespace mote {
namespace {

template <class T>
void copy_run(const T* x, Index stride, T* y, Index n) {
  if (stride == 1 && n > 64) {  // for fewer elements, the call of memcpy costs more than the copy
    std::memcpy(y, x, static_cast<std::size_t>(n) * sizeof(T));
  } else if (stride == 1) {
    for (Index i = 0; i < n; ++i) y[i] = x[i];
  } else if (stride == 0) {
    std::fill_n(y, n, *x);
  } else {
    for (Index i = 0; i < n; ++i) y[i] = x[i * stride];
  }
}

}  // namespace

void detail::no_memory(const char* who, const Shape& shape) { fail_with(who, "no memory for shape ", shape); }

template <class T>
void detail::copy_elements(const T* from, const Layout& layout, T* to) {
  const StridedLoop loop(layout.shape(), layout.strides(), layout.strides());
  loop.run(layout.numel(), 0.5,
           [&](Index offset, Index, Index at, Index n) { copy_run(from + offset, loop.inner_a(), to + at, n); });
}

template void detail::copy_elements(const real*, const Layout&, real*);
template void detail::copy_elements(const Index*, const Layout&, Index*);
template void detail::copy_elements(const std::uint8_t*, const Layout&, std::uint8_t*);

}  // namespace mote
