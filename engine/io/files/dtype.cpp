// Conversion of elements to mote's own types.
#include "engine/io/files/dtype.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace mote {

static_assert(std::endian::native == std::endian::little, "files are little-endian, and are read as they are");

bool readable(DType type, DType as) {
  const DTypeKind kind = words(type)[static_cast<std::size_t>(type)].kind;
  return kind == DTypeKind::boolean || (kind == DTypeKind::integer && as != DType::boolean) ||
         (kind == DTypeKind::floating && as == real_dtype);
}

DType dtype_of(const AnyArray& x) {
  constexpr DType types[] = {real_dtype, DType::i64, DType::boolean};
  return types[x.index()];
}

const Shape& shape_of(const AnyArray& x) {
  return std::visit([](const auto& a) -> const Shape& { return a.shape(); }, x);
}

namespace {

float float_of_bits(std::uint32_t bits) {
  float x = 0;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// IEEE 754 binary16: 1 bit of sign, 5 of exponent, 10 of fraction.
enum class Half : std::uint16_t {};
/// bfloat16: the upper half of a float.
enum class BFloat16 : std::uint16_t {};

template <class T>
T value_of(T x) {
  return x;
}
float value_of(Half x) {  // NaN keeps its fraction bits
  const auto half = static_cast<std::uint32_t>(x);
  const std::uint32_t sign = (half & 0x8000u) << 16, exponent = half >> 10 & 31u, fraction = half & 0x3ffu;
  if (exponent == 0) {  // subnormal: fraction * 2^-24, which is a normal float
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return float_of_bits(sign | (exponent == 31 ? 255u : exponent + 112u) << 23 | fraction << 13);
}
float value_of(BFloat16 x) { return float_of_bits(static_cast<std::uint32_t>(x) << 16); }

template <class To, class Value>
bool holds(To to, Value value) {
  if constexpr (std::is_integral_v<To>) {
    return std::in_range<To>(value);
  } else if constexpr (std::is_floating_point_v<Value>) {
    return static_cast<Value>(to) == value || std::isnan(value);
  } else {  // a large integer may have been rounded up to 2^63 or 2^64, which is above the largest Value
    constexpr To beyond = static_cast<To>(Value(1) << (std::numeric_limits<Value>::digits - 1)) * 2;
    return to < beyond && static_cast<Value>(to) == value;
  }
}

/// Does the same as widen() for elements of type Source.
template <class Source, class To>
Index convert(const std::byte* from, Index count, To* to, bool rounded = false) {
  for (Index i = 0; i < count; ++i) {
    Source source;
    std::memcpy(&source, from + static_cast<std::size_t>(i) * sizeof source, sizeof source);  // `from` may be unaligned
    const auto value = value_of(source);
    to[i] = static_cast<To>(value);
    if constexpr (std::numeric_limits<decltype(value)>::digits > std::numeric_limits<To>::digits)
      if (!rounded && !holds(to[i], value)) return i;
  }
  return count;
}

}  // namespace

template <class To>
Index detail::widen(DType type, const std::byte* from, Index count, To* to, bool rounded) {
  if (type == DType::boolean)
    count = std::find_if(from, from + count, [](std::byte b) { return b > std::byte(1); }) - from;
  if (type == DType::boolean || type == DType::u8) return convert<std::uint8_t>(from, count, to);
  if (type == DType::i8) return convert<std::int8_t>(from, count, to);
  if (type == DType::i16) return convert<std::int16_t>(from, count, to);
  if (type == DType::u16) return convert<std::uint16_t>(from, count, to);
  if (type == DType::i32) return convert<std::int32_t>(from, count, to);
  if (type == DType::u32) return convert<std::uint32_t>(from, count, to);
  if (type == DType::i64) return convert<std::int64_t>(from, count, to);
  if (type == DType::u64) return convert<std::uint64_t>(from, count, to);
  if constexpr (std::is_floating_point_v<To>) {
    if (type == DType::f16) return convert<Half>(from, count, to);
    if (type == DType::bf16) return convert<BFloat16>(from, count, to);
    if (type == DType::f32) return convert<float>(from, count, to);
    if (type == DType::f64) return convert<double>(from, count, to, rounded);
  }
  return 0;  // the type is not readable
}
template Index detail::widen(DType, const std::byte*, Index, real*, bool);
template Index detail::widen(DType, const std::byte*, Index, Index*, bool);
template Index detail::widen(DType, const std::byte*, Index, std::uint8_t*, bool);

}  // namespace mote
