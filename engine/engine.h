// What is here: the index of the engine: arrays, tensors, ops, random numbers, printing, gradient checks.
// What is not: layers (nn/nn.h), models (models/models.h), training (train/train.h).
// Read next: array.h, tensor.h, then ops/arithmetic.h.
#pragma once

#include "engine/array.h"
#include "engine/env.h"
#include "engine/gradcheck.h"
#include "engine/math.h"
#include "engine/ops/ops.h"
#include "engine/parallel.h"
#include "engine/print.h"
#include "engine/random.h"
#include "engine/tensor.h"
