// The index of what looks at tensors and ops: observers, gradchecks, graphs as text and pictures, profiles, limits.
#pragma once

#include "engine/watch/gradcheck.h"
#include "engine/watch/graph_picture.h"
#include "engine/watch/graph_text.h"
#include "engine/watch/health.h"
#include "engine/watch/limits.h"
#include "engine/watch/observer.h"
#include "engine/watch/profile.h"
