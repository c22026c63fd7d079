// Arrays as text, exactly as PyTorch prints its tensors, so that a tutorial's printed numbers can be compared;
// operator<< for all that has a shape, and print_options, which says how.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "engine/array/int_array.h"
#include "engine/array/mask.h"
#include "engine/autograd/parameter.h"

namespace mote {

enum class Scientific { automatic, on, off };

/// How to print: the names and defaults of torch.set_printoptions.
struct PrintOptions {
  int precision = 4;       ///< digits after the point, 0 to 100; floats without a fraction print as "1."
  Index threshold = 1000;  ///< arrays with more elements than this print their edges and "..."
  Index edgeitems = 3;     ///< how many at each end of an axis then, 1 or more
  Index linewidth = 80;    ///< columns a line may take; a row of numbers that is longer goes on in the next line
  Scientific scientific = Scientific::automatic;  ///< PyTorch's sci_mode
  std::string suffix = {};  ///< one more remark before ")", without a comma, such as "grad_fn=<AddBackward0>"
};

/// What `str(tensor)` is in PyTorch: "tensor([[1., 2.],\n        [3., 4.]])", lines after the first indented to match.
/// `data` holds shape.numel() numbers, row-major without gaps; it is not read when there are none.
///
/// All numbers of an array share one form, chosen from the finite ones that are not zero (of those shown): all whole,
/// "1."; else `precision` digits; and "1.0000e+00" for all if the largest is above 1e8 or over 1000 times the smallest,
/// or if there are fractions and the smallest is below 1e-4. Integers print plainly, the third form True and False.
///
/// Not printed: the type. PyTorch adds ", dtype=torch.float64" to what is not its default; mote's `real` is its default
/// in either build. The text does not depend on the locale, nor its length, beyond `threshold`, on the array's size.
/// Errors: a precision or edgeitems out of range.
std::string to_text(const real* data, const Shape& shape, const PrintOptions& options = {});
std::string to_text(const std::int64_t* data, const Shape& shape, const PrintOptions& options = {});
std::string to_text(const std::uint8_t* booleans, const Shape& shape, const PrintOptions& options = {});

/// The same for what has a shape of its own. A Tensor adds where it came from, "grad_fn=<mul>" after the op's name in
/// mote, or "requires_grad=True" for a leaf.
inline std::string to_text(const Array& x, const PrintOptions& options = {}) {
  return to_text(x.contiguous().data(), x.shape(), options);
}
inline std::string to_text(const IntArray& x, const PrintOptions& options = {}) {
  return to_text(x.contiguous().data(), x.shape(), options);
}
inline std::string to_text(const Mask& x, const PrintOptions& options = {}) {
  return to_text(x.contiguous().data(), x.shape(), options);
}
std::string to_text(const Tensor& x, PrintOptions options = {});

/// What print_options() and print_precision() return, to be written to a stream and nothing else.
class PrintManipulator {
 public:
  PrintManipulator(const PrintOptions& options, bool all) : options_(options), all_(all) {}
  friend std::ostream& operator<<(std::ostream& out, const PrintManipulator& manipulator);

 private:
  PrintOptions options_;
  bool all_;  // else the precision alone
};

/// PyTorch's torch.set_printoptions for one stream, such as std::cout << print_options({.precision = 8, .threshold =
/// 50}): what comes after it is printed so, until the next; what is not named has its default again. A program has no
/// such setting, so that no text depends on what other code asked of its own stream; std::ios::copyfmt copies it.
/// Errors: those of to_text, here and not when something is printed; a suffix, which is a remark on one array.
PrintManipulator print_options(const PrintOptions& options);
/// The same for the digits after the point alone: std::cout << print_precision(8) << x. All else stays.
PrintManipulator print_precision(int digits);
/// What is in force for a stream.
PrintOptions print_options(std::ios_base& stream);

inline std::ostream& operator<<(std::ostream& out, const Array& x) {
  return out << (x.defined() ? to_text(x, print_options(out)) : std::string("(undefined)"));
}
inline std::ostream& operator<<(std::ostream& out, const Tensor& x) {
  return out << (x.defined() ? to_text(x, print_options(out)) : std::string("(undefined)"));
}
/// As PyTorch prints a parameter: "Parameter containing:" and the tensor.
inline std::ostream& operator<<(std::ostream& out, const Parameter& p) {
  return out << (p.defined() ? "Parameter containing:\n" : "") << Tensor(p);
}
inline std::ostream& operator<<(std::ostream& out, const IntArray& x) {
  return out << (x.defined() ? to_text(x, print_options(out)) : std::string("(undefined)"));
}
inline std::ostream& operator<<(std::ostream& out, const Mask& x) {
  return out << (x.defined() ? to_text(x, print_options(out)) : std::string("(undefined)"));
}

}  // namespace mote
