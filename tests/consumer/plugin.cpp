// A function of a shared library in which mote computes.
#include "engine/engine.h"
#include "engine/own.h"
#include "nn/own.h"
#include "tests/own.h"
#include "train/own.h"

[[gnu::visibility("default")]] void wrong_shapes();
void wrong_shapes() { mote::ones({2, 3 * own_engine}) + mote::ones({2, 4 * own_nn * own_train * own_tests}); }
