// Error and check(): one sentence that opens with the op and ends with the layer it happened in.
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

/// The one exception type of the library: reports a mistake in one sentence. It is visible outside of a shared library
/// that hides its other symbols. A control character in the sentence becomes a picture. So no file or option that is
/// quoted moves a terminal's cursor. A line may end where an indented line follows, as in a list of problems.
class [[gnu::visibility("default")]] Error : public std::runtime_error {
 public:
  explicit Error(std::string_view sentence);
};

// How the parts of a sentence are formatted. To support your own type, define text_of in its namespace.
std::string text_of(double x);  ///< six digits at most, as std::cout prints it in the C locale
template <std::integral T>
std::string text_of(T n) {
  return std::to_string(n);
}
inline std::string text_of(char c) { return std::string(1, c); }
inline std::string text_of(std::string_view text) { return std::string(text); }
std::string text_of(std::span<const Index> items);  ///< a shape or another list: "[2, 3]"

namespace detail {
/// Throws Error("<op>: <message> (in <layer>) at step <n>"); `fallback` is the name used when no op is open.
[[noreturn]] void fail(const char* fallback, std::initializer_list<std::string> message);

template <class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void fail_with(const char* fallback, const Parts&... parts) {
  fail(fallback, {text_of(parts)...});
}
/// A literal as a pointer: or there would be a fail_with for every length.
inline const char* decayed(const char* part) { return part; }
const auto& decayed(const auto& part) { return part; }
}  // namespace detail

/// Throws an Error made of `parts` unless `condition` holds. The text is built only on failure.
template <class... Parts>
void check(bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]]
    detail::fail_with(nullptr, detail::decayed(parts)...);
}

/// The same for functions called both inside and outside ops: `name` opens the sentence when no op is open.
template <class... Parts>
void check_in(const char* name, bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]]
    detail::fail_with(name, detail::decayed(parts)...);
}

}  // namespace mote
