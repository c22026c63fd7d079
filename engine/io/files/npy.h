// NumPy's .npy files, one array per file, to exchange arrays with Python.
#pragma once

#include <functional>
#include <string>

#include "engine/io/files/elements.h"

namespace mote {

/// Writes the same file, byte for byte, that numpy.save (numpy 1.24 and later) writes for the same elements. The
/// elements are float32 (float64 in the build mote_f64), int64 or bool, in C order. The file is written whole or not at
/// all (FileWriter of file.h).
void save_npy(const std::string& path, const AnyArray& x);

/// Reads the array in a .npy file of version 1.0, 2.0 or 3.0. The file may be in C or Fortran order, and the array is
/// row-major. float16, float32 and float64 become `real`. This is exact, except that a build over float rounds
/// float64 to the nearest float, as NumPy's astype does (beyond the range to infinity). int8 to int64 and uint8 to
/// uint64 become 64-bit integers. Both byte orders are read. A type may have any byte-order character, or none ("<u1",
/// "=f4"). Reading C order needs no other large memory than the array.
/// Errors, each of which begins with the source's name: elements that are objects, structures or complex numbers; an
/// integer of 2^63 or more; a boolean that is neither 0 nor 1; more than 8 axes; more or fewer bytes than the shape
/// takes; a header of more than 10,000 bytes, or one that NumPy does not read. The header's spaces, its last newline
/// and the order of its three entries do not matter.
AnyArray load_npy(const ByteSource& source);
AnyArray load_npy(const std::string& path);

/// Reads the array as a T, which is Array, IntArray or Mask. Errors: those of load_npy() without T; the file holds
/// elements of another of the three types.
template <class T>
T load_npy(const std::string& path);

namespace detail {
/// Passes the bytes of the .npy file of x to `put`, piece by piece.
void write_npy(const std::function<void(const void* data, std::size_t bytes)>& put, AnyArray x);
}  // namespace detail

}  // namespace mote
