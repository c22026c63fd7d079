// Converts numbers to text and back. Unlike printf and plain streams, these functions do not depend on the locale.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mote {

/// x with `digits` digits after the point: 0.0500.
std::string fixed_text(double x, int digits);

/// x with one digit before the point and `digits` after it: 5.00e-02.
std::string scientific_text(double x, int digits);

/// x with at most `digits` significant digits, without trailing zeros: 0.05.
std::string general_text(double x, int digits);

/// x with 6 significant digits, or as many more as are needed to read back the same number.
std::string exact_text(double x);

/// The double nearest to a decimal text. Returns nullopt if the text is anything else or beyond the range of a double.
std::optional<double> number_from_text(std::string_view text);

}  // namespace mote
