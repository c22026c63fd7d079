// Sizes of element types, and their conversion to mote's own.
#include "engine/io/files/dtype.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "engine/io/files/half.h"

namespace mote {

static_assert(std::endian::native == std::endian::little, "files are little-endian, and are read as they are");

Index bits(DType type) {
  if (type == DType::f4) return 4;
  if (type == DType::f6_e2m3 || type == DType::f6_e3m2) return 6;
  return type < DType::i16 ? 8 : type < DType::i32 ? 16 : type < DType::c64 ? 32 : 64;
}

bool readable(DType type, DType as) {
  switch (type) {
    case DType::boolean:
      return true;
    case DType::u8:
    case DType::i8:
    case DType::i16:
    case DType::u16:
    case DType::i32:
    case DType::u32:
    case DType::i64:
    case DType::u64:
      return as != DType::boolean;
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64:
      return as == real_dtype;
    default:
      return false;
  }
}

DType dtype_of(const AnyArray& x) {
  constexpr DType types[] = {real_dtype, DType::i64, DType::boolean};
  return types[x.index()];
}

const Shape& shape_of(const AnyArray& x) {
  return std::visit([](const auto& a) -> const Shape& { return a.shape(); }, x);
}

namespace {

template <class To, class Value>
bool holds(To to, Value value) {
  if constexpr (std::is_integral_v<To>) {
    return std::in_range<To>(value);
  } else if constexpr (std::is_floating_point_v<Value>) {
    return static_cast<Value>(to) == value || std::isnan(value);
  } else {  // a large integer may have become 2^63 or 2^64, which is none of its type
    constexpr To beyond = static_cast<To>(Value(1) << (std::numeric_limits<Value>::digits - 1)) * 2;
    return to < beyond && static_cast<Value>(to) == value;
  }
}

/// As widen(), for elements that are a Source each, of which value_of makes a number.
template <class Source, class To, class ValueOf>
Index convert(const std::byte* from, Index count, To* to, const ValueOf& value_of) {
  using Value = decltype(value_of(Source{}));
  for (Index i = 0; i < count; ++i) {
    Source source;
    std::memcpy(&source, from + static_cast<std::size_t>(i) * sizeof source, sizeof source);  // at any address
    const Value value = value_of(source);
    to[i] = static_cast<To>(value);
    if constexpr (std::numeric_limits<Value>::digits > std::numeric_limits<To>::digits)
      if (!holds(to[i], value)) return i;
  }
  return count;
}

template <class Source, class To>
Index convert(const std::byte* from, Index count, To* to) {
  return convert<Source>(from, count, to, [](Source x) { return x; });
}

template <class To>
Index widen_to(DType type, const std::byte* from, Index count, To* to) {
  switch (type) {
    case DType::boolean:
      for (Index i = 0; i < count; ++i)
        if (from[i] > std::byte(1)) return i;
      return convert<std::uint8_t>(from, count, to);
    case DType::u8:
      return convert<std::uint8_t>(from, count, to);
    case DType::i8:
      return convert<std::int8_t>(from, count, to);
    case DType::i16:
      return convert<std::int16_t>(from, count, to);
    case DType::u16:
      return convert<std::uint16_t>(from, count, to);
    case DType::i32:
      return convert<std::int32_t>(from, count, to);
    case DType::u32:
      return convert<std::uint32_t>(from, count, to);
    case DType::i64:
      return convert<std::int64_t>(from, count, to);
    case DType::u64:
      return convert<std::uint64_t>(from, count, to);
    default:
      break;
  }
  if constexpr (std::is_floating_point_v<To>) {
    if (type == DType::f16) return convert<std::uint16_t>(from, count, to, detail::from_half);
    if (type == DType::bf16) return convert<std::uint16_t>(from, count, to, detail::from_bfloat16);
    if (type == DType::f32) return convert<float>(from, count, to);
    if (type == DType::f64) return convert<double>(from, count, to);
  }
  return 0;  // of a type that is not readable
}

}  // namespace

Index detail::widen(DType type, const std::byte* from, Index count, real* to) {
  return widen_to(type, from, count, to);
}
Index detail::widen(DType type, const std::byte* from, Index count, Index* to) {
  return widen_to(type, from, count, to);
}
Index detail::widen(DType type, const std::byte* from, Index count, std::uint8_t* to) {
  return type == DType::boolean ? widen_to(type, from, count, to) : 0;
}

}  // namespace mote
