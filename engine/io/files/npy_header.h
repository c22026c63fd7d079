// The first bytes of a .npy file: magic, version, and a Python dictionary with type, order and shape.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/shape.h"
#include "engine/io/text/words.h"

namespace mote::detail {

enum class NpyType { f2, f4, f8, i1, i2, i4, i8, u1, u2, u4, b1 };
constexpr auto words(NpyType) {
  return std::to_array<Word<NpyType>>({{NpyType::f2, "<f2"},
                                       {NpyType::f4, "<f4"},
                                       {NpyType::f8, "<f8"},
                                       {NpyType::i1, "|i1"},
                                       {NpyType::i2, "<i2"},
                                       {NpyType::i4, "<i4"},
                                       {NpyType::i8, "<i8"},
                                       {NpyType::u1, "|u1"},
                                       {NpyType::u2, "<u2"},
                                       {NpyType::u4, "<u4"},
                                       {NpyType::b1, "|b1"}});
}
/// Bytes per element.
std::size_t size_of(NpyType type);

struct NpyHeader {
  NpyType type = NpyType::f4;
  bool fortran_order = false;
  Shape shape;
  std::size_t data = 0;  ///< where the elements begin
};

/// Bytes that a header takes at most: NumPy's own limit for reading, and what stands before it.
constexpr std::size_t npy_header_limit = 10'000, npy_header_bytes = npy_header_limit + 12;

/// The header of a file of `size` bytes that begins with `bytes`, of which npy_header_bytes are enough. The elements
/// are known to fill the rest of the file. Errors: see parse_npy.
NpyHeader parse_npy_header(std::string_view bytes, std::uint64_t size, std::string_view what);

/// The header as numpy.save writes it: version 1.0, C order, padded so that the elements begin at a multiple of 64.
std::string npy_header_text(NpyType type, const Shape& shape);

}  // namespace mote::detail
