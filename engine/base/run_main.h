// run_main runs the body of main() and prints an exception as one line.
#pragma once

#include <cstdio>
#include <exception>
#include <new>
#include <type_traits>

namespace mote {

/// Runs a program's body and returns its exit code, which is the body's return value, or 0 if the body returns
/// nothing. An exception becomes one line on stderr and exit code 1.
///
///     int main() {
///       return mote::run_main([] { std::cout << matmul(a, b) << "\n"; });
///     }
template <class Body>
int run_main(const Body& body) {
  try {
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      return 0;
    } else {
      return body();
    }
  } catch (const std::bad_alloc&) {
    std::fputs("error: there is not enough memory for these sizes\n", stderr);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
  }
  return 1;
}

}  // namespace mote
