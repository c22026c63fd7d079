// The index of the engine: arrays, tensors, ops, random numbers, printing.
#pragma once

#include "engine/base/real.h"  // first, so that its error about -ffast-math stands on top

#include "engine/array/array.h"
#include "engine/array/integers.h"
#include "engine/array/random.h"
#include "engine/autograd/op.h"
#include "engine/autograd/print.h"
#include "engine/base/env.h"
#include "engine/base/math.h"
#include "engine/base/parallel.h"
#include "engine/base/run_main.h"
#include "engine/base/version.h"
#include "engine/ops/ops.h"
