// The page's WebAssembly module. Requests and answers are texts in the module's memory.
#include <cstdlib>
#include <string>

#include "examples/page/session.h"

extern "C" {
/// The answer to a request. The returned text is valid until the next call.
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
