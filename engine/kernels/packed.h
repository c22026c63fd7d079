// A weight in the order in which a product of a few rows reads it.
#pragma once

#include "engine/base/real.h"

namespace mote::kernels {

/// W [n, k] in panels of `width` outputs, each [k, width]. Owns nothing.
struct PackedWeight {
  Index n, k, width;
  const real* panels;
};

/// The width of the panels under the table in use: whole vectors of 16, so that packing writes nothing beyond a panel.
Index packed_width(Index n);
/// Elements of all panels.
Index packed_numel(Index n, Index k);
/// Packs w [n, k], contiguous.
PackedWeight pack_weight(Index n, Index k, const real* w, real* panels);

/// C = A W^T + bias: A [m, k] and C [m, n], contiguous; bias [n] or null; k at least 1. The bits of gemm(). For a few
/// rows: A's are multiplied three or more at a time, and each time W passes.
void multiply_packed(Index m, const real* a, const PackedWeight& w, const real* bias, real* c);

}  // namespace mote::kernels
