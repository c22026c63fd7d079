// NumPy's .npy files: one array per file, for looking at it in Python, or for bringing one from there.
#pragma once

#include <functional>
#include <string>

#include "engine/io/files/elements.h"

namespace mote {

/// Writes the file that numpy.save writes of the same elements (numpy 1.24 and later), byte for byte: float32
/// (mote_f64: float64), int64, bool; in C order. Whole or not at all (FileWriter of file.h).
void save_npy(const std::string& path, const AnyArray& x);

/// The array in a file of version 1.0, 2.0 or 3.0, in C or Fortran order, row-major afterwards. float16, float32 and
/// float64 become `real`: exactly, but that float64 is rounded to the nearest float where `real` is one, as NumPy's
/// astype does (beyond its range to infinity). int8 to int64 and uint8 to uint64 become 64-bit integers. Bytes may
/// be in either order, and a type may have any mark of it, or none ("<u1", "=f4"). In C order it needs no memory beside
/// the array's.
/// An error is one sentence and opens with the source's name. Types: objects, structures and complex numbers are
/// errors. Values: an integer from 2^63 on, and a boolean that is neither 0 nor 1. Sizes: more than 8 axes, and bytes
/// that are fewer or more than the shape takes. Headers: above 10,000 bytes, and what NumPy does not read. Spaces, the
/// last newline and the order of the three entries are free.
AnyArray load_npy(const ByteSource& source);
AnyArray load_npy(const std::string& path);

/// The same as T: Array, IntArray or Mask. Errors also: the file holds another of the three.
template <class T>
T load_npy(const std::string& path);

namespace detail {
/// The bytes of the file, piece by piece.
void write_npy(const std::function<void(const void* data, std::size_t bytes)>& put, AnyArray x);
}  // namespace detail

}  // namespace mote
