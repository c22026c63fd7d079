// A program that includes an op's header and nothing else: MOTE_CHECK=finite finds its NaN all the same.
#include <exception>
#include <iostream>

#include "engine/ops/arithmetic.h"

int main() {
  try {
    const mote::Tensor zero(mote::real(0));
    const mote::Tensor nan = zero / zero;
    std::cout << "not noticed: " << nan.item() << "\n";
  } catch (const std::exception& e) {
    std::cout << e.what() << "\n";
  }
}
