// Arrays as text, exactly as PyTorch prints its tensors, so that output can be compared with a tutorial's: to_text,
// operator<< and print_options. Tensors print through autograd/print.h.
#pragma once

#include <ostream>
#include <string>

#include "engine/array/array.h"
#include "engine/array/int_array.h"
#include "engine/array/mask.h"

namespace mote {

/// Whether numbers are printed with exponents, such as 1.0000e-05. automatic: where PyTorch does.
enum class Scientific { automatic, on, off };

/// Options for printing, with the names and defaults of torch.set_printoptions.
struct PrintOptions {
  int precision = 4;       ///< digits after the point, 0 to 100; floats without a fraction print as "1."
  Index threshold = 1000;  ///< arrays with more elements than this print their edges and "..."
  Index edgeitems = 3;     ///< how many elements arrays above `threshold` print at each end of an axis, at least 1
  Index linewidth = 80;    ///< columns per line; a longer row continues on the next line
  Scientific scientific = Scientific::automatic;  ///< PyTorch's sci_mode
  /// The version of PyTorch to imitate, as 100 * major + minor. Before 2.9 (209), `scientific` does not change the
  /// width of the columns, which fits the automatic form.
  int version = 207;
  std::string suffix = {};  ///< one more remark before ")", given without a comma, such as "grad_fn=<AddBackward0>"
};

/// The text of an array as PyTorch's `str(tensor)` gives it, such as "tensor([[1., 2.],\n        [3., 4.]])". Lines
/// after the first are indented to match.
///
/// All elements of an array share one form, which is chosen from the shown elements that are finite and not 0. If all
/// of them are whole numbers, the form is "1.". Otherwise it has `precision` digits after the point. The form is
/// scientific, "1.0000e+00", if the largest magnitude is above 1e8 or over 1000 times the smallest, or if there are
/// fractions and the smallest magnitude is below 1e-4. Integers print plainly, masks as True and False.
///
/// The type is not printed. PyTorch adds ", dtype=torch.float64" only for a type other than its default, and `real`
/// counts as the default in either build. The text does not depend on the locale. An array of more than `threshold`
/// elements prints only its edges, so its text does not grow with the extents. Errors: a precision or edgeitems out of
/// range.
std::string to_text(const Array& x, const PrintOptions& options = {});
std::string to_text(const IntArray& x, const PrintOptions& options = {});
std::string to_text(const Mask& x, const PrintOptions& options = {});

/// The result of print_options() and print_precision(), which is only meant to be written to a stream.
class PrintManipulator {
 public:
  PrintManipulator(const PrintOptions& options, bool all) : options_(options), all_(all) {}
  friend std::ostream& operator<<(std::ostream& out, const PrintManipulator& manipulator);

 private:
  PrintOptions options_;
  bool all_;  // whether to set all options, or only the precision
};

/// Sets the print options of one stream, as torch.set_printoptions does for all output:
///
///     std::cout << print_options({.precision = 8, .threshold = 50});
///
/// The options apply to later output until they are set again. Options that are not named return to their defaults.
/// There is no global setting, so options that other code sets for its own stream have no effect on this stream.
/// std::ios::copyfmt copies the options. Errors: those of to_text, reported by this call and not when printing; a
/// suffix, which belongs to one array.
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
