// PyTorch's rules for printing a tensor: one form for all elements, aligned columns, edges, suffixes.
#include "engine/array/print.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/number_text.h"

namespace mote {
namespace {

/// The one form in which all elements of an array are printed. The initial form is that of an array of zeros: "0.".
struct Form {
  int precision = 4;
  bool scientific = false;
  bool whole = true;      // no fractions: "1." instead of "1.0000"
  std::size_t width = 1;  // shorter texts are padded with leading spaces
};

std::string element_text(double x, const Form& form) {
  if (!std::isfinite(x)) return general_text(x, 1);
  if (form.scientific) return scientific_text(x, form.precision);
  return form.whole ? fixed_text(x, 0) + "." : fixed_text(x, form.precision);
}

std::string element_text(std::int64_t x, const Form&) { return std::to_string(x); }
std::string element_text(std::uint8_t x, const Form&) { return x != 0 ? "True" : "False"; }

template <class T>
Form choose_form(std::vector<T> shown, const PrintOptions& options) {
  Form form{.precision = options.precision};
  if constexpr (std::is_floating_point_v<T>) {
    std::erase_if(shown, [](T x) { return x == 0 || !std::isfinite(x); });  // 0, inf and NaN do not affect the form
    if (shown.empty()) return form;
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (const T x : shown) {
      least = std::min<double>(least, std::abs(x));
      most = std::max<double>(most, std::abs(x));
      form.whole = form.whole && x == std::ceil(x);
    }
    form.scientific = most / least > 1000 || most > 1e8 || (!form.whole && least < 1e-4);
  }
  const auto widen = [&] {
    for (const T x : shown) form.width = std::max(form.width, element_text(x, form).size());
  };
  const bool chosen = options.scientific != Scientific::automatic;
  const bool its_own_width = options.version < 209;  // before PyTorch 2.9, sci_mode did not change the column width
  if (its_own_width || !chosen) widen();
  if (chosen) form.scientific = options.scientific == Scientific::on;
  if (!its_own_width && chosen) widen();
  return form;
}

/// Formats one array.
template <ArrayLike A>
class Printer {
  using T = typename A::Element;

 public:
  Printer(const A& x, const PrintOptions& options)
      : x_(x), options_(options), summarize_(x.numel() > options.threshold) {}

  std::string text() {
    std::vector<T> shown;
    collect(0, x_.data(), shown);
    form_ = choose_form(std::move(shown), options_);
    return brackets(0, x_.data(), std::string_view("tensor(").size());
  }

 private:
  /// Calls item(i) for each shown position of an axis, and dots() once in place of the omitted positions.
  template <class Item, class Dots>
  void each_shown(Index extent, const Item& item, const Dots& dots) const {
    const bool cut = summarize_ && extent - options_.edgeitems > options_.edgeitems;
    for (Index i = 0; i < (cut ? options_.edgeitems : extent); ++i) item(i);
    if (!cut) return;
    dots();
    for (Index i = extent - options_.edgeitems; i < extent; ++i) item(i);
  }

  void collect(int axis, const T* at, std::vector<T>& shown) const {
    if (axis == x_.rank()) return shown.push_back(*at);
    const Index step = x_.stride(axis);
    each_shown(
        x_.shape()[axis], [&](Index i) { collect(axis + 1, at + i * step, shown); }, [] {});
  }

  std::string number(T x) const {
    const std::string text = element_text(x, form_);
    return std::string(form_.width - std::min(form_.width, text.size()), ' ') + text;
  }

  /// Returns the text of the part of the array that begins at `at` and spans the axes from `axis` on. The text begins
  /// in column `indent`.
  std::string brackets(int axis, const T* at, std::size_t indent) const {
    if (axis == x_.rank()) return number(*at);
    if (axis == x_.rank() - 1) return row(at, indent);
    const Index step = x_.stride(axis);
    std::string between = ",";
    between.append(static_cast<std::size_t>(x_.rank() - 1 - axis), '\n').append(indent + 1, ' ');
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "[" : between) + part; };
    each_shown(
        x_.shape()[axis], [&](Index i) { add(brackets(axis + 1, at + i * step, indent + 1)); }, [&] { add("..."); });
    return text + "]";
  }

  std::string row(const T* at, std::size_t indent) const {
    const Index room = options_.linewidth - static_cast<Index>(indent);
    const Index per_line = std::max<Index>(1, room / static_cast<Index>(form_.width + 2));
    std::string text = "[";
    Index count = 0;
    const auto add = [&](const std::string& part) {
      if (count > 0) text += count % per_line == 0 ? std::string(",\n").append(indent + 1, ' ') : ", ";
      text += part;
      ++count;
    };
    const Index step = x_.stride(-1);
    each_shown(
        x_.shape()[-1], [&](Index i) { add(number(at[i * step])); }, [&] { add(" ..."); });
    return text + "]";
  }

  const A& x_;
  const PrintOptions& options_;
  bool summarize_;
  Form form_;
};

void check_options(const char* name, const PrintOptions& options) {
  check_in(name, options.precision >= 0 && options.precision <= 100, "precision ", options.precision,
           " is outside [0, 100]");
  check_in(name, options.edgeitems >= 1, "edgeitems ", options.edgeitems, " must be at least 1");
}

template <ArrayLike A>
std::string print(const A& x, const PrintOptions& options) {
  using T = typename A::Element;
  check_options("to_text", options);
  std::vector<std::string> remarks;
  std::string text = "tensor(";
  if (x.numel() > 0) {
    text += Printer(x, options).text();
  } else {
    text += "[]";
    const std::string extents = text_of(x.shape());  // "[0, 3]", which Python writes "(0, 3)"
    if (x.rank() != 1) remarks.push_back("size=(" + extents.substr(1, extents.size() - 2) + ")");
    if constexpr (!std::is_floating_point_v<T>)  // elements would show the type
      remarks.push_back(std::is_same_v<T, std::int64_t> ? "dtype=torch.int64" : "dtype=torch.bool");
  }
  if (!options.suffix.empty()) remarks.push_back(options.suffix);
  const std::size_t newline = text.rfind('\n');
  std::size_t last_line = newline == std::string::npos ? text.size() + 2 : text.size() - newline + 1;
  for (const std::string& remark : remarks) {  // on a new line if the last one would grow longer than linewidth
    const bool fits = static_cast<Index>(last_line + remark.size() + 2) <= options.linewidth;
    text += (fits ? ", " : ",\n       ") + remark;
    last_line = remark.size() + (fits ? last_line + 2 : 7);
  }
  return text + ")";
}

/// The options that a stream keeps, as numbers.
using Numbers = std::array<Index, 6>;
Numbers numbers(const PrintOptions& o) {
  return {o.precision, o.threshold, o.edgeitems, o.linewidth, static_cast<Index>(o.scientific), o.version};
}

/// The integer (iword) of a stream that keeps an option. It keeps the difference from the option's default, because the
/// integers of a new stream are 0.
long& difference(std::ios_base& stream, std::size_t option) {
  static const std::array<int, 6> place{std::ios_base::xalloc(), std::ios_base::xalloc(), std::ios_base::xalloc(),
                                        std::ios_base::xalloc(), std::ios_base::xalloc(), std::ios_base::xalloc()};
  return stream.iword(place[option]);
}

}  // namespace

std::string to_text(const Array& x, const PrintOptions& options) { return print(x, options); }
std::string to_text(const IntArray& x, const PrintOptions& options) { return print(x, options); }
std::string to_text(const Mask& x, const PrintOptions& options) { return print(x, options); }

PrintManipulator print_options(const PrintOptions& options) {
  check_options("print_options", options);
  check_in("print_options", options.suffix.empty(), "the suffix '", options.suffix,
           "' is a remark on one array; pass it to to_text");
  return {options, true};
}

PrintManipulator print_precision(Integer digits) {
  const PrintOptions options{.precision = static_cast<int>(std::clamp<Index>(digits, -1, 1000))};
  check_options("print_precision", options);
  return {options, false};
}

std::ostream& operator<<(std::ostream& out, const PrintManipulator& manipulator) {
  const Numbers now = numbers(manipulator.options_), plain = numbers({});
  for (std::size_t i = 0; i < (manipulator.all_ ? now.size() : 1); ++i)  // the first is the precision
    difference(out, i) = static_cast<long>(std::min<Index>(now[i] - plain[i], std::numeric_limits<long>::max()));
  return out;
}

PrintOptions print_options(std::ios_base& stream) {
  Numbers n = numbers({});
  for (std::size_t i = 0; i < n.size(); ++i) n[i] += difference(stream, i);
  return {.precision = static_cast<int>(n[0]),
          .threshold = n[1],
          .edgeitems = n[2],
          .linewidth = n[3],
          .scientific = static_cast<Scientific>(n[4]),
          .version = static_cast<int>(n[5])};
}

}  // namespace mote
