// Numbers as text. Unlike printf and a plain stream, nothing here asks the locale.
#pragma once

#include <string>

namespace mote {

/// x with so many digits after the point: 0.0500.
std::string fixed_text(double x, int digits);

/// x with one digit before the point and so many after it: 5.00e-02.
std::string scientific_text(double x, int digits);

/// x with at most so many digits that count, without zeros at the end: 0.05.
std::string general_text(double x, int digits);

/// x with 6 digits that count, or as many more as it takes to read the very same number back.
std::string exact_text(double x);

}  // namespace mote
