// Converts numbers to text and back. Unlike printf and plain streams, these functions do not depend on the locale.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mote {

/// Formats x with `digits` digits after the point: fixed_text(0.05, 4) is "0.0500".
std::string fixed_text(double x, int digits);

/// Formats x with one digit before the point and `digits` after it: scientific_text(0.05, 2) is "5.00e-02".
std::string scientific_text(double x, int digits);

/// Formats x with at most `digits` significant digits and without trailing zeros: general_text(0.05, 4) is "0.05".
std::string general_text(double x, int digits);

/// Formats x with at most 6 significant digits, or with as many more as it takes to read back the same number.
std::string exact_text(double x);

/// Parses a decimal number and returns the nearest double. Returns nullopt if the text is not a number or if the number
/// is out of range.
std::optional<double> number_from_text(std::string_view text);

}  // namespace mote
