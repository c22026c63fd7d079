// What lessons share: a claim is a sentence that makes the program fail when it is untrue.
#pragma once

#include <cstdio>
#include <string>

#include "engine/autograd/tensor.h"
#include "examples/program.h"

inline bool all_claims_hold = true;

/// Prints a sentence that the lines above have shown. If they have not, says so, and the lesson ends with exit code 1.
inline void claim(bool holds, const std::string& sentence) {
  std::printf("%s %s\n", holds ? "  =>" : "  UNTRUE:", sentence.c_str());
  all_claims_hold = all_claims_hold && holds;
}

/// The number in a tensor of one element.
inline double number(const mote::Tensor& x) { return static_cast<double>(x.item()); }

/// x.shape as PyTorch prints it.
inline std::string size(const mote::Tensor& x) { return "torch.Size(" + mote::text_of(x.shape()) + ")"; }

/// The main() of a lesson.
inline int run_lesson(const char* name, void (*lesson)()) {
  return run_program(name, [lesson] {
    lesson();
    return all_claims_hold ? 0 : 1;
  });
}
