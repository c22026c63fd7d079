// What is here: doctest's main.
// What is not: tests; they mirror the tree, tests/engine/ops/norm_test.cpp testing engine/ops/norm.h.
// Read next: support.h.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
