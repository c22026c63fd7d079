// The index of all layers.
#pragma once

#include "nn/activation.h"
#include "nn/attention.h"
#include "nn/dropout.h"
#include "nn/embedding.h"
#include "nn/feed_forward.h"
#include "nn/init.h"
#include "nn/kv_cache.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"
#include "nn/module.h"
#include "nn/norm.h"
#include "nn/position.h"
#include "nn/rms_norm.h"
#include "nn/sequential.h"
#include "nn/trace.h"
#include "nn/transformer_block.h"
