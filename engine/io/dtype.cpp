// Sizes of element types, and their conversion to mote's own.
#include "engine/io/dtype.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace mote {

static_assert(std::endian::native == std::endian::little, "files are little-endian, and are read as they are");

Index bits(DType type) {
  switch (type) {
    case DType::f4:
      return 4;
    case DType::f6_e2m3:
    case DType::f6_e3m2:
      return 6;
    case DType::boolean:
    case DType::u8:
    case DType::i8:
    case DType::f8_e5m2:
    case DType::f8_e4m3:
    case DType::f8_e8m0:
    case DType::f8_e4m3fnuz:
    case DType::f8_e5m2fnuz:
      return 8;
    case DType::i16:
    case DType::u16:
    case DType::f16:
    case DType::bf16:
      return 16;
    case DType::i32:
    case DType::u32:
    case DType::f32:
      return 32;
    case DType::c64:
    case DType::f64:
    case DType::i64:
    case DType::u64:
      return 64;
  }
  return 0;
}

bool readable(DType type) {
  switch (type) {
    case DType::boolean:
    case DType::u8:
    case DType::i8:
    case DType::i16:
    case DType::u16:
    case DType::f16:
    case DType::bf16:
    case DType::i32:
    case DType::u32:
    case DType::f32:
    case DType::f64:
    case DType::i64:
    case DType::u64:
      return true;
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

/// IEEE half precision: 1 sign, 5 exponent (bias 15) and 10 fraction bits. Every one is a float.
float from_half(std::uint16_t h) {
  const std::uint32_t sign = std::uint32_t(h & 0x8000u) << 16, exponent = (h >> 10) & 31u, fraction = h & 0x3FFu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000u | (fraction << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  const float tiny = static_cast<float>(fraction) * 0x1p-24f;  // subnormal: no hidden 1
  return sign != 0 ? -tiny : tiny;
}

/// The upper half of a float.
float from_bfloat(std::uint16_t b) { return std::bit_cast<float>(std::uint32_t(b) << 16); }

template <class Source, class To, class Convert>
Index convert(const std::byte* from, Index count, To* to, const Convert& value_of) {
  for (Index i = 0; i < count; ++i) {
    Source raw;
    std::memcpy(&raw, from + static_cast<std::size_t>(i) * sizeof raw, sizeof raw);  // at any address
    const auto value = value_of(raw);
    using Value = decltype(value);
    if constexpr (std::is_floating_point_v<To> && std::is_floating_point_v<std::remove_const_t<Value>>) {
      to[i] = static_cast<To>(value);
      if (static_cast<double>(to[i]) != static_cast<double>(value) && !std::isnan(value)) return i;
    } else if constexpr (std::is_floating_point_v<To>) {
      to[i] = static_cast<To>(value);
      // A large integer may round up to 2^63 or 2^64, which no longer converts back.
      constexpr double beyond = static_cast<double>(std::numeric_limits<std::remove_const_t<Value>>::max()) + 1.0;
      if (static_cast<double>(to[i]) >= beyond || static_cast<std::remove_const_t<Value>>(to[i]) != value) return i;
    } else {
      if (!std::in_range<To>(value)) return i;
      to[i] = static_cast<To>(value);
    }
  }
  return count;
}

template <class To>
Index widen_integer(DType type, const std::byte* from, Index count, To* to) {
  const auto same = [](auto x) { return x; };
  switch (type) {
    case DType::boolean: {
      const Index n = convert<std::uint8_t>(from, count, to, same);
      for (Index i = 0; i < n; ++i)
        if (to[i] != To(0) && to[i] != To(1)) return i;
      return n;
    }
    case DType::u8:
      return convert<std::uint8_t>(from, count, to, same);
    case DType::i8:
      return convert<std::int8_t>(from, count, to, same);
    case DType::i16:
      return convert<std::int16_t>(from, count, to, same);
    case DType::u16:
      return convert<std::uint16_t>(from, count, to, same);
    case DType::i32:
      return convert<std::int32_t>(from, count, to, same);
    case DType::u32:
      return convert<std::uint32_t>(from, count, to, same);
    case DType::i64:
      return convert<std::int64_t>(from, count, to, same);
    case DType::u64:
      return convert<std::uint64_t>(from, count, to, same);
    default:
      check(false, text_of(type), " elements are not integers");
      return 0;
  }
}

}  // namespace

Index detail::widen(DType type, const std::byte* from, Index count, real* to) {
  const auto same = [](auto x) { return x; };
  switch (type) {
    case DType::f16:
      return convert<std::uint16_t>(from, count, to, from_half);
    case DType::bf16:
      return convert<std::uint16_t>(from, count, to, from_bfloat);
    case DType::f32:
      return convert<float>(from, count, to, same);
    case DType::f64:
      return convert<double>(from, count, to, same);
    default:
      return widen_integer(type, from, count, to);
  }
}

Index detail::widen(DType type, const std::byte* from, Index count, Index* to) {
  return widen_integer(type, from, count, to);
}

Index detail::widen(DType type, const std::byte* from, Index count, std::uint8_t* to) {
  check(type == DType::boolean, text_of(type), " elements are not booleans");
  return widen_integer(type, from, count, to);
}

}  // namespace mote
