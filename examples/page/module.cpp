// The page's module: requests and answers as texts in the memory of WebAssembly.
#include <cstdlib>
#include <string>

#include "examples/page/session.h"

extern "C" {
/// The answer to a request. It is there until the next call.
__attribute__((used)) const char* mote_answer(const char* request) {
  static mote::Session session("/runs");
  static std::string answer;
  answer = session.answer(request);
  return answer.c_str();
}
}

int main() {
  mote::make_folder("/runs");
  return 0;
}
