// The header to include for the engine: arrays, tensors, ops, random numbers and printing.
#pragma once

#include "engine/base/real.h"  // first, so that the compiler reports its error about -ffast-math before any other

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
