// Flag, Integer, Real and Fraction: parameter types of public functions that accept only arguments of one kind.
#pragma once

#include <concepts>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <type_traits>

#include "engine/base/check.h"
#include "engine/base/real.h"

// C++ converts between bool, int and double silently, so sum(x, true) would sum over axis 1. These types make such a
// call a compile error. A function takes such a parameter by value and uses it as the plain type to which it converts.
namespace mote {

namespace detail {
template <class T, class... Others>
concept OneOf = (std::same_as<T, Others> || ...);
/// Character types, which do not count as numbers. signed char and unsigned char count as integers of 8 bits.
template <class T>
concept Letter = OneOf<T, char, wchar_t, char8_t, char16_t, char32_t>;
template <class T>
concept Whole = std::integral<T> && !std::same_as<T, bool> && !Letter<T>;
template <class T>
concept NoWhole = OneOf<T, bool> || Letter<T>;
/// An integer as an Index. An unsigned one above the largest Index would become negative, as v.size() - 1 of an empty
/// vector would. Errors: such an integer.
template <Whole T>
constexpr Index index_of(T n) {
  if constexpr (std::is_unsigned_v<T> && sizeof(T) >= sizeof(Index))
    if (n > static_cast<T>(std::numeric_limits<Index>::max()))
      check_in("integer", false, n, " is above 2^63 - 1, as v.size() - 1 is for an empty v");
  return static_cast<Index>(n);
}
}  // namespace detail

/// A parameter that is true or false. Only a bool converts to a Flag.
class Flag {
 public:
  template <std::same_as<bool> B>
  constexpr Flag(B on) : on_(on) {}
  template <class T>
  requires(std::is_arithmetic_v<T> && !std::same_as<T, bool>)
      __attribute__((unavailable("a flag is true or false, no number: several axes stand in braces, mean(x, {0, 1})")))
      Flag(T number);
  constexpr operator bool() const { return on_; }

 private:
  bool on_;
};

/// A parameter that is an axis, a position, a size or a count. Integers of any width convert to an Integer. Errors: an
/// unsigned integer above 2^63 - 1.
class Integer {
 public:
  template <detail::Whole T>
  constexpr Integer(T n) : n_(detail::index_of(n)) {}
  template <detail::NoWhole T>
  __attribute__((unavailable("an integer stands here, no bool or letter: flags follow it, as in sum(x, 1, true)")))
  Integer(T no_number);
  template <std::floating_point T>
  __attribute__((unavailable("an integer stands here, not a fraction: write 1, not 1.0"))) Integer(T fraction);
  constexpr operator Index() const { return n_; }
  friend std::string text_of(Integer n) { return text_of(n.n_); }

 private:
  Index n_;
};

namespace detail {
/// Converts a brace list of Integers to a span of Index. No copy is needed, because an Integer holds only an Index.
inline std::span<const Index> plain(std::initializer_list<Integer> list) {
  static_assert(sizeof(Integer) == sizeof(Index) && std::is_standard_layout_v<Integer>);
  return {reinterpret_cast<const Index*>(list.begin()), list.size()};
}
}  // namespace detail

/// A parameter that is a number, whole or not, such as a probability, a factor or a bound.
class Real {
 public:
  template <class T>
  requires(detail::Whole<T> || std::floating_point<T>) constexpr Real(T x) : x_(static_cast<double>(x)) {}
  constexpr Real(Integer n) : x_(static_cast<double>(Index(n))) {}
  template <detail::NoWhole T>
  __attribute__((unavailable("a number stands here, no bool: flags follow it, as in var(x, axes, correction, true)")))
  Real(T no_number);
  constexpr operator double() const { return x_; }
  friend std::string text_of(Real x) { return text_of(x.x_); }

 private:
  double x_;
};

/// A parameter that is hardly ever a whole number, such as eps. An integer is a compile error, because a size or a
/// count in its place is a mistake.
class Fraction {
 public:
  template <std::floating_point T>
  constexpr Fraction(T x) : x_(static_cast<double>(x)) {}
  template <std::integral T>
  __attribute__((unavailable("an eps stands here, not an integer or a bool: write LayerNorm(4, 1e-5, true)")))
  Fraction(T no_fraction);
  constexpr operator double() const { return x_; }
  friend std::string text_of(Fraction x) { return text_of(x.x_); }

 private:
  double x_;
};

}  // namespace mote
