// Prints shapes, broadcasts them and infers an extent of -1.
#include "engine/base/shape.h"

#include <ostream>

namespace mote {

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << text_of(shape); }

Shape broadcast(const Shape& a, const Shape& b) {
  if (a == b) return a;
  const int rank = std::max(a.rank(), b.rank());
  PerAxis e{};
  for (int i = -1; i >= -rank; --i) {
    const Index x = -i <= a.rank() ? a[i] : 1, y = -i <= b.rank() ? b[i] : 1;
    check_in("broadcast", x == y || x == 1 || y == 1, "shapes ", a, " and ", b, " do not broadcast (axis ", i, ": ", x,
             " against ", y, ")");
    e[rank + i] = x == 1 ? y : x;
  }
  return Shape(e, rank);
}

Shape detail::resolve(const char* name, const Shape& from, std::span<const Index> extents) {
  const int rank = static_cast<int>(extents.size());
  check_in(name, extents.size() <= Shape::max_rank, "rank ", extents.size(), " is above the limit of ",
           Shape::max_rank);
  PerAxis e{};
  int unknown = -1;
  for (int i = 0; i < rank; ++i) {
    e[i] = extents.begin()[i];
    if (e[i] >= 0) continue;
    check_in(name, e[i] == -1, "extent ", e[i], " in ", extents, " must be at least 0, or -1 for one that is inferred");
    check_in(name, unknown < 0, "only one extent may be -1 in ", extents);
    unknown = i;
    e[i] = 1;
  }
  Shape to(e, rank);
  if (unknown >= 0) {
    check_in(name, to.numel() != 0, "-1 in ", extents, " cannot be inferred for shape ", from,
             ": the other extents make 0 elements");
    to = to.with(unknown, from.numel() / to.numel());
  }
  check_in(name, to.numel() == from.numel(), "shape ", from, " has ", from.numel(), " elements and does not fit ",
           extents);
  return to;
}

}  // namespace mote
