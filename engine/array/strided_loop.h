// StridedLoop: a parallel loop over the elements of one or two layouts of the same shape.
#pragma once

#include "engine/base/layout.h"
#include "engine/base/parallel.h"

namespace mote::detail {

/// The axes of one element-wise loop over up to two inputs. Axes of extent 1 are dropped, and axes that have no gaps
/// between them in any input are joined. So most loops have one axis, and the others have as few as possible.
struct StridedLoop {
  int rank = 0;
  PerAxis extent{}, sa{}, sb{};

  StridedLoop(const Shape& shape, const Strides& a, const Strides& b) {
    for (int i = 0; i < shape.rank(); ++i) {
      const int last = rank - 1;
      const Index n = shape[i];
      if (n == 1) continue;
      if (rank > 0 && sa[last] == a[i] * n && sb[last] == b[i] * n) {
        extent[last] *= n;
        sa[last] = a[i];
        sb[last] = b[i];
      } else {
        extent[rank] = n;
        sa[rank] = a[i];
        sb[rank] = b[i];
        ++rank;
      }
    }
    if (rank == 0) {
      rank = 1;
      extent[0] = 1;
    }
  }

  Index inner() const { return extent[rank - 1]; }
  Index inner_a() const { return sa[rank - 1]; }
  Index inner_b() const { return sb[rank - 1]; }

  /// Calls body(offset_a, offset_b, position in the output, count) for every run along the innermost axis. An element
  /// takes about `nanoseconds`. The runs are shared between threads if the whole loop takes long enough.
  template <class Body>
  void run(Index numel, double nanoseconds, Body body) const {
    if (numel == 0) return;
    const Index n = inner();
    if (rank == 1) {
      parallel_for(n, grain_for(nanoseconds), [&](Index lo, Index hi) { body(lo * sa[0], lo * sb[0], lo, hi - lo); });
      return;
    }
    constexpr double row = 5;  // nanoseconds that a run takes in addition to its elements
    parallel_for(numel / n, grain_for(row + nanoseconds * static_cast<double>(n)), [&](Index lo, Index hi) {
      PerAxis at{};  // positions on the outer axes, counted up like an odometer
      Index left = lo, oa = 0, ob = 0;
      for (int i = rank - 2; i >= 0; --i) {
        at[i] = left % extent[i];
        oa += at[i] * sa[i];
        ob += at[i] * sb[i];
        left /= extent[i];
      }
      for (Index row = lo; row < hi; ++row) {
        body(oa, ob, row * n, n);
        for (int i = rank - 2; i >= 0; --i) {
          oa += sa[i];
          ob += sb[i];
          if (++at[i] < extent[i]) break;
          oa -= at[i] * sa[i];
          ob -= at[i] * sb[i];
          at[i] = 0;
        }
      }
    });
  }
};

}  // namespace mote::detail
