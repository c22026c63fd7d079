// What is here: the index of all ops; one header per family, forward and backward side by side.
// What is not: layers (nn/).
// Read next: arithmetic.h, the shortest family.
#pragma once

#include "engine/ops/activation.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/attention.h"
#include "engine/ops/compare.h"
#include "engine/ops/create.h"
#include "engine/ops/dropout.h"
#include "engine/ops/embedding.h"
#include "engine/ops/index.h"
#include "engine/ops/loss.h"
#include "engine/ops/masks.h"
#include "engine/ops/matmul.h"
#include "engine/ops/norm.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rotary.h"
#include "engine/ops/sample.h"
#include "engine/ops/softmax.h"
#include "engine/ops/unary.h"
#include "engine/ops/view.h"
