// The first bytes of a .npy file: magic, version, and a Python dictionary with type, order and shape.
#pragma once

#include <cstddef>
#include <string>

#include "engine/io/files/elements.h"

namespace mote::detail {

struct NpyHeader {
  DType type = DType::f32;
  bool fortran_order = false;
  Shape shape;
  std::size_t data = 0;  ///< where the elements begin
};

/// The elements are known to fill the rest of the file. Errors: see load_npy.
NpyHeader read_npy_header(const ByteSource& source);

/// The header as numpy.save writes it: version 1.0, C order, padded so that the elements begin at a multiple of 64.
std::string npy_header_text(DType type, const Shape& shape);

}  // namespace mote::detail
