// Answers the page's requests in a native program, without a page. Each line of JSON on standard input is a request,
// and gets one line as its answer. `native FOLDER` saves models in FOLDER.
#include <filesystem>
#include <iostream>
#include <string>

#include "examples/page/session.h"
#include "examples/programs/program.h"

int main(int argc, char** argv) {
  return mote::run_program(argv[0], [&] {
    if (argc != 2) throw mote::UsageError("takes a folder for runs, and requests as lines of JSON on standard input");
    mote::Session session(argv[1]);
    for (std::string line; std::getline(std::cin, line);) std::cout << session.answer(line) << std::endl;
    return 0;
  });
}
