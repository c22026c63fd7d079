// What lessons share: a claim is a sentence that makes the program fail when it is untrue.
#pragma once

#include <cstdio>
#include <string>

#include "engine/autograd/tensor.h"
#include "engine/io/files/file.h"
#include "examples/program.h"

inline bool all_claims_hold = true;

/// Prints a sentence that the lines above have shown. If they have not, says so, and the lesson ends with exit code 1.
inline void claim(bool holds, const std::string& sentence) {
  std::printf("%s %s\n", holds ? "  =>" : "  UNTRUE:", sentence.c_str());
  all_claims_hold = all_claims_hold && holds;
}

/// The number in a tensor of one element.
inline double number(const mote::Tensor& x) { return static_cast<double>(x.item()); }

/// The main() of a lesson that draws pictures, if it is given a file for them.
inline int run_lesson(int argc, char** argv, void (*lesson)(const char* file)) {
  return run_program(argv[0], [=] {
    lesson(argc > 1 ? argv[1] : nullptr);
    return all_claims_hold ? 0 : 1;
  });
}
/// The main() of a lesson.
inline int run_lesson(const char* name, void (*lesson)()) {
  return run_program(name, [lesson] {
    lesson();
    return all_claims_hold ? 0 : 1;
  });
}
