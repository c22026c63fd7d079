// The index of the engine: arrays, tensors, ops, random numbers, printing, gradient checks. Files and pictures have
// doors of their own in engine/io.
#pragma once

#include "engine/base/real.h"  // first, so that its error about -ffast-math stands on top

#include "engine/array/array.h"
#include "engine/array/random.h"
#include "engine/autograd/gradcheck.h"
#include "engine/autograd/graph_text.h"
#include "engine/autograd/op.h"
#include "engine/base/env.h"
#include "engine/base/math.h"
#include "engine/base/parallel.h"
#include "engine/io/print.h"
#include "engine/ops/ops.h"
