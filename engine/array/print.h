// Arrays as text, exactly as PyTorch prints its tensors, so that output can be compared with a tutorial's: to_text,
// operator<< and print_options. Tensors print through autograd/print.h.
#pragma once

#include <ostream>
#include <string>

#include "engine/array/array.h"
#include "engine/array/int_array.h"
#include "engine/array/mask.h"

namespace mote {

enum class Scientific { automatic, on, off };

/// How to print: the names and defaults of torch.set_printoptions.
struct PrintOptions {
  int precision = 4;       ///< digits after the point, 0 to 100; floats without a fraction print as "1."
  Index threshold = 1000;  ///< arrays with more elements than this print their edges and "..."
  Index edgeitems = 3;     ///< how many they then print at each end of an axis, at least 1
  Index linewidth = 80;    ///< columns per line; a longer row continues on the next line
  Scientific scientific = Scientific::automatic;  ///< PyTorch's sci_mode
  int version = 207;  ///< 100 * major + minor of the PyTorch to print like: since 209 elements are only as wide as
                      ///< what `scientific` prints of them, before as wide as in the automatic form
  std::string suffix = {};  ///< one more remark before ")", without a comma, such as "grad_fn=<AddBackward0>"
};

/// What `str(tensor)` is in PyTorch: "tensor([[1., 2.],\n        [3., 4.]])", lines after the first indented to match.
///
/// All elements of an array share one form. It is chosen from the finite nonzero ones of those shown. If all are whole,
/// it is "1.". Else it has `precision` digits. It is "1.0000e+00" if the largest is above 1e8 or over 1000 times the
/// smallest, or if there are fractions and the smallest is below 1e-4. Integers print plainly, masks True and False.
///
/// Not printed: the type. PyTorch adds ", dtype=torch.float64" for a type other than its default; mote's `real` is its
/// default in either build. The text does not depend on the locale, nor its length, beyond `threshold`, on the size.
/// Errors: a precision or edgeitems out of range.
std::string to_text(const Array& x, const PrintOptions& options = {});
std::string to_text(const IntArray& x, const PrintOptions& options = {});
std::string to_text(const Mask& x, const PrintOptions& options = {});

/// What print_options() and print_precision() return, only to be written to a stream.
class PrintManipulator {
 public:
  PrintManipulator(const PrintOptions& options, bool all) : options_(options), all_(all) {}
  friend std::ostream& operator<<(std::ostream& out, const PrintManipulator& manipulator);

 private:
  PrintOptions options_;
  bool all_;  // else the precision alone
};

/// PyTorch's torch.set_printoptions for one stream, such as std::cout << print_options({.precision = 8, .threshold =
/// 50}): applies to later output until the next; options not named return to their defaults. There is no global
/// setting, so no text depends on what other code set on its own stream; std::ios::copyfmt copies it.
/// Errors: those of to_text, here and not when something is printed; a suffix, which belongs to one array.
PrintManipulator print_options(const PrintOptions& options);
/// Sets only the number of digits after the point: std::cout << print_precision(8) << x. The other options stay.
PrintManipulator print_precision(Integer digits);
/// The options in effect for a stream.
PrintOptions print_options(std::ios_base& stream);

template <ArrayLike A>
std::ostream& operator<<(std::ostream& out, const A& x) {
  return out << (x.defined() ? to_text(x, print_options(out)) : std::string("(undefined)"));
}

}  // namespace mote
