// Includes all headers that look at tensors and ops: costs, profiles, gradchecks, graphs as text and pictures,
// health.
#pragma once

#include "engine/watch/costs.h"
#include "engine/watch/gradcheck.h"
#include "engine/watch/graph_picture.h"
#include "engine/watch/graph_text.h"
#include "engine/watch/health.h"
#include "engine/watch/profile.h"
