// REFUSES(call): the call ends in an Error, and its text is the one in the file sentences.txt beside the test.
#pragma once

#include <string>

#include "tests/tools.h"

namespace mote::test {

/// A test in `file` has made a call and was told `sentence`. It fails if sentences.txt does not have that sentence for
/// this test and this call. With MOTE_WRITE_SENTENCES=1 the tests of a folder write the file instead.
void check_sentence(const char* file, int line, const std::string& call, const std::string& sentence);

}  // namespace mote::test

/// The statements end in an Error with the sentence that is written down.
#define REFUSES(...) CHECK_SENTENCE_OF(#__VA_ARGS__, mote::test::error_of([&] { __VA_ARGS__; }))
/// The expression is a std::string, a sentence that is written down.
#define CHECK_SENTENCE(...) CHECK_SENTENCE_OF(#__VA_ARGS__, __VA_ARGS__)
#define CHECK_SENTENCE_OF(call, ...) mote::test::check_sentence(__FILE__, __LINE__, call, __VA_ARGS__)
