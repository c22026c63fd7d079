// Flag, Integer, Real and Fraction: numbers and switches of public signatures, each of its own kind alone.
#pragma once

#include <concepts>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>

#include "engine/base/check.h"
#include "engine/base/real.h"

// In C++ a bool, an int and a double turn into each other without a word: sum(x, true) would sum over axis 1. These
// types stop that in the compiler. A function takes one by value and uses it as the plain type that it converts to.
namespace mote {

namespace detail {
template <class T, class... Others>
concept OneOf = (std::same_as<T, Others> || ...);
/// A letter is no number. signed char and unsigned char are numbers of 8 bits.
template <class T>
concept Letter = OneOf<T, char, wchar_t, char8_t, char16_t, char32_t>;
template <class T>
concept Whole = std::integral<T> && !std::same_as<T, bool> && !Letter<T>;
template <class T>
concept NoWhole = OneOf<T, bool> || Letter<T>;
}  // namespace detail

/// true or false, of a bool alone.
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

/// An axis, a position, a size or a count: of an integer of any width.
class Integer {
 public:
  template <detail::Whole T>
  constexpr Integer(T n) : n_(static_cast<Index>(n)) {}
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
/// The plain numbers of a brace list, in place: an Integer holds an Index and nothing else.
inline std::span<const Index> plain(std::initializer_list<Integer> list) {
  static_assert(sizeof(Integer) == sizeof(Index) && std::is_standard_layout_v<Integer>);
  return {reinterpret_cast<const Index*>(list.begin()), list.size()};
}
}  // namespace detail

/// A number with or without a fraction: a probability, a factor, a bound.
class Real {
 public:
  template <class T>
  requires(detail::Whole<T> || std::floating_point<T>) constexpr Real(T x) : x_(static_cast<double>(x)) {}
  template <detail::NoWhole T>
  __attribute__((unavailable("a number stands here, no bool: flags follow it, as in var(x, axes, correction, true)")))
  Real(T no_number);
  constexpr operator double() const { return x_; }
  friend std::string text_of(Real x) { return text_of(x.x_); }

 private:
  double x_;
};

/// A number that is hardly ever whole, such as an eps: a size or a count in its place is a mistake.
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
