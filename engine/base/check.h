// Error and check(). An error message is one sentence that begins with the op and ends with the layer in which the
// error happened.
#pragma once

#include <concepts>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "engine/base/context.h"
#include "engine/base/real.h"

namespace mote {

/// The one exception type of the library. Its message is one sentence that reports a mistake. The type stays visible
/// outside of a shared library that hides its other symbols, so that programs can catch it. Control characters in the
/// message are replaced by printable pictures, so a quoted file name or option cannot move a terminal's cursor. A
/// newline is kept only before an indented line, as in a list of problems.
class [[gnu::visibility("default")]] Error : public std::runtime_error {
 public:
  explicit Error(std::string_view sentence);
};

/// Formats one part of an error message. To support your own type, define text_of in its namespace.
std::string text_of(double x);  ///< at most six significant digits, as std::cout prints x in the C locale
template <std::integral T>
std::string text_of(T n) {
  return std::to_string(n);
}
inline std::string text_of(char c) { return std::string(1, c); }
inline std::string text_of(std::string_view text) { return std::string(text); }
std::string text_of(std::span<const Index> items);  ///< a shape or another list, such as "[2, 3]"

namespace detail {
/// Throws Error("<op>: <message> (in <layer>) at step <n>"). `fallback` replaces the op's name when no op is running.
[[noreturn]] void fail(const char* fallback, std::initializer_list<std::string> message);

template <class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void fail_with(const char* fallback, const Parts&... parts) {
  fail(fallback, {text_of(parts)...});
}
/// Turns a string literal into a pointer. Otherwise fail_with would be instantiated once for every length of literal.
inline const char* decayed(const char* part) { return part; }
const auto& decayed(const auto& part) { return part; }
}  // namespace detail

/// Throws an Error made of `parts` unless `condition` holds. The text is built only on failure.
template <class... Parts>
void check(bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]]
    detail::fail_with(nullptr, detail::decayed(parts)...);
}

/// Like check, for functions called both inside and outside ops. The message begins with `name` when no op is running.
template <class... Parts>
void check_in(const char* name, bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]]
    detail::fail_with(name, detail::decayed(parts)...);
}

}  // namespace mote
