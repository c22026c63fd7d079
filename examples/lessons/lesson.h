// The functions that all lessons share. A claim is a sentence that makes the program fail if it is untrue.
#pragma once

#include <cstdio>
#include <functional>
#include <string>

#include "engine/autograd/tensor.h"
#include "engine/io/files/file.h"
#include "examples/programs/program.h"

inline bool all_claims_hold = true;

/// Prints a claim of the lesson, marked as UNTRUE if `holds` is false. After an untrue claim the lesson goes on, but
/// its exit code will be 1.
inline void claim(bool holds, const std::string& sentence) {
  std::printf("%s %s\n", holds ? "  =>" : "  UNTRUE:", sentence.c_str());
  all_claims_hold = all_claims_hold && holds;
}

/// The number in a tensor of one element.
inline double number(const mote::Tensor& x) { return static_cast<double>(x.item()); }

/// The main() of a lesson that draws a picture if the command line names a file for it. `words` are the words that
/// the lesson explains, which are headings of words.md.
inline int run_lesson(int argc, char** argv, const std::function<void(const char* file)>& lesson,
                      const char* words = nullptr) {
  return mote::run_program(argv[0], [&] {
    if (argc > 2 || (argc == 2 && argv[1][0] == '-'))
      throw mote::UsageError("takes the path of a picture to draw, FILE.svg, or nothing");
    if (argc > 1) mote::check_output(argv[1]);
    lesson(argc > 1 ? argv[1] : nullptr);
    if (words) std::printf("Words, explained in examples/words.md: %s.\n", words);
    return all_claims_hold ? 0 : 1;
  });
}
/// The main() of a lesson without a picture.
inline int run_lesson(char** argv, void (*lesson)(), const char* words = nullptr) {
  const auto alone = [argv, lesson](const char*) {
    if (argv[1]) throw mote::UsageError("takes no words");  // argv[1] is null if there are no arguments
    lesson();
  };
  return run_lesson(1, argv, alone, words);
}
