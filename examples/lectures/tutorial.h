// The functions that the tutorials on attention share: claims, and the cost of attention.
#pragma once

#include "examples/lectures/lecture.h"
#include "examples/lessons/lesson.h"
#include "nn/trace.h"

/// x.shape as PyTorch prints it.
inline std::string size(const mote::Tensor& x) { return mote::size_text(x.shape()); }

/// The multiply-adds of all matrix products in attention(x, x, x).
mote::Index multiply_adds(const auto& attention, const mote::Tensor& x) {
  const mote::Trace trace;
  attention(x, x, x);
  mote::Index total = 0;
  for (const mote::TraceEvent& e : trace.events())
    if (e.name == "linear" || e.name == "matmul") total += e.flops / 2;
  return total;
}
