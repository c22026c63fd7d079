// DType, the type in which a file stores the elements of a tensor, and the conversion of elements to mote's types.
#pragma once

#include <array>
#include <cstddef>
#include <variant>

#include "engine/array/array.h"
#include "engine/array/int_array.h"
#include "engine/array/mask.h"
#include "engine/base/words.h"

namespace mote {

/// The element types of safetensors, in the order of the reference implementation. All are little-endian. mote writes
/// boolean, i64 and f32. The build mote_f64, in which `real` is double, writes f64 instead of f32. readable() says
/// which types mote reads.
enum class DType {
  boolean,
  f4,
  f6_e2m3,
  f6_e3m2,
  u8,
  i8,
  f8_e5m2,
  f8_e4m3,
  f8_e8m0,
  f8_e4m3fnuz,
  f8_e5m2fnuz,
  i16,
  u16,
  f16,
  bf16,
  i32,
  u32,
  f32,
  c64,
  f64,
  i64,
  u64
};
enum class DTypeKind { boolean, integer, floating, other };
/// A type with its name in files, its number of bits per element, and its kind. readable() goes by the kind. A type of
/// kind `other` cannot be read.
struct DTypeWord : Word<DType> {
  Index bits;
  DTypeKind kind;
};
constexpr auto words(DType) {
  using enum DTypeKind;
  return std::to_array<DTypeWord>({
      {{DType::boolean, "BOOL"}, 8, boolean},
      {{DType::f4, "F4"}, 4, other},
      {{DType::f6_e2m3, "F6_E2M3"}, 6, other},
      {{DType::f6_e3m2, "F6_E3M2"}, 6, other},
      {{DType::u8, "U8"}, 8, integer},
      {{DType::i8, "I8"}, 8, integer},
      {{DType::f8_e5m2, "F8_E5M2"}, 8, other},
      {{DType::f8_e4m3, "F8_E4M3"}, 8, other},
      {{DType::f8_e8m0, "F8_E8M0"}, 8, other},
      {{DType::f8_e4m3fnuz, "F8_E4M3FNUZ"}, 8, other},
      {{DType::f8_e5m2fnuz, "F8_E5M2FNUZ"}, 8, other},
      {{DType::i16, "I16"}, 16, integer},
      {{DType::u16, "U16"}, 16, integer},
      {{DType::f16, "F16"}, 16, floating},
      {{DType::bf16, "BF16"}, 16, floating},
      {{DType::i32, "I32"}, 32, integer},
      {{DType::u32, "U32"}, 32, integer},
      {{DType::f32, "F32"}, 32, floating},
      {{DType::c64, "C64"}, 64, other},
      {{DType::f64, "F64"}, 64, floating},
      {{DType::i64, "I64"}, 64, integer},
      {{DType::u64, "U64"}, 64, integer},
  });
}

/// The number of bits of an element.
constexpr Index bits(DType type) { return words(type)[static_cast<std::size_t>(type)].bits; }
constexpr DType real_dtype = sizeof(real) == 4 ? DType::f32 : DType::f64;
/// Whether elements of type `type` can be read as `as`, one of mote's own types. Booleans can be read as boolean, i64
/// and real_dtype. Integers can be read as i64 and real_dtype. Floats of 16 bits or more can be read as real_dtype.
bool readable(DType type, DType as = real_dtype);

/// An Array, an IntArray or a Mask. A file may hold any of the three.
using AnyArray = std::variant<Array, IntArray, Mask>;
/// The type in which mote writes an array: real_dtype, i64 or boolean.
DType dtype_of(const AnyArray& x);
const Shape& shape_of(const AnyArray& x);

namespace detail {
/// Converts the `count` elements of type `type` at the address `from` to To, and writes them to `to`. `from` may be
/// unaligned. `type` must be readable() as To. Returns the position of the first element that has no exact value in To,
/// or that is a boolean other than 0 and 1. Returns `count` if there is no such element. NaN stays NaN, but its bits
/// may change. With `rounded`, an f64 that has no exact value in To becomes the nearest real.
template <class To>  // To is real, Index or std::uint8_t
Index widen(DType type, const std::byte* from, Index count, To* to, bool rounded = false);
}  // namespace detail

}  // namespace mote
